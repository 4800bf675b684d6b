/** BIND 9, where it is installed: the reference implementation, one worker thread per vCPU. */
import { installedServer } from '../installed.ts';
import type { ServerKind } from '../server.ts';

/** Until its configuration is read, BIND can log only to a file or to syslog. */
const EARLY_LOG = 'named.log';

export const bind: ServerKind = {
  name: 'bind',
  title: 'BIND',
  description: 'BIND 9 with zone files, one worker thread for each vCPU (if installed)',
  definition: installedServer({
    executable: 'named',
    packages: { 'apt-get': 'bind9', dnf: 'bind', apk: 'bind' },
    // `BIND 9.18.49-1~deb12u3-Debian (Extended Support Version) <id:>`
    question: { arguments: ['-v'], pattern: /^BIND (\d+(?:\.\d+)*)/m },
    // Not https: 9.18 cancels all streams of a connection on which some dozens of queries arrive at once.
    transports: ['udp', 'tcp', 'tls'],
    format: 'bind',
    // -f: stay in the foreground. -g would log every query that it refuses.
    arguments: (directory, workers) => [
      ...['-f', '-L', `${directory}/${EARLY_LOG}`, '-n', String(workers)],
      ...['-c', `${directory}/named.conf`],
    ],
    logFile: EARLY_LOG,
  }),
};
