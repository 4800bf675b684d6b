/** A load request as options of the load generator. Pure. */
import type { CannonInput } from '@dinodns-bench/load';
import type { LoadRequest } from '../loader.ts';

/**
 * For the generator's Node.js: V8's threads would take CPU time from the sender, or from the server under test; and
 * fewer garbage collections between queries, for some memory.
 */
export const GENERATOR_NODE_FLAGS: readonly string[] = ['--single-threaded', '--min-semi-space-size=16'];

/**
 * A closed loop with a window of outstanding queries, and never above the rate, as dnsperf's; or an open loop:
 * queries leave on schedule whether answers come or not, and latency counts from the time a query was due, so that
 * a stall of the server is not hidden by queries that were never sent.
 */
export function builtinOptions(request: LoadRequest): CannonInput {
  const { endpoint, ratePerSecond, openLoop } = request;
  const host = endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address;
  return {
    server: `${host}:${endpoint.port}`,
    transport: request.transport,
    workload: { kind: 'file', path: request.queryFile },
    load:
      openLoop && ratePerSecond !== null
        ? { kind: 'constant', rate: ratePerSecond }
        : { kind: 'closed', outstanding: request.outstanding, maxRate: ratePerSecond },
    durationSeconds: request.durationSeconds,
    workers: request.threads,
    clients: request.clients,
    timeoutSeconds: request.timeoutSeconds,
  };
}
