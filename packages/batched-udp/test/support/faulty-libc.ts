/** The real libc with failures put in that a loopback interface never shows. */

import { loadLibc } from '../../src/native/koffi.ts';
import { constants } from '../../src/native/layout.ts';
import type { Libc } from '../../src/native/libc.ts';

/** What one call of sendmmsg does: takes so many at most, or fails with an errno. */
export type SendFault = { readonly take: number } | { readonly errno: number };

export interface FaultyLibc extends Libc {
  /** Faults of the next calls of sendmmsg, first first; then all goes well. */
  readonly sendFaults: SendFault[];
  /** While true, every call of sendmmsg finds the socket's buffer full. */
  stalled: boolean;
  /** errnos of the next calls of recvmmsg. */
  readonly receiveFaults: number[];
  /** errnos of the next call of a name. */
  readonly openFaults: Map<string, number>;
  /** Descriptors that were asked for in any call. */
  readonly calls: { name: string; fd: number }[];
}

export async function faultyLibc(): Promise<FaultyLibc> {
  const real = await loadLibc();
  let injected: number | undefined;
  const fail = (errno: number) => {
    injected = errno;
    return -1;
  };
  const faulty: FaultyLibc = {
    ...real,
    sendFaults: [],
    stalled: false,
    receiveFaults: [],
    openFaults: new Map(),
    calls: [],
    errno: () => {
      const errno = injected ?? real.errno();
      injected = undefined;
      return errno;
    },
    sendmmsg: (fd, messages, count, flags) => {
      faulty.calls.push({ name: 'sendmmsg', fd });
      if (faulty.stalled) return fail(constants.EAGAIN);
      const fault = faulty.sendFaults.shift();
      if (fault === undefined) return real.sendmmsg(fd, messages, count, flags);
      if ('errno' in fault) return fail(fault.errno);
      return real.sendmmsg(fd, messages, Math.min(count, fault.take), flags);
    },
    recvmmsg: (fd, messages, count, flags, timeout) => {
      faulty.calls.push({ name: 'recvmmsg', fd });
      const errno = faulty.receiveFaults.shift();
      return errno === undefined ? real.recvmmsg(fd, messages, count, flags, timeout) : fail(errno);
    },
    bind: (fd, address, length) => {
      const errno = faulty.openFaults.get('bind');
      return errno === undefined ? real.bind(fd, address, length) : fail(errno);
    },
    timerfd_create: (clock, flags) => {
      const errno = faulty.openFaults.get('timerfd_create');
      return errno === undefined ? real.timerfd_create(clock, flags) : fail(errno);
    },
    socket: (domain, type, protocol) => {
      const errno = faulty.openFaults.get('socket');
      return errno === undefined ? real.socket(domain, type, protocol) : fail(errno);
    },
  };
  return faulty;
}
