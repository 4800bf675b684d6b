/** The part of `--help` after the flags. */
import { exitStatusHelp } from '@dinodns-bench/program';

const EXIT_STATUSES = exitStatusHelp([
  'success',
  'internal',
  'usage',
  'environment',
  'server',
  'output',
  'threshold',
  'interrupted',
  'terminated',
]);

export const HELP_AFTER_FLAGS = `
Examples:
  dnscannon -d 10 127.0.0.1:5300 example1.com
      as fast as 100 outstanding queries allow
  dnscannon -R 20k --fail-if 'p99>5ms' 127.0.0.1:5300
      20,000 queries a second, whatever happens
  dnscannon --find-max -w 2 192.0.2.1 --queries q.txt
      the highest rate without loss
${EXIT_STATUSES}
After 2 and 3, nothing was sent. After Ctrl-C and SIGTERM, the result so far is
printed.`;
