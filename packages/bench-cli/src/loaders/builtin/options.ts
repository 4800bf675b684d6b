/** A load request as options of the load generator. Pure. */
import type { CannonInput } from '@dinodns-bench/load';
import {
  fitsInArgument,
  type LoadRequest,
  reportIntervalSeconds,
  SHORTEST_INTERVAL_SECONDS,
  STEP_SECONDS,
} from '../loader.ts';

/**
 * For the generator's Node.js: no V8 threads, which would take CPU time from the sender or the server under test;
 * and fewer garbage collections, at the cost of some memory.
 */
export const GENERATOR_NODE_FLAGS: readonly string[] = ['--single-threaded', '--min-semi-space-size=16'];

/**
 * Queries that leave as one message arrive together, which may make a server look cheaper: Knot DNS by 1 to 2 % of its CPU
 * time per query, others not (packages/load/README.md, "Does segmentation make servers look cheaper?").
 */
export const SEGMENTATION = 'off';

/** The load's options, and whether they fit in an argument: the lookups of many names do not. */
export function driverOptions(request: LoadRequest): { readonly json: string; readonly fits: boolean } {
  const json = JSON.stringify(builtinOptions(request));
  return { json, fits: fitsInArgument(json) };
}

/** Arguments of the generator's driver. `options` is JSON, or `@` and the path of a file that holds it. */
export function driverArguments(options: string, { gate }: LoadRequest): string[] {
  return [options, ...(gate === undefined ? [] : [JSON.stringify(gate)])];
}

/** When queries are sent. */
function loadOf(request: LoadRequest): CannonInput['load'] {
  const { source, openLoop, ratePerSecond, outstanding, after } = request;
  if (source?.kind === 'pcap') return { kind: 'timed' };
  if (openLoop && ratePerSecond !== null && after !== undefined) {
    const steps = (seconds: number, rate: number) =>
      new Array<number>(Math.round(seconds / STEP_SECONDS)).fill(rate);
    return {
      kind: 'steps',
      rates: [...steps(request.durationSeconds, ratePerSecond), ...steps(after.seconds, after.ratePerSecond)],
    };
  }
  if (openLoop && ratePerSecond !== null) return { kind: 'constant', rate: ratePerSecond };
  return { kind: 'closed', outstanding, maxRate: ratePerSecond };
}

/**
 * A closed loop like dnsperf's, with a window of outstanding queries and at most the given rate; or an open loop:
 * queries are sent on schedule whether or not answers arrive, and latency counts from the time a query was due,
 * so a stall of the server is not hidden by queries that were never sent (coordinated omission).
 */
export function builtinOptions(request: LoadRequest): CannonInput {
  const { endpoint, source, detail: { sockets, maxAgeSeconds } = {} } = request;
  const host = endpoint.address.includes(':') ? `[${endpoint.address}]` : endpoint.address;
  return {
    server: `${host}:${endpoint.port}`,
    transport: request.transport,
    workload: source ?? { kind: 'file', path: request.queryFile },
    load: loadOf(request),
    ...(request.dnssecOk ? { message: { dnssec: true } } : {}),
    durationSeconds: request.durationSeconds + (request.after?.seconds ?? 0),
    intervalSeconds:
      request.detail?.intervalSeconds ??
      (request.after === undefined
        ? reportIntervalSeconds(request.durationSeconds)
        : SHORTEST_INTERVAL_SECONDS),
    ...(sockets === undefined ? {} : { sockets }),
    ...(maxAgeSeconds === undefined ? {} : { expect: { maxAgeSeconds } }),
    workers: request.threads,
    clients: request.clients,
    timeoutSeconds: request.timeoutSeconds,
    segmentation: SEGMENTATION,
    ...(endpoint.trust === undefined
      ? {}
      : { stream: { serverName: endpoint.trust.serverName, caFile: endpoint.trust.authorityFile } }),
  };
}
