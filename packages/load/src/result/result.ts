/**
 * What a run says in the end: one plain record, in seconds, bytes and queries per second. Everything that is
 * printed or written is a function of it.
 */
import type { Counts } from '../engine/measurements.ts';
import type { CannonOptions } from '../options.ts';
import type { Distribution, Statistics } from './statistics.ts';

/** Why no more queries were sent. */
export type EndedBy =
  /** The time was over. */
  | 'duration'
  /** As many queries as asked for were sent, or the workload was asked as often as asked for. */
  | 'queries'
  /** The user stopped the run. */
  | 'stopped'
  /** The server refused from the beginning (ICMP port unreachable): nobody listens. */
  | 'refused';

/** What one worker cost, and what it was kept from. Null where the platform does not tell. */
export interface WorkerReport {
  /** CPU time of its thread while it sent, seconds, and as a share of that time. */
  readonly cpuSeconds: number | null;
  readonly cpuShare: number | null;
  /** Share of the time in which it had something to do: 1 means that it never waited for an answer. */
  readonly busyShare: number;
  /** Time it was ready to run and another program had its CPU, seconds. */
  readonly waitedForCpuSeconds: number | null;
  /** Longest and 99th percentile of the time between two looks at the sockets, seconds: the event-loop delay. */
  readonly loopDelaySeconds: { readonly p99: number; readonly max: number };
  /** Times it was away for over a millisecond without sleeping, and how long in total, seconds. */
  readonly stalls: number;
  readonly stalledSeconds: number;
}

export interface GeneratorReport {
  /** Whether the generator, not the server, decided the result. */
  readonly wasTheLimit: boolean;
  /** Why, as sentences; empty if it was not. */
  readonly reasons: readonly string[];
  readonly workers: readonly WorkerReport[];
  /** `native`: many datagrams per system call; `dgram`: one. Null for connections. */
  readonly backend: 'native' | 'dgram' | null;
  /** Why it is not `native`, else null. */
  readonly backendReason: string | null;
  /** Whether answers are timed by the kernel rather than when they were read. */
  readonly kernelTimestamps: boolean;
  /** Receive buffer of each UDP socket as the kernel reports it, bytes; null for connections. */
  readonly receiveBufferBytes: number | null;
}

/** Client-side view of a resolver's behaviour: one lookup is several queries. */
export interface LookupReport {
  /** Lookups begun, and those that ended with and without an answer. */
  readonly count: number;
  readonly found: number;
  readonly failed: number;
  /** Lookups that ended, per second: the client's rate. The server's is `qps`. */
  readonly rate: number;
  readonly queriesPerLookup: number;
  readonly latencySeconds: Distribution | null;
}

export interface Rates {
  /** Queries per second that were due, in an open loop or under a limit; null without either. */
  readonly offered: number | null;
  /** Queries per second that left while sending. */
  readonly sent: number;
  /** Queries per second answered, over the whole run: the same as `qps`. */
  readonly answered: number;
}

export interface CannonResult {
  readonly schemaVersion: 1;
  readonly tool: 'dnscannon';
  readonly version: string;
  /** When the first query left, ISO 8601. */
  readonly startedAt: string;
  readonly server: { readonly host: string; readonly address: string; readonly port: number };
  readonly options: CannonOptions;
  /** The workload in one line. */
  readonly workload: string;
  /** Queries answered per second: answered ÷ `elapsedSeconds`. */
  readonly qps: number;
  readonly endedBy: EndedBy;
  /** From the first query to the end of sending. */
  readonly sendingSeconds: number;
  /** From the first query to the end of sending or the last answer in time, whichever is later. */
  readonly elapsedSeconds: number;
  readonly rates: Rates;
  readonly counts: Counts;
  /** Lost ÷ (answered + lost); 0 when nothing was sent. */
  readonly lostRatio: number;
  /** Answers by response code. */
  readonly codes: Readonly<Record<string, number>>;
  /** What went wrong with connections and over HTTP, and how often: `{ "HTTP status 503": 12 }`. */
  readonly problems: Readonly<Record<string, number>>;
  /** Of answered queries only. Open loop: from the time a query was due; closed loop: from sending. */
  readonly latencySeconds: Distribution | null;
  /** How much later than due queries left; null without a schedule. */
  readonly latenessSeconds: Distribution | null;
  /** Set-up of connections, TLS included; null for UDP. */
  readonly connectSeconds: Statistics | null;
  readonly lookups: LookupReport | null;
  /** Mean size of queries and answers, bytes; 0 where there are none. */
  readonly meanQueryBytes: number;
  readonly meanAnswerBytes: number;
  readonly generator: GeneratorReport;
  /** What a reader must know before believing the numbers, as sentences. */
  readonly warnings: readonly string[];
}

/** What happened in one interval. */
export interface Interval {
  /** 0 for the first. */
  readonly index: number;
  /** Since the start, seconds. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly qps: number;
  readonly sentPerSecond: number;
  readonly counts: Counts;
  readonly codes: Readonly<Record<string, number>>;
  readonly latencySeconds: Statistics | null;
  readonly latenessSeconds: Statistics | null;
}
