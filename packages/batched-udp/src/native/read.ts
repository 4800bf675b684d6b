/** recvmmsg(2) until it brings datagrams, or the socket is empty. */
import { systemError, type UdpError } from '../errors.ts';
import { constants } from './layout.ts';
import type { Libc } from './libc.ts';
import type { ReceiveArena } from './receive-arena.ts';
import type { Tally } from './transmit.ts';

/** Returns how many datagrams it has read into the arena, without waiting; 0: there are none now. */
export type Read = () => number;

/** Errors that one call ignores before it gives up until the next wake-up. */
const errorsPerRead = 8;

/**
 * What recvmmsg can fail with on a UDP socket (recv(2), udp(7), and what ICMP says of an earlier send). Between the call and the
 * reading of errno, the runtime may have made calls of its own: any other errno is theirs (ENOENT, seen on a machine with a load of 17).
 */
const possible = new Set([
  ...[
    'EBADF',
    'ECONNREFUSED',
    'EFAULT',
    'EINVAL',
    'ENOBUFS',
    'ENOMEM',
    'ENOTCONN',
    'ENOTSOCK',
    'EACCES',
    'EPERM',
  ],
  ...[
    'EHOSTDOWN',
    'EHOSTUNREACH',
    'EMSGSIZE',
    'ENETDOWN',
    'ENETUNREACH',
    'ENONET',
    'ENOPROTOOPT',
    'EOPNOTSUPP',
    'EPROTO',
  ],
]);

/** `onError` hears of errors that the kernel reports; `refused`: one of an earlier send (ECONNREFUSED). */
export function makeRead(
  libc: Libc,
  fd: number,
  batchSize: number,
  arena: ReceiveArena,
  tally: Tally,
  onError: (error: UdpError, refused: boolean) => void,
): Read {
  const { EAGAIN, EINTR, ECONNREFUSED, MSG_DONTWAIT } = constants;
  return () => {
    arena.messages.assertAttached();
    for (let errors = 0; errors < errorsPerRead; errors++) {
      const count = libc.recvmmsg(fd, arena.address, batchSize, MSG_DONTWAIT, 0);
      tally.receiveCalls++;
      if (count >= 0) return count;
      const errno = libc.errno();
      if (errno === EAGAIN) return 0;
      if (errno === EINTR) continue;
      const name = libc.errnoName(errno);
      if (!possible.has(name) && errors + 1 < errorsPerRead) continue;
      const refused = errno === ECONNREFUSED;
      if (refused) tally.refused++;
      onError(systemError('recvmmsg', name, ''), refused);
    }
    return 0;
  };
}
