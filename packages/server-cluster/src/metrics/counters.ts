/**
 * A worker's counters in one Float64Array: a query costs additions, but no objects, strings or calls. The layout
 * is the same in every process of one version, so that the primary can read what workers send.
 */
import type { UdpSocketCounters } from '@dinodns-bench/batched-udp';
import { FLAG, NO_QUESTION, RCODE_MASK, rcodeName, typeNumber } from '@dinodns-bench/wire';
import type { COOKIE, CookieState } from '../limits/cookies.ts';

export const TRANSPORTS = ['udp', 'tcp', 'tls', 'https'] as const;
export type CountedTransport = (typeof TRANSPORTS)[number];

/** Types counted by name, in the order of their counters; the rest count as `other`. */
const NAMED_TYPES = 'A NS CNAME SOA PTR MX TXT AAAA SRV NAPTR DS DNSKEY SVCB HTTPS ANY CAA'.split(' ');
/** `none`: the query was so malformed that it had no question. */
export const TYPES: readonly string[] = ['none', 'other', ...NAMED_TYPES];
const NO_TYPE = 0;
const OTHER_TYPE = 1;

const TYPE_INDEX = new Uint8Array(258).fill(OTHER_TYPE);
for (const [index, name] of NAMED_TYPES.entries()) TYPE_INDEX[typeNumber(name) ?? 0] = index + 2;

/** By the four RCODE bits of the header; an extended RCODE counts by its lower four bits. */
export const RCODES: readonly string[] = Array.from({ length: 16 }, (_, code) => rcodeName(code));

/** Why a datagram or message got no reply. */
export const DROP_REASONS = [
  'short',
  'response',
  'port-zero',
  'oversized',
  'rate-limit',
  'unanswerable',
  'congested',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** What the cookie of a query shows, in the order of `COOKIE`. */
export const COOKIES: readonly (keyof typeof COOKIE)[] = ['client', 'invalid', 'valid'];

/** Upper bounds of the latency histogram's buckets, in seconds. */
export const BUCKET_SECONDS: readonly number[] = [
  10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 1,
];

const PER_TRANSPORT = {
  types: TYPES.length,
  rcodes: RCODES.length,
  drops: DROP_REASONS.length,
  /** One more than the bounds, for values above all of them. */
  buckets: BUCKET_SECONDS.length + 1,
  latencySum: 1,
  tableHits: 1,
  frameworkQueries: 1,
  truncated: 1,
  slips: 1,
  errors: 1,
  cookies: COOKIES.length,
} as const;
type Field = keyof typeof PER_TRANSPORT;

function layout(): { offsets: Record<Field, number>; stride: number } {
  const offsets = {} as Record<Field, number>;
  let stride = 0;
  for (const [field, size] of Object.entries(PER_TRANSPORT) as [Field, number][]) {
    offsets[field] = stride;
    stride += size;
  }
  return { offsets, stride };
}

export const { offsets: OFFSETS, stride: STRIDE } = layout();

/** The counters of one transport in a worker. */
export class TransportCounters {
  readonly values = new Float64Array(STRIDE);

  #add(index: number, count: number): number {
    const total = (this.values[index] ?? 0) + count;
    this.values[index] = total;
    return total;
  }

  /**
   * Counts a reply that is ready to be sent, at least a header long, to a question of this type or `NO_QUESTION`.
   */
  reply(bytes: Uint8Array, offset: number, type: number): void {
    this.#add(OFFSETS.rcodes + ((bytes[offset + 3] ?? 0) & RCODE_MASK), 1);
    if (((bytes[offset + 2] ?? 0) & (FLAG.truncated >> 8)) !== 0) this.#add(OFFSETS.truncated, 1);
    this.#add(OFFSETS.types + typeIndex(type), 1);
  }

  /**
   * Counts one, or several, or none; returns the total. An error is a connection or datagram that was given up because of one that
   * nobody expected.
   */
  count(field: 'tableHits' | 'frameworkQueries' | 'slips' | 'errors', times = 1): number {
    return this.#add(OFFSETS[field], times);
  }

  /** Counts a query with a cookie. */
  cookie(state: CookieState): void {
    this.#add(OFFSETS.cookies + state - 1, 1);
  }

  drop(reason: number): void {
    this.#add(OFFSETS.drops + reason, 1);
  }

  /** Counts `count` replies with this latency. */
  latency(seconds: number, count: number): void {
    let bucket = 0;
    while (bucket < BUCKET_SECONDS.length && seconds > (BUCKET_SECONDS[bucket] ?? Infinity)) bucket++;
    this.#add(OFFSETS.buckets + bucket, count);
    this.#add(OFFSETS.latencySum, seconds * count);
  }
}

/** The index of each reason in the counters. */
export const DROP_REASON: Readonly<Record<DropReason, number>> = Object.fromEntries(
  DROP_REASONS.map((reason, index) => [reason, index]),
) as Record<DropReason, number>;

function typeIndex(type: number): number {
  return type === NO_QUESTION ? NO_TYPE : (TYPE_INDEX[type] ?? OTHER_TYPE);
}

/** All counters of a worker. */
export class Counters {
  readonly udp = new TransportCounters();
  readonly tcp = new TransportCounters();
  readonly tls = new TransportCounters();
  readonly https = new TransportCounters();
}

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
