/** sendmmsg(2) until all is sent, refused, or the kernel has no room. */
import { systemError, type UdpError } from '../errors.ts';
import type { UdpSocketCounters } from '../socket.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';

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
