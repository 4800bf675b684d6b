/** sendmmsg(2) until all is sent, refused, or the kernel has no room. */
import { systemError, type UdpError } from '../errors.ts';
import { constants, layout } from './layout.ts';
import type { Libc } from './libc.ts';

/** The counters of a socket while it is at work. */
export interface Tally {
  received: number;
  receiveCalls: number;
  sent: number;
  sendCalls: number;
  sendErrors: number;
  truncated: number;
  refused: number;
}

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

/** Tries for one datagram that an error of earlier ones (ECONNREFUSED) keeps back. */
const refusalsInARow = 8;

/**
 * Hands `count` messages to the kernel, at most `perCall` at a time. Returns how many are done with: taken, or
 * dropped because the kernel refuses that one for good (EMSGSIZE, EPERM, EHOSTUNREACH, EINVAL for port 0, …).
 * Fewer than `count`: there is no room now (EAGAIN); the rest is untouched.
 *
 * sendmmsg reports an error only when its first message fails, so an error always belongs to the message that
 * this loop has come to.
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
