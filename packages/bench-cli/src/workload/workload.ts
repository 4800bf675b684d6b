/** The workload of a run: which names and types are queried, and what the answers must be. */
import type { WorkloadInput } from '@dinodns-bench/load';
import { defineZoneSet, type Query, type ZoneSet } from '@dinodns-bench/zones';
import type { DnsQuery } from '../dns/client.ts';
import type { Server } from '../servers/server.ts';

/**
 * The zone set of a run with this many zones: the odd numbers, as published. Where AAAA is queried, each zone has an IPv6
 * address as well.
 */
export function zoneSetOf(zones: number, types: readonly string[] = ['A']): ZoneSet {
  const records = types.includes('AAAA') ? { records: ['A 127.0.0.1', 'AAAA ::1'] } : {};
  return defineZoneSet({ from: 1, to: 2 * zones - 1, parity: 'odd', ...records });
}

/**
 * The search for the highest rate needs an open loop, which only the built-in loader has; so do workloads that it alone can
 * send. All cases of a run have the same loader.
 */
export function needsBuiltin(
  objective: 'throughput' | 'max-rate',
  workloads: readonly BenchWorkload[],
): boolean {
  return objective === 'max-rate' || workloads.some(({ builtin }) => builtin !== undefined);
}

/** What is sent in one pass. */
export function sentQueries(workload: BenchWorkload): Iterable<Query> {
  return workload.sequence?.() ?? workload.queries();
}

/** A workload that bench can send: its queries, lazily, and words for the report. */
export interface BenchWorkload {
  readonly name: string;
  readonly description: string;
  /** Number of distinct queries. */
  readonly size: number;
  /** Every distinct query once: what the answer check asks. */
  queries(): Iterable<Query>;
  /** What is sent, over and over, where it is not `queries()` in order. */
  sequence?(): Iterable<Query>;
  /** What only the built-in loader can send, instead of the sequence. */
  readonly builtin?: {
    readonly source: WorkloadInput;
    /** It has its own timing, so no rate can be asked for. */
    readonly isTimed: boolean;
  };
  /**
   * What the sequence says of the response codes: how often each comes (default), only which of them can come, or
   * nothing.
   */
  readonly codes?: 'counted' | 'possible' | 'unknown';
  /** The expected answer, where it does not come from the zone set: the names of a cluster. */
  expectation?(query: Query): Expectation | null;
  /** Fixes which of two correct answers this server gives (`orCode`): from then on only that one is correct. */
  settle?(query: Query, code: string): void;
}

/** A record as the DNS client decodes it. */
export interface ExpectedRecord {
  readonly type: string;
  readonly data: unknown;
}

/** The correct answer to one query. */
export interface Expectation {
  readonly query: Query;
  /** Null: any; see `--answers stable`. */
  readonly code: string | null;
  /** Records of the answer section; empty for NODATA, null where they are not known in advance. */
  readonly records: readonly ExpectedRecord[] | null;
  /** Also correct, then without records: whether a server knows such names depends on its configuration. */
  readonly orCode?: string;
}

/** What `server` must answer, according to the zone set. */
export function expectationOf(zoneSet: ZoneSet, server: Server, query: Query): Expectation {
  const lookup = zoneSet.lookup(query.name, query.type);
  switch (lookup.kind) {
    case 'answer':
      return { query, code: 'NOERROR', records: lookup.records };
    case 'no-data':
      return { query, code: 'NOERROR', records: [] };
    case 'no-such-name':
      return { query, code: 'NXDOMAIN', records: lookup.records ?? [] };
    case 'name-too-long':
      return { query, code: 'YXDOMAIN', records: lookup.records };
    case 'no-such-zone':
      return server.answersUnknownZoneWith === 'either'
        ? { query, code: 'NXDOMAIN', records: [], orCode: 'REFUSED' }
        : { query, code: server.answersUnknownZoneWith, records: [] };
  }
}

/** What `server` must answer to a query of `workload`. */
export function expectedAnswer(
  workload: BenchWorkload,
  zoneSet: ZoneSet,
  server: Server,
  query: Query,
): Expectation {
  return workload.expectation?.(query) ?? expectationOf(zoneSet, server, query);
}

/** How often each response code occurs in one pass over the workload. */
export function predictedCodes(
  zoneSet: ZoneSet,
  server: Server,
  workload: BenchWorkload,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const query of sentQueries(workload)) {
    const { code } = expectedAnswer(workload, zoneSet, server, query);
    if (code !== null) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return counts;
}

/** Share of queries whose answer holds records, in [0, 1]. */
export function existingRatio(zoneSet: ZoneSet, workload: BenchWorkload): number {
  let existing = 0;
  let sent = 0;
  for (const query of sentQueries(workload)) {
    sent += 1;
    const own = workload.expectation?.(query) ?? null;
    const exists =
      own === null ? zoneSet.lookup(query.name, query.type).kind === 'answer' : own.code === 'NOERROR';
    if (exists) existing += 1;
  }
  return sent === 0 ? 0 : existing / sent;
}

/** A query that a server answers once it has loaded its zones: for a record that no server makes up (no SOA or NS). */
export function readinessQueries(zoneSet: ZoneSet): DnsQuery[] {
  for (const { records } of zoneSet.zones()) {
    const record = records.find(({ type }) => type !== 'SOA' && type !== 'NS') ?? records[0];
    if (record !== undefined) return [{ name: record.name, type: record.type }];
  }
  return [];
}
