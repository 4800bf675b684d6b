/**
 * A loader sends queries. It turns an endpoint, a query file and limits into a load result, and knows nothing about
 * servers and cases.
 */

import type { GateAddress, WorkloadInput } from '@dinodns-bench/load';
import type { Endpoint } from '../dns/endpoint.ts';
import type { LoadResult, Observation, Transport } from '../results/record.ts';
import type { Gate, LoadWindow } from './gate/gate.ts';

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
  /** Sockets, each with its own source port. */
  readonly clients: number;
  readonly threads: number;
  /** Queries in flight over all clients. */
  readonly outstanding: number;
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
  /** On a cluster: the node on which the loader ran. */
  readonly node?: string;
  /** Among several loaders: when it sent. Absent if that is not known. */
  readonly window?: LoadWindow;
}

/** Several loaders that will start together. */
export interface GateRequest {
  readonly loaders: number;
  /** How long they run, at most, once all have started. */
  readonly runSeconds: number;
  readonly signal: AbortSignal;
}

export interface Loader {
  readonly kind: 'dnsperf' | 'builtin';
  readonly version: string;
  /** Rejects with `E_LOADER_FAILED` (its last lines as evidence) if it gives no result. */
  load(request: LoadRequest): Promise<LoadOutcome>;
  /** Opens a gate at a place that all loaders reach. */
  openGate(request: GateRequest): Promise<Gate>;
}
