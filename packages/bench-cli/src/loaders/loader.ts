/**
 * What sends queries. A loader turns an endpoint, a query file and limits into a load result; it knows
 * nothing of servers and cases.
 */

import type { Endpoint } from '../dns/endpoint.ts';
import type { LoadResult, Observation, Transport } from '../results/record.ts';

export interface LoadRequest {
  readonly endpoint: Endpoint;
  readonly transport: Transport;
  /** Path of the query file (dnsperf's format: a name and a type on each line). */
  readonly queryFile: string;
  readonly durationSeconds: number;
  /** Queries per second over all clients; null for as many as the window of outstanding queries allows. */
  readonly ratePerSecond: number | null;
  /** Send on schedule at that rate, whether answers come or not. Only the built-in loader can. */
  readonly openLoop: boolean;
  /** Sockets, each with a source port of its own. */
  readonly clients: number;
  readonly threads: number;
  /** Queries in flight over all clients. */
  readonly outstanding: number;
  /** A query unanswered for so long is lost. */
  readonly timeoutSeconds: number;
  /** File that receives the loader's raw output. */
  readonly outputFile: string;
  /** Called once, when the first queries are about to leave: reading a large query file takes seconds. */
  readonly onStarted: () => void;
  /** Called about once a second with the rate of the last interval. */
  readonly onProgress: (qps: number) => void;
  readonly signal: AbortSignal;
}

export interface LoadOutcome {
  readonly result: LoadResult;
  /** The loader's own CPU and memory. Null if they could not be observed. */
  readonly observation: Observation | null;
  readonly command: readonly string[];
  /**
   * Whether the loader says of itself that it, not the server, decided the result. Null where it cannot tell: then
   * its CPU does.
   */
  readonly wasTheLimit: boolean | null;
  /** On a cluster: the node on which the loader ran. */
  readonly node?: string;
}

export interface Loader {
  readonly kind: 'dnsperf' | 'builtin';
  readonly version: string;
  /** Rejects with `E_LOADER_FAILED` (its last lines as evidence) if it does not deliver a result. */
  load(request: LoadRequest): Promise<LoadOutcome>;
}
