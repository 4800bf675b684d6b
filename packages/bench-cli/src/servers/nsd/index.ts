/** NSD, where it is installed: an authoritative server in C, one server process per vCPU. */
import { installedServer } from '../installed.ts';
import { ownImage } from '../own-image.ts';
import type { ServerKind } from '../server.ts';

export const nsd: ServerKind = {
  name: 'nsd',
  title: 'NSD',
  description: 'NSD with zone files, one server process for each vCPU (if installed)',
  definition: installedServer({
    executable: 'nsd',
    packages: 'nsd',
    // `NSD version 4.6.1, on standard error`
    question: { arguments: ['-v'], pattern: /NSD version (\d[\w.]*)/ },
    image: ownImage('nsd', 'docker build -t IMAGE k8s/images/nsd'),
    transports: ['udp', 'tcp', 'tls'],
    readsZoneFiles: true,
    format: 'nsd',
    // -d: stay in the foreground.
    arguments: (directory) => ['-d', '-c', `${directory}/nsd.conf`],
  }),
};
