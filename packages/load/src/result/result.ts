/**
 * The result of a run: one plain record, in seconds, bytes and queries per second. Everything printed or written
 * is derived from it.
 */
import type { Counts } from '../engine/measurements.ts';
import type { SocketReport } from '../engine/sockets.ts';
import type { CannonOptions } from '../options.ts';
import type { TransportFacts } from '../transport/transport.ts';
import type { Distribution, Statistics } from './statistics.ts';

/** Why no more queries were sent. */
export type EndedBy =
  /** The time was over. */
  | 'duration'
  /** The requested number of queries or passes was sent. */
  | 'queries'
  /** The user stopped the run. */
  | 'stopped'
  /** The server refused from the start (ICMP port unreachable): nothing is listening. */
  | 'refused';

/** One worker's CPU use and delays. Null if the platform does not report them. */
export interface WorkerReport {
  /** CPU time of its thread while it sent, seconds, and as a share of that time. */
  readonly cpuSeconds: number | null;
  readonly cpuShare: number | null;
  /** Share of the time it was busy: 1 means that it never waited for an answer. */
  readonly busyShare: number;
  /** Time it was ready to run but waited for a CPU, seconds. */
  readonly waitedForCpuSeconds: number | null;
  /** Event-loop delay, seconds: 99th percentile and maximum of the time between two checks of the sockets. */
  readonly loopDelaySeconds: { readonly p99: number; readonly max: number };
  /** Stalls of over a millisecond without sleeping: how many, and seconds in total. */
  readonly stalls: number;
  readonly stalledSeconds: number;
}

export interface GeneratorReport extends TransportFacts {
  /** Whether the generator, not the server, decided the result. */
  readonly wasTheLimit: boolean;
  /** Why, as sentences; empty if it was not. */
  readonly reasons: readonly string[];
  readonly workers: readonly WorkerReport[];
  /**
   * CPU time that the hypervisor took from this machine during the run, seconds, summed over its CPUs in steps of 0.01;
   * null where the kernel does not count it.
   */
  readonly stealSeconds: number | null;
}

/** Client-side view of a simulated resolver: one lookup is several queries. */
export interface LookupReport {
  /** Lookups started, and those that ended with and without an answer. */
  readonly count: number;
  readonly found: number;
  readonly failed: number;
  /** Lookups that ended, per second: the client's rate. The server's is `qps`. */
  readonly rate: number;
  readonly queriesPerLookup: number;
  /** Of those that were found or got to the end of the list; not of those that ended with a lost query and no answer. */
  readonly latencySeconds: Distribution | null;
}

export interface Rates {
  /** Queries per second, or lookups of a simulated resolver, that were due, in an open loop or under a limit; null without either. */
  readonly offered: number | null;
  /** Queries per second while sending. */
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
  /** Lost ÷ (answered + lost); 0 if nothing was sent. */
  readonly lostRatio: number;
  /** Answers by response code. */
  readonly codes: Readonly<Record<string, number>>;
  /** Connection and HTTP errors, and how often each occurred: `{ "HTTP status 503": 12 }`. */
  readonly problems: Readonly<Record<string, number>>;
  /** Of answered queries only. Open loop: from the time a query was due; closed loop: from sending. */
  readonly latencySeconds: Distribution | null;
  /** How late queries were sent; null without a schedule. */
  readonly latenessSeconds: Distribution | null;
  /** Set-up of connections, TLS included; null for UDP. */
  readonly connectSeconds: Statistics | null;
  readonly lookups: LookupReport | null;
  /** Mean size of queries and answers, bytes; 0 where there are none. */
  readonly meanQueryBytes: number;
  readonly meanAnswerBytes: number;
  readonly generator: GeneratorReport;
  /** Each socket, worker by worker; absent unless asked for. */
  readonly sockets?: readonly SocketReport[];
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
  /** When the first and the last answer without an error (NOERROR, NXDOMAIN) arrived, since the start; null without any. */
  readonly goodSeconds: { readonly first: number; readonly last: number } | null;
  /** As in `GeneratorReport`, during the interval. */
  readonly stealSeconds: number | null;
}
