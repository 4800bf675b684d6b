/** Knot DNS, where it is installed: an authoritative server in C, one UDP worker per vCPU. */
import { installedServer } from '../installed.ts';
import { ownImage } from '../own-image.ts';
import type { ServerKind } from '../server.ts';

export const knot: ServerKind = {
  name: 'knot',
  title: 'Knot DNS',
  description: 'Knot DNS with zone files, one UDP worker for each vCPU (if installed)',
  definition: installedServer({
    executable: 'knotd',
    packages: 'knot',
    // `knotd (Knot DNS), version 3.2.6`
    question: { arguments: ['--version'], pattern: /version (\d[\w.]*)/ },
    image: ownImage('knot', 'docker build -t IMAGE k8s/images/knot'),
    // Over TLS only from 3.4 on, which no stable release of Debian had when this was written.
    transports: ['udp', 'tcp'],
    readsZoneFiles: true,
    format: 'knot',
    arguments: (directory) => ['-c', `${directory}/knot.conf`],
  }),
};
