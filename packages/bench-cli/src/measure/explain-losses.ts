/**
 * Where queries were lost that got no answer, from counters read before and after the load. Pure.
 *
 * Each place takes as many of the lost queries as it counted, in an order in which what is known for certain comes first. What
 * the server read and did not answer follows by subtraction: what was read in its namespace less what the load generator
 * read there, less the answers that arrived or are known to be lost. What remains is unknown.
 */
import type { LoaderCounts } from '../loaders/loader.ts';
import { type LoadResult, type Losses, type LossPlace, sumPlaces } from '../results/record.ts';
import type { LossReading } from './loss-meter.ts';

/** The load, as its generator counts it. */
export type LostLoad = Pick<LoadResult, 'queriesSent' | 'queriesCompleted' | 'queriesLost'>;

export interface LossEvidence {
  readonly before: LossReading;
  readonly after: LossReading;
}

/**
 * A small datagram takes at least this much of a socket's memory on every 64-bit kernel: `struct sk_buff` and
 * `struct skb_shared_info` alone are more. So a queue of n bytes holds at most n ÷ 512 of them.
 */
const MIN_QUEUED_BYTES = 512;

/** How many queries each place counted, the surest first. */
type Claims = readonly (readonly [place: LossPlace, queries: number])[];

/** Counters only rise, but those of 32 bits begin again. */
function rise(before: number | null | undefined, after: number | null | undefined): number | null {
  return before == null || after == null ? null : Math.max(0, after - before);
}

function sumKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** What rose, by name; null where it could not be read. */
function deltasOf({ before, after }: LossEvidence) {
  const both = (name: 'filtered' | 'conntrackDropped' | 'udpClosedPort') =>
    sumKnown([
      rise(before.server?.[name], after.server?.[name]),
      rise(before.loader?.[name], after.loader?.[name]),
    ]);
  return {
    serverBuffer: rise(before.sockets?.drops, after.sockets?.drops),
    serverQueuedBytes: after.sockets?.queuedBytes ?? null,
    serverRead: rise(before.server?.udpRead, after.server?.udpRead),
    bufferErrors: rise(
      (before.loader ?? before.server)?.udpBufferErrors,
      (after.loader ?? after.server)?.udpBufferErrors,
    ),
    softnet: rise(before.softnetDropped, after.softnetDropped),
    qdisc: rise(before.queueDropped, after.queueDropped),
    conntrack: both('conntrackDropped'),
    filtered: both('filtered'),
    closedPort: both('udpClosedPort'),
  };
}
type Deltas = ReturnType<typeof deltasOf>;

/** What the load generator's sockets dropped: by its own report, else what no server socket did. */
function loaderBuffer(counts: LoaderCounts, deltas: Deltas, isShared: boolean): number | null {
  if (counts.bufferDrops !== null) return counts.bufferDrops;
  if (deltas.bufferErrors === null) return null;
  return isShared ? Math.max(0, deltas.bufferErrors - (deltas.serverBuffer ?? 0)) : deltas.bufferErrors;
}

/** What was counted where, before it is bounded by what was lost. */
function claimsOf(load: LostLoad, counts: LoaderCounts, { before, after }: LossEvidence) {
  const deltas = deltasOf({ before, after });
  const refused = counts.sendErrors ?? 0;
  const tracked = deltas.conntrack ?? 0;
  const answersDropped = loaderBuffer(counts, deltas, before.isShared) ?? 0;
  const answersRead = load.queriesCompleted + counts.late + counts.strays;
  const queriesRead =
    deltas.serverRead === null ? null : deltas.serverRead - (before.isShared ? answersRead : 0);
  // A packet that connection tracking drops is refused when it is sent, or filtered when it arrives, or neither was seen.
  const trackedOnTheWay = Math.max(0, tracked - refused);
  const onTheWay = {
    softnet: deltas.softnet ?? 0,
    qdisc: deltas.qdisc ?? 0,
    conntrack: trackedOnTheWay,
    firewall: Math.max(0, (deltas.filtered ?? 0) - trackedOnTheWay),
  };
  const vanished =
    queriesRead === null
      ? 0
      : Math.max(0, load.queriesSent - refused - queriesRead - (deltas.serverBuffer ?? 0));
  const segments = segmentsOf(onTheWay, vanished);
  return {
    deltas: { ...deltas, loaderBuffer: loaderBuffer(counts, deltas, before.isShared) },
    queriesRead,
    claims: [
      ['late', counts.late],
      ['conntrack', Math.min(tracked, refused) + segments.conntrack],
      ['not-sent', Math.max(0, refused - tracked)],
      ['loader-buffer', answersDropped],
      ['server-buffer', deltas.serverBuffer ?? 0],
      ['softnet', segments.softnet],
      ['qdisc', segments.qdisc],
      ['firewall', segments.firewall],
      ['server-queue', Math.floor((deltas.serverQueuedBytes ?? 0) / MIN_QUEUED_BYTES)],
      ['server', queriesRead === null ? 0 : Math.max(0, queriesRead - answersRead - answersDropped)],
      ['closed-port', deltas.closedPort ?? 0],
    ] satisfies Claims,
  };
}

/**
 * Queries that are sent as one message (UDP_SEGMENT) are dropped as one, and counted as one. Where a single place dropped
 * anything, all queries that vanished before the server are its.
 */
function segmentsOf(
  counted: Readonly<Record<'softnet' | 'qdisc' | 'conntrack' | 'firewall', number>>,
  vanished: number,
) {
  const dropping = Object.values(counted).filter((count) => count > 0).length;
  if (dropping !== 1) return counted;
  const whole = (count: number) => (count === 0 ? 0 : Math.max(count, vanished));
  return {
    softnet: whole(counted.softnet),
    qdisc: whole(counted.qdisc),
    conntrack: whole(counted.conntrack),
    firewall: whole(counted.firewall),
  };
}

const NO_SERVER =
  "the server's sockets are not on this machine or cannot be seen, so what it dropped or did not answer is unknown";

function unreadOf(deltas: Deltas & { readonly loaderBuffer: number | null }): string[] {
  return [
    ...(deltas.serverBuffer === null ? [NO_SERVER] : []),
    ...(deltas.loaderBuffer === null ? ["the load generator's own sockets cannot be read"] : []),
    ...(deltas.softnet === null ? ['/proc/net/softnet_stat cannot be read'] : []),
    ...(deltas.qdisc === null ? ['queues of network devices need `tc` of iproute2'] : []),
  ];
}

/** Each place takes what it counted, as far as something is left; what is left in the end is unknown. */
function shareOut(lost: number, claims: Claims): Losses['places'] {
  let left = lost;
  const places = claims.map(([place, count]) => {
    const queries = Math.min(left, count);
    left -= queries;
    return { place, queries };
  });
  const taken = [...places, { place: 'unknown' as const, queries: left }];
  return sumPlaces([{ places: taken.filter(({ queries }) => queries > 0) }]);
}

const NO_COUNTS: LoaderCounts = { bufferDrops: null, sendErrors: null, late: 0, strays: 0 };

/**
 * Where the lost queries of a load are. Without evidence, as on a cluster, only what the load generator saw itself can be told.
 * `why`: why there is none.
 */
export function explainLosses(
  load: LostLoad,
  given: LoaderCounts | null,
  evidence: LossEvidence | null,
  why?: string,
): Losses {
  const counts = given ?? NO_COUNTS;
  const loaderCounters = {
    loaderLate: counts.late,
    loaderStrays: counts.strays,
    loaderSendErrors: counts.sendErrors,
  };
  if (evidence === null) {
    const claims: Claims = [
      ['late', counts.late],
      ['not-sent', counts.sendErrors ?? 0],
      ['loader-buffer', counts.bufferDrops ?? 0],
    ];
    return {
      lost: load.queriesLost,
      places: shareOut(load.queriesLost, claims),
      counters: { ...loaderCounters, loaderBuffer: counts.bufferDrops },
      unread: why === undefined ? [] : [why],
    };
  }
  const { deltas, queriesRead, claims } = claimsOf(load, counts, evidence);
  return {
    lost: load.queriesLost,
    places: shareOut(load.queriesLost, claims),
    counters: { ...loaderCounters, ...deltas, serverReadQueries: queriesRead },
    unread: unreadOf(deltas),
  };
}

/** What several load generators counted together; null if one does not say. */
export function addCounts(all: readonly (LoaderCounts | undefined)[]): LoaderCounts | null {
  const known = all.filter((counts) => counts !== undefined);
  if (known.length < all.length) return null;
  const sum = (pick: (counts: LoaderCounts) => number | null) => {
    const values = known.map(pick);
    return values.includes(null) ? null : sumKnown(values);
  };
  return {
    bufferDrops: sum(({ bufferDrops }) => bufferDrops),
    sendErrors: sum(({ sendErrors }) => sendErrors),
    late: sum(({ late }) => late) ?? 0,
    strays: sum(({ strays }) => strays) ?? 0,
  };
}

/** The losses of several loads, such as the slices of a duet, as those of one. */
export function addLosses(parts: readonly Losses[]): Losses {
  const counters: Record<string, number | null> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part.counters)))
    counters[name] = sumKnown([counters[name] ?? null, value]);
  return {
    lost: parts.reduce((sum, { lost }) => sum + lost, 0),
    places: sumPlaces(parts),
    counters,
    unread: [...new Set(parts.flatMap(({ unread }) => unread))],
  };
}
