/** Descriptors made by system calls, which Node.js closes like its own. */
import { closeSync, openSync } from 'node:fs';
import { systemError } from '../errors.ts';
import { constants } from './layout.ts';
import type { Libc } from './libc.ts';

/**
 * Moves what `make` opens to a descriptor that Node.js tracks: `fs` opened it, so Node.js closes it when a worker thread
 * is terminated. Any other would stay open for the life of the process; a socket would stay bound, and swallow its share of
 * the port's datagrams.
 *
 * @throws UdpError with the errno's name; nothing is left open.
 */
export function openTracked(libc: Libc, syscall: string, subject: string, make: () => number): number {
  const fd = openSync('/dev/null', 'r');
  const made = make();
  const isMoved = made >= 0 && libc.dup3(made, fd, constants.O_CLOEXEC) >= 0;
  const failed = isMoved ? undefined : libc.errnoName(libc.errno());
  if (made >= 0) libc.close(made);
  if (failed === undefined) return fd;
  closeSync(fd);
  throw systemError(syscall, failed, subject);
}
