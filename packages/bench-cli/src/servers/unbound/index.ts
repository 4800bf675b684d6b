/** Unbound, where it is installed: a resolver that answers from `local-data` alone, one thread per vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import type { VersionQuestion } from '../../provision/tool-version.ts';
import { installedServer } from '../installed.ts';
import { encryptionOf, type ServerKind } from '../server.ts';

/** `Version 1.17.1` */
const VERSION: VersionQuestion = { arguments: ['-V'], pattern: /^Version (\d[\w.]*)/m };

const definition = installedServer({
  executable: 'unbound',
  packages: 'unbound',
  question: VERSION,
  transports: ['udp', 'tcp', 'tls', 'https'],
  plan(request, workers) {
    const { zoneSet, directory, address, port, program } = request;
    const options = { directory, address, port, workers, ...encryptionOf(request) };
    return {
      files: [...findFormat('unbound').render(zoneSet, options)],
      // -d: stay in the foreground; the threads are the same.
      command: [...program, '-d', '-c', `${directory}/unbound.conf`],
    };
  },
});

export const unbound: ServerKind = {
  name: 'unbound',
  title: 'Unbound',
  description: 'Unbound with `local-data`, no recursion, one thread for each vCPU (if installed)',
  definition,
};
