/** recvmmsg(2) until it brings datagrams, or the socket is empty; and sendmmsg(2) until all is sent, refused, or the kernel has no room. */
import { systemError, type UdpError } from '../errors.ts';
import type { UdpSocketCounters } from '../socket.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';
import type { ReceiveArena } from './receive-arena.ts';

/** The live counters of a socket. */
export type Tally = { -readonly [Count in Exclude<keyof UdpSocketCounters, 'kernelDrops'>]: number };

export const emptyTally = (): Tally => ({
  received: 0,
  receiveCalls: 0,
  sent: 0,
  sendCalls: 0,
  sendErrors: 0,
  truncated: 0,
  refused: 0,
});

/** Returns how many datagrams it has read into the arena, without waiting; 0: there are none now. */
export type Read = () => number;

/** Errors that one call ignores before it gives up until the next wake-up. */
const errorsPerRead = 8;

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
      const refused = errno === ECONNREFUSED;
      if (refused) tally.refused++;
      onError(systemError('recvmmsg', libc.errnoName(errno), ''), refused);
    }
    return 0;
  };
}

export type Transmit = (headersAddress: number, count: number) => number;

/** Attempts for one datagram that an error from earlier ones (ECONNREFUSED) holds up. */
const refusalsInARow = 8;

/**
 * Passes `count` messages to the kernel, at most `perCall` at a time. Returns how many are finished: accepted, or
 * dropped because the kernel refuses them permanently (EMSGSIZE, EPERM, EHOSTUNREACH, EINVAL for port 0, …).
 * Fewer than `count`: there is no room now (EAGAIN); the rest is untouched.
 *
 * sendmmsg reports an error only if its first message fails, so an error always belongs to the current message.
 */
export function makeTransmit(
  libc: Libc,
  fd: number,
  perCall: number,
  tally: Tally,
  onRefused: (error: UdpError) => void,
): Transmit {
  const { EAGAIN, EINTR, ECONNREFUSED, MSG_DONTWAIT } = constants;
  return (headersAddress, count) => {
    let done = 0;
    let refusals = 0;
    while (done < count) {
      const address = headersAddress + done * layout.mmsghdr.size;
      const taken = libc.sendmmsg(fd, address, Math.min(count - done, perCall), MSG_DONTWAIT);
      tally.sendCalls++;
      if (taken > 0) {
        done += taken;
        tally.sent += taken;
        refusals = 0;
        continue;
      }
      const errno = libc.errno();
      if (errno === EAGAIN) break;
      if (errno === EINTR) continue;
      if (errno === ECONNREFUSED && refusals < refusalsInARow) {
        refusals++;
        tally.refused++;
        onRefused(systemError('sendmmsg', 'ECONNREFUSED', ''));
        continue;
      }
      done++;
      tally.sendErrors++;
      refusals = 0;
    }
    return done;
  };
}
