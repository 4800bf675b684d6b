import type { UdpSocketCounters } from '@dinodns-bench/batched-udp';
import type { CountedTransport } from './counters.ts';

/** A worker's state at one moment, as plain data that is sent to the primary. */
export interface WorkerSnapshot {
  /** `TransportCounters.values` of each transport that the server has. */
  readonly transports: Partial<Record<CountedTransport, readonly number[]>>;
  readonly sockets: SocketTotals;
  readonly connections: ConnectionTotals;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly startSeconds: number;
}

/** Sums over a worker's UDP sockets. */
export type SocketTotals = Pick<
  UdpSocketCounters,
  'received' | 'receiveCalls' | 'sendErrors' | 'kernelDrops'
>;

export const NO_SOCKETS: SocketTotals = { received: 0, receiveCalls: 0, sendErrors: 0, kernelDrops: null };

/** `displaced`: closed, having been idle longest, to make room for others. */
export const NO_CONNECTIONS = { open: 0, accepted: 0, refused: 0, timedOut: 0, displaced: 0 };
export type ConnectionTotals = Readonly<typeof NO_CONNECTIONS>;

/** Adds the totals of two; what neither knows stays unknown. The result has the fields of `one`. */
export function addTotals<Totals extends { readonly [Field in keyof Totals]: number | null }>(
  one: Totals,
  other: Totals,
): Totals {
  const sums = { ...one };
  for (const field in one) {
    const theirs = other[field];
    if (theirs !== null) Object.assign(sums, { [field]: (one[field] ?? 0) + theirs });
  }
  return sums;
}
