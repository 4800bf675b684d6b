/** What `--help` says after the flags. */
export const EXIT_STATUS_HELP = `
Examples:
  dnscannon -d 10 127.0.0.1:5300 example1.com           as fast as 100 outstanding queries allow
  dnscannon -R 20k --fail-if 'p99>5ms' 127.0.0.1:5300   20,000 queries a second, whatever happens
  dnscannon --find-max -w 2 192.0.2.1 --queries q.txt   the highest rate without loss

Exit status:
  0    done
  1    a bug in this program
  2    the command line, an option or a query file is not valid; nothing was sent
  3    the machine lacks something: a right, descriptors, a file; nothing was sent
  4    the server cannot be found or reached, or did not answer once
  5    a threshold of --fail-if was crossed
  7    the output cannot be written
  130  stopped by Ctrl-C, 143 by SIGTERM; the result so far is printed`;
