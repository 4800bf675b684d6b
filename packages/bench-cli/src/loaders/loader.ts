/**
 * A loader sends queries. It turns an endpoint, a query file and limits into a load result, and knows nothing about
 * servers and cases.
 */

import type { GateAddress, SocketReport, WorkloadInput } from '@dinodns-bench/load';
import type { Endpoint } from '../dns/endpoint.ts';
import { BenchError } from '../errors.ts';
import type { LoadResult, Observation, Transport } from '../results/record.ts';
import type { Gate, GateClock, LoadWindow } from './gate/gate.ts';

/** The rate at which an open loop goes on. */
export interface LaterRate {
  readonly ratePerSecond: number;
  /** A multiple of `STEP_SECONDS`, as is the duration before it. */
  readonly seconds: number;
}

/** The rates of an open loop change after a multiple of this. */
export const STEP_SECONDS = 0.25;

/** The built-in loader's shortest interval. It reports up to some milliseconds after the end of one. */
export const SHORTEST_INTERVAL_SECONDS = 0.05;

export interface LoadRequest {
  readonly endpoint: Endpoint;
  readonly transport: Transport;
  /** Path of the query file (dnsperf's format: a name and a type on each line). */
  readonly queryFile: string;
  /** What only the built-in loader can send, instead of the query file; null: the file. */
  readonly source: WorkloadInput | null;
  /** Queries have an OPT record with the DO bit (RFC 3225). */
  readonly dnssecOk: boolean;
  readonly durationSeconds: number;
  /** Queries per second over all clients; null for no limit but the window of outstanding queries. */
  readonly ratePerSecond: number | null;
  /** Send on schedule at that rate, whether or not answers arrive. Only the built-in loader can. */
  readonly openLoop: boolean;
  /** In an open loop: another rate right after it, without a pause; for the built-in loader. Default: none. */
  readonly after?: LaterRate;
  /** How finely the built-in loader tells what happened. Default: as the duration allows, or 0.05 s with `after`; not by socket. */
  readonly detail?: LoadDetail;
  /** Sockets, each with its own source port. */
  readonly clients: number;
  readonly threads: number;
  /** Queries in flight over all clients. */
  readonly outstanding: number;
  /** CPU request and limit on a cluster, as a quantity. Default: that of the run's settings. */
  readonly cpu?: string;
  /** On a cluster: the node to send from. Default: where the settings and the scheduler place the loader. */
  readonly onNode?: string;
  /** A query without an answer after this time is lost. */
  readonly timeoutSeconds: number;
  /** Where it waits for the other loaders of the case before its first query; absent if it is alone. */
  readonly gate?: GateAddress;
  /** File that receives the loader's raw output. */
  readonly outputFile: string;
  /** Called once, just before the first queries are sent: reading a large query file takes seconds. */
  readonly onStarted: () => void;
  /** Called once a second or more often with the rate of the last interval. */
  readonly onProgress: (qps: number) => void;
  readonly signal: AbortSignal;
}

export interface LoadDetail {
  /** At least `SHORTEST_INTERVAL_SECONDS`. */
  readonly intervalSeconds: number;
  /**
   * Counts by socket, and lists the times of at least this length in which one waited for an answer with one of these codes, or, null, any.
   * Default: not by socket.
   */
  readonly sockets?: { readonly gapSeconds: number; readonly codes: readonly number[] | null };
  /** Counts answers as stale whose stamped address says that they are older (`stampOf` of the upstream). Default: none. */
  readonly maxAgeSeconds?: number;
}

/** What a load generator counts of its own side; null for what it does not tell. */
export interface LoaderCounts {
  /** Answers for which its own sockets had no room. */
  readonly bufferDrops: number | null;
  /** Datagrams that the kernel refused to send. */
  readonly sendErrors: number | null;
  /** Answers that came after the time-out. */
  readonly late: number;
  /** Other messages that it read and that answered nothing: repeated, foreign or damaged. */
  readonly strays: number;
}

/** What happened in one interval of a load. */
export interface LoadInterval {
  /** Its end, from the first query. */
  readonly atSeconds: number;
  readonly sent: number;
  readonly answered: number;
  /** Given up in it: they were sent a time-out before. */
  readonly lost: number;
}

/** What the built-in loader tells of an interval besides. */
export interface DetailedInterval extends LoadInterval {
  /** ICMP errors: most say that nothing listens. Their queries are lost as well, a time-out later. */
  readonly refused: number;
  /** Its answers by response code. */
  readonly codes: Readonly<Record<string, number>>;
  /** The longest latency of its answers; null without any. */
  readonly slowestSeconds: number | null;
  /** When its first and last answer without an error came, from the first query; null without any. */
  readonly goodSeconds: { readonly first: number; readonly last: number } | null;
}

export interface LoadOutcome {
  readonly result: LoadResult;
  /** The loader's own CPU and memory. Null if they could not be observed. */
  readonly observation: Observation | null;
  readonly command: readonly string[];
  /**
   * Whether the loader reports that it, not the server, was the limit. Null where it cannot tell; its CPU use decides
   * then.
   */
  readonly wasTheLimit: boolean | null;
  /** From the built-in loader. */
  readonly timeline?: readonly DetailedInterval[];
  /** From the built-in loader, where asked for. */
  readonly sockets?: readonly SocketReport[];
  /** Answers; from the built-in loader, where asked for. */
  readonly stale?: number;
  /**
   * How late its latest query left. From the built-in loader, of a load on schedule in which every query left and no answer was dropped at
   * its own sockets.
   */
  readonly latestSeconds?: number;
  /** For the explanation of losses. */
  readonly counts?: LoaderCounts;
  /** On a cluster: the node on which the loader ran. */
  readonly node?: string;
  /** Among several loaders: when it sent. Absent if that is not known. */
  readonly window?: LoadWindow;
  /** Among several loaders: the clock of its machine. */
  readonly clock?: GateClock;
}

/** Several loaders that will start together. */
export interface GateRequest {
  readonly loaders: number;
  /** How long they run, at most, once all have started. */
  readonly runSeconds: number;
  readonly signal: AbortSignal;
}

/** One of several loads that followed each other. */
export interface LoadTurn {
  /** When its program was started, since that of the first was. Null where its place does not say. */
  readonly atSeconds: number | null;
  /** `E_LOADER_FAILED` if it gave no result, or was omitted. */
  readonly ended: LoadOutcome | BenchError;
}

export interface Loader {
  readonly kind: 'dnsperf' | 'builtin';
  readonly version: string;
  /** Rejects with `E_LOADER_FAILED` (its last lines as evidence) if it gives no result. */
  load(request: LoadRequest): Promise<LoadOutcome>;
  /**
   * Runs loads one after the other in one place, without a pause but for the starts of their programs. They have the same
   * query file and signal, and no gate. A load that fails, or gets no answer, is no obstacle to those of other servers; the
   * rest for its server is omitted. Absent where a load starts as quickly by itself.
   */
  loadInTurn?(requests: readonly LoadRequest[]): Promise<readonly LoadTurn[]>;
  /** Opens a gate at a place that all loaders reach. */
  openGate(request: GateRequest): Promise<Gate>;
}

/** What a load generator printed, and how it ended. */
export interface ProgramOutput {
  readonly lines: readonly string[];
  /** Null where a signal ended it, or Kubernetes does not say. */
  readonly exitCode: number | null;
  /** How and where it ended, for errors: `(exit status 1) in pod load-1`. */
  readonly end: string;
}

/** What differs from one load generator to another, wherever it runs. */
export interface LoaderProgram {
  readonly kind: Loader['kind'];
  /** In errors. */
  readonly title: string;
  /** Takes a line as it comes, for the request's events. */
  hear(line: string, request: LoadRequest): void;
  /** @throws BenchError `E_LOADER_FAILED` if the output holds no result. */
  outcomeOf(output: ProgramOutput): Omit<LoadOutcome, 'observation' | 'command'>;
}

/** The error of a load generator that ended without a result. */
export function withoutResult(
  { title }: LoaderProgram,
  { end }: ProgramOutput,
  said: readonly string[],
): BenchError {
  return new BenchError('E_LOADER_FAILED', `${title} failed ${end}`, {
    evidence: said.slice(-10),
    fix: 'Its message is above; the whole output is in the run folder under raw/.',
  });
}

/** Linux takes at most 32 pages in one argument, with the zero byte at its end (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

export function fitsInArgument(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES;
}

/** A trial is divided into about as many intervals: two levels of three can be told apart, and a chart has a shape. */
const MIN_INTERVALS = 8;
const INTERVALS_SECONDS = [1, 0.5] as const;
/** Below, the periods of a CPU quota (0.1 s) would make rates of neighbouring intervals differ. */
const SHORTEST_SECONDS = 0.25;

/** Seconds: 1 for a load of 8 s or more, 0.5 from 4 s, else 0.25. */
export function reportIntervalSeconds(durationSeconds: number): number {
  return (
    INTERVALS_SECONDS.find((interval) => durationSeconds / interval >= MIN_INTERVALS) ?? SHORTEST_SECONDS
  );
}
