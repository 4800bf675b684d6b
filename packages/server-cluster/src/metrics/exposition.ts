/** Writes the workers' counters in Prometheus's text format, version 0.0.4. Pure functions. */
import type { ConnectionTotals, SocketTotals, WorkerSnapshot } from './counters.ts';
import { BUCKET_SECONDS, COOKIES, DROP_REASONS, OFFSETS, RCODES, TRANSPORTS, TYPES } from './counters.ts';

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
  readonly reloads: Readonly<ReloadCounts>;
  readonly workers: ReadonlyMap<number, WorkerSnapshot>;
}

/** Of the server as a whole: a reload takes effect in all workers or in none, and may fail before it reaches one. */
export interface ReloadCounts {
  succeeded: number;
  failed: number;
}

interface Sample {
  /** Follows the family's name: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

type Samples = (exposed: Exposed) => Iterable<Sample>;

/** One sample for the whole server. */
function server(value: (exposed: Exposed) => number): Samples {
  return (exposed) => [{ labels: {}, value: value(exposed) }];
}

/** One sample per worker that knows the value. */
function worker(value: (snapshot: WorkerSnapshot) => number | null): Samples {
  return function* ({ workers }) {
    for (const [place, snapshot] of workers) {
      const known = value(snapshot);
      if (known !== null) yield { labels: { worker: place }, value: known };
    }
  };
}

const socket = (field: keyof SocketTotals) => worker(({ sockets }) => sockets[field]);

/** Of TCP, TLS and HTTPS together. */
const connection = (field: keyof ConnectionTotals) => worker(({ connections }) => connections[field]);

/** Samples from the counters of each transport that a worker has. */
function transport(samples: (values: readonly number[]) => readonly Sample[]): Samples {
  return function* ({ workers }) {
    for (const [place, { transports }] of workers) {
      for (const name of TRANSPORTS) {
        const values = transports[name];
        if (values === undefined) continue;
        for (const sample of samples(values))
          yield { ...sample, labels: { worker: place, transport: name, ...sample.labels } };
      }
    }
  };
}

function counter(field: keyof typeof OFFSETS): Samples {
  return transport((values) => [{ labels: {}, value: values[OFFSETS[field]] ?? 0 }]);
}

/** Consecutive counters, each with a name. Those at 0 are omitted. */
function named(field: keyof typeof OFFSETS, label: string, names: readonly string[]): Samples {
  return transport((values) =>
    names
      .map((name, index) => ({ labels: { [label]: name }, value: values[OFFSETS[field] + index] ?? 0 }))
      .filter(({ value }) => value > 0),
  );
}

/** Cumulative: each bucket counts all values up to its bound. */
const latency = transport((values) => {
  let value = 0;
  const buckets = [...BUCKET_SECONDS, '+Inf'].map((le, index) => {
    value += values[OFFSETS.buckets + index] ?? 0;
    return { suffix: '_bucket', labels: { le }, value };
  });
  const sum = { suffix: '_sum', labels: {}, value: values[OFFSETS.latencySum] ?? 0 };
  return [...buckets, sum, { suffix: '_count', labels: {}, value }];
});

const reloads: Samples = ({ reloads: counts }) =>
  (['succeeded', 'failed'] as const).map((outcome) => ({ labels: { outcome }, value: counts[outcome] }));

const info: Samples = ({ version, backend }) => [{ labels: { version, udp_backend: backend }, value: 1 }];

/** Help and samples of every family, in the order shown. */
const FAMILIES: Readonly<Record<string, readonly [help: string, samples: Samples]>> = {
  dinodns_info: ['Version of the server and its UDP backend; always 1.', info],
  dinodns_queries_total: ['Queries answered, by QTYPE.', named('types', 'type', TYPES)],
  dinodns_responses_total: ['Responses, by response code.', named('rcodes', 'rcode', RCODES)],
  dinodns_table_hits_total: ['Queries answered from the answer table.', counter('tableHits')],
  dinodns_framework_queries_total: [
    'Queries that went through middleware and handlers.',
    counter('frameworkQueries'),
  ],
  dinodns_truncated_responses_total: ['Responses with TC set.', counter('truncated')],
  dinodns_rate_limit_slips_total: [
    'Responses without an answer, sent by rate limiting: with TC set, or BADCOOKIE.',
    counter('slips'),
  ],
  dinodns_dropped_total: [
    'Messages that got no response, by reason.',
    named('drops', 'reason', DROP_REASONS),
  ],
  dinodns_cookies_total: [
    "Queries with a cookie: the client's only, or with a server's that is invalid or valid.",
    named('cookies', 'cookie', COOKIES),
  ],
  dinodns_errors_total: [
    'Connections and datagrams given up because of an unexpected error.',
    counter('errors'),
  ],
  dinodns_response_seconds: ['Time from reading a message to its reply being ready.', latency],
  dinodns_udp_receive_calls_total: ['System calls that read datagrams.', socket('receiveCalls')],
  dinodns_udp_received_total: ['Datagrams read.', socket('received')],
  dinodns_udp_send_errors_total: [
    'Datagrams that the kernel refused to send, or for which the portable socket had no room.',
    socket('sendErrors'),
  ],
  dinodns_udp_kernel_drops_total: [
    'Datagrams that the kernel dropped because they were not read in time.',
    socket('kernelDrops'),
  ],
  dinodns_tcp_connections: ['Open TCP connections, those of TLS and HTTPS included.', connection('open')],
  dinodns_tcp_connections_accepted_total: ['TCP connections accepted.', connection('accepted')],
  dinodns_tcp_connections_refused_total: [
    'TCP connections closed at once because of a limit.',
    connection('refused'),
  ],
  dinodns_tcp_connections_timed_out_total: [
    'TCP connections closed for being idle or slow.',
    connection('timedOut'),
  ],
  dinodns_tcp_connections_displaced_total: [
    'TCP connections closed, having been idle longest, to make room for others.',
    connection('displaced'),
  ],
  dinodns_reloads_total: ['Reloads of zones, by outcome.', reloads],
  dinodns_workers: ['Configured worker processes.', server(({ size }) => size)],
  dinodns_workers_ready: ['Worker processes that answer queries.', server(({ workers }) => workers.size)],
  dinodns_worker_restarts_total: [
    'Workers that ended and were replaced.',
    server(({ restarts }) => restarts),
  ],
  dinodns_worker_cpu_seconds_total: ['CPU time, user and system.', worker(({ cpuSeconds }) => cpuSeconds)],
  dinodns_worker_resident_memory_bytes: ['Resident memory.', worker(({ residentBytes }) => residentBytes)],
  dinodns_worker_start_time_seconds: [
    'Start of the process since the epoch.',
    worker(({ startSeconds }) => startSeconds),
  ],
};

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

function line(name: string, { suffix = '', labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([key, label]) => `${key}="${escaped(String(label))}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

/** Prometheus's naming convention: what only grows ends in `_total`. */
function typeOf(name: string, samples: Samples): 'counter' | 'gauge' | 'histogram' {
  if (samples === latency) return 'histogram';
  return name.endsWith('_total') ? 'counter' : 'gauge';
}

export function exposition(exposed: Exposed): string {
  let text = '';
  for (const [name, [help, samples]] of Object.entries(FAMILIES)) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${typeOf(name, samples)}\n`;
    for (const sample of samples(exposed)) text += line(name, sample);
  }
  return text;
}
