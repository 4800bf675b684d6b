/** Writes the workers' counters in Prometheus's text format, version 0.0.4. Pure functions. */
import {
  BUCKET_SECONDS,
  COOKIES,
  type CountedTransport,
  DROP_REASONS,
  OFFSETS,
  RCODES,
  TRANSPORTS,
  TYPES,
} from './counters.ts';
import type { WorkerSnapshot } from './snapshot.ts';

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Everything that is shown: the totals, and the workers by place. A replacement inherits its predecessor's place.
 */
export interface Exposed {
  readonly version: string;
  readonly backend: string;
  /** Configured workers. */
  readonly size: number;
  readonly restarts: number;
  readonly workers: ReadonlyMap<number, WorkerSnapshot>;
}

type Labels = Readonly<Record<string, string | number>>;
interface Sample {
  /** Follows the family's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

function line(name: string, { suffix = '', labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([key, label]) => `${key}="${escaped(String(label))}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function family(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: Iterable<Sample>,
): string {
  let text = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  for (const sample of samples) text += line(name, sample);
  return text;
}

type Each<T> = (worker: number, snapshot: WorkerSnapshot) => Iterable<T>;

function* perWorker({ workers }: Exposed, each: Each<Sample>): Iterable<Sample> {
  for (const [worker, snapshot] of workers) yield* each(worker, snapshot);
}

/** The counters of each transport that the server has. */
function* countersOf({ transports }: WorkerSnapshot): Iterable<[CountedTransport, readonly number[]]> {
  for (const transport of TRANSPORTS) {
    const values = transports[transport];
    if (values !== undefined) yield [transport, values];
  }
}

/** One sample per transport and name, from consecutive counters. Counters at 0 are omitted. */
function named(exposed: Exposed, offset: number, label: string, names: readonly string[]): Iterable<Sample> {
  return perWorker(exposed, function* (worker, snapshot) {
    for (const [transport, values] of countersOf(snapshot)) {
      for (const [index, name] of names.entries()) {
        const value = values[offset + index] ?? 0;
        if (value > 0) yield { labels: { worker, transport, [label]: name }, value };
      }
    }
  });
}

function single(exposed: Exposed, offset: number): Iterable<Sample> {
  return perWorker(exposed, function* (worker, snapshot) {
    for (const [transport, values] of countersOf(snapshot)) {
      yield { labels: { worker, transport }, value: values[offset] ?? 0 };
    }
  });
}

function latency(exposed: Exposed): Iterable<Sample> {
  return perWorker(exposed, function* (worker, snapshot) {
    for (const [transport, values] of countersOf(snapshot)) {
      let count = 0;
      for (const [index, bound] of [...BUCKET_SECONDS, '+Inf'].entries()) {
        count += values[OFFSETS.buckets + index] ?? 0;
        yield { suffix: '_bucket', labels: { worker, transport, le: bound }, value: count };
      }
      yield { suffix: '_sum', labels: { worker, transport }, value: values[OFFSETS.latencySum] ?? 0 };
      yield { suffix: '_count', labels: { worker, transport }, value: count };
    }
  });
}

/** One sample per worker. */
function plain(exposed: Exposed, value: (snapshot: WorkerSnapshot) => number | null): Iterable<Sample> {
  return perWorker(exposed, function* (worker, snapshot) {
    const known = value(snapshot);
    if (known !== null) yield { labels: { worker }, value: known };
  });
}

/** Queries, responses and latency. */
function queryFamilies(exposed: Exposed): string[] {
  return [
    family(
      'dinodns_queries_total',
      'counter',
      'Queries answered, by QTYPE.',
      named(exposed, OFFSETS.types, 'type', TYPES),
    ),
    family(
      'dinodns_responses_total',
      'counter',
      'Responses, by response code.',
      named(exposed, OFFSETS.rcodes, 'rcode', RCODES),
    ),
    family(
      'dinodns_table_hits_total',
      'counter',
      'Queries answered from the answer table.',
      single(exposed, OFFSETS.tableHits),
    ),
    family(
      'dinodns_framework_queries_total',
      'counter',
      'Queries that went through middleware and handlers.',
      single(exposed, OFFSETS.frameworkQueries),
    ),
    family(
      'dinodns_truncated_responses_total',
      'counter',
      'Responses with TC set.',
      single(exposed, OFFSETS.truncated),
    ),
    family(
      'dinodns_rate_limit_slips_total',
      'counter',
      'Responses without an answer, sent by rate limiting: with TC set, or BADCOOKIE.',
      single(exposed, OFFSETS.slips),
    ),
    family(
      'dinodns_dropped_total',
      'counter',
      'Messages that got no response, by reason.',
      named(exposed, OFFSETS.drops, 'reason', DROP_REASONS),
    ),
    family(
      'dinodns_cookies_total',
      'counter',
      "Queries with a cookie: the client's only, or with a server's that is invalid or valid.",
      named(exposed, OFFSETS.cookies, 'cookie', COOKIES),
    ),
    family(
      'dinodns_errors_total',
      'counter',
      'Connections and datagrams given up because of an unexpected error.',
      single(exposed, OFFSETS.errors),
    ),
    family(
      'dinodns_response_seconds',
      'histogram',
      'Time from reading a message to its reply being ready.',
      latency(exposed),
    ),
  ];
}

/** Datagrams and the system calls that move them. */
function datagramFamilies(exposed: Exposed): string[] {
  return [
    family(
      'dinodns_udp_receive_calls_total',
      'counter',
      'System calls that read datagrams.',
      plain(exposed, ({ sockets }) => sockets.receiveCalls),
    ),
    family(
      'dinodns_udp_received_total',
      'counter',
      'Datagrams read.',
      plain(exposed, ({ sockets }) => sockets.received),
    ),
    family(
      'dinodns_udp_send_errors_total',
      'counter',
      'Datagrams that the kernel refused to send.',
      plain(exposed, ({ sockets }) => sockets.sendErrors),
    ),
    family(
      'dinodns_udp_kernel_drops_total',
      'counter',
      'Datagrams that the kernel dropped because they were not read in time.',
      plain(exposed, ({ sockets }) => sockets.kernelDrops),
    ),
  ];
}

/** TCP connections, those of TLS and HTTPS included. */
function connectionFamilies(exposed: Exposed): string[] {
  return [
    family(
      'dinodns_tcp_connections',
      'gauge',
      'Open TCP connections, those of TLS and HTTPS included.',
      plain(exposed, ({ connections }) => connections.open),
    ),
    family(
      'dinodns_tcp_connections_accepted_total',
      'counter',
      'TCP connections accepted.',
      plain(exposed, ({ connections }) => connections.accepted),
    ),
    family(
      'dinodns_tcp_connections_refused_total',
      'counter',
      'TCP connections closed at once because of a limit.',
      plain(exposed, ({ connections }) => connections.refused),
    ),
    family(
      'dinodns_tcp_connections_timed_out_total',
      'counter',
      'TCP connections closed for being idle or slow.',
      plain(exposed, ({ connections }) => connections.timedOut),
    ),
    family(
      'dinodns_tcp_connections_displaced_total',
      'counter',
      'TCP connections closed, having been idle longest, to make room for others.',
      plain(exposed, ({ connections }) => connections.displaced),
    ),
  ];
}

/** CPU time and memory of the processes. */
function processFamilies(exposed: Exposed): string[] {
  return [
    family(
      'dinodns_worker_cpu_seconds_total',
      'counter',
      'CPU time, user and system.',
      plain(exposed, ({ cpuSeconds }) => cpuSeconds),
    ),
    family(
      'dinodns_worker_resident_memory_bytes',
      'gauge',
      'Resident memory.',
      plain(exposed, ({ residentBytes }) => residentBytes),
    ),
    family(
      'dinodns_worker_start_time_seconds',
      'gauge',
      'Start of the process since the epoch.',
      plain(exposed, ({ startSeconds }) => startSeconds),
    ),
  ];
}

export function exposition(exposed: Exposed): string {
  const { version, backend, size, restarts, workers } = exposed;
  return [
    family('dinodns_info', 'gauge', 'Version of the server and its UDP backend; always 1.', [
      { labels: { version, udp_backend: backend }, value: 1 },
    ]),
    ...queryFamilies(exposed),
    ...datagramFamilies(exposed),
    ...connectionFamilies(exposed),
    family(
      'dinodns_reloads_total',
      'counter',
      'Reloads of zones, by outcome.',
      perWorker(exposed, function* (worker, { reloads }) {
        yield { labels: { worker, outcome: 'succeeded' }, value: reloads.succeeded };
        yield { labels: { worker, outcome: 'failed' }, value: reloads.failed };
      }),
    ),
    family('dinodns_workers', 'gauge', 'Configured worker processes.', [{ labels: {}, value: size }]),
    family('dinodns_workers_ready', 'gauge', 'Worker processes that answer queries.', [
      { labels: {}, value: workers.size },
    ]),
    family('dinodns_worker_restarts_total', 'counter', 'Workers that ended and were replaced.', [
      { labels: {}, value: restarts },
    ]),
    ...processFamilies(exposed),
  ].join('');
}
