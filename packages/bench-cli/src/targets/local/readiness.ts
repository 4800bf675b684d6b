/** Waits until a server that was just started answers; ends early if it exits. */
import { createDnsClient, type DnsClient, type DnsQuery, DnsQueryError } from '../../dns/client.ts';
import type { Endpoint } from '../../dns/endpoint.ts';
import type { Exit, RunningProcess } from '../../process.ts';
import type { Transport } from '../../results/record.ts';
import type { Readiness } from '../../servers/server.ts';
import type { World } from '../../world.ts';
import { parseReadyLine } from '../ready-line.ts';

/** None of the servers takes this long for a few zones. */
const READY_WITHIN_SECONDS = 30;

/** Knot DNS under a limit of one CPU loads a few thousand zones in a second, each from a file of its own. */
const MIN_ZONES_PER_CPU_SECOND = 1000;

/**
 * Some servers answer with an error before their zones are loaded. When the error has lasted this long, the
 * server counts as ready, and the answer check says what is wrong with it.
 */
const LOADED_WITHIN_SECONDS = 5;

const PROBE_TIMEOUT_SECONDS = 0.25;
const PROBE_PAUSE_SECONDS = 0.02;

export interface ReadinessRequest {
  readonly readiness: Readiness;
  readonly endpoint: Endpoint;
  readonly transport: Transport;
  /** Zones that the server must load: the time limit grows with them. */
  readonly zones: number;
  /** CPUs that it may use: below one, it loads them more slowly. */
  readonly cpus: number;
  /** Names that exist; asked one after the other under readiness kind `answer`. */
  readonly queries: readonly DnsQuery[];
  readonly process: RunningProcess;
  /** The line that says it is ready, once there is one: see `isReadyLine`. */
  readonly readyLine: Promise<string>;
  readonly signal: AbortSignal;
}

export interface Ready {
  /** Threads or processes that answer, if the server said so. */
  readonly workers: number | null;
}

/** `isLate`: it runs, but was not ready in time. */
export type ReadinessOutcome = Ready | { readonly problem: string; readonly isLate?: true };

function exitProblem(exit: Exit): string {
  return exit.signal === null
    ? `it ended with exit status ${exit.code} before it was ready`
    : `it was ended by ${exit.signal} before it was ready`;
}

function readyBy(line: string): ReadinessOutcome {
  const problem = `its first line was not {"ready":true,…} but: ${line.slice(0, 200)}`;
  return parseReadyLine(line) ?? { problem };
}

function loadingSeconds({ zones, cpus, readiness }: ReadinessRequest): number {
  const more = readiness.kind === 'answer' ? (readiness.loadSeconds ?? 0) : 0;
  return zones / (MIN_ZONES_PER_CPU_SECOND * Math.min(1, cpus)) + more;
}

/** True for a code that a server gives for a name of a zone that it has not loaded yet. */
function mayStillLoad(responseCode: string): boolean {
  return responseCode === 'SERVFAIL' || responseCode === 'REFUSED' || responseCode === 'NOTAUTH';
}

async function askUntilAnswered(
  world: World,
  client: DnsClient,
  query: DnsQuery,
  loadedWithinSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  let firstAnswerAt: number | undefined;
  for (;;) {
    try {
      const { responseCode } = await client.ask(query, { timeoutSeconds: PROBE_TIMEOUT_SECONDS, signal });
      const now = world.clock.monotonicSeconds();
      firstAnswerAt ??= now;
      if (!mayStillLoad(responseCode) || now - firstAnswerAt > loadedWithinSeconds) return;
    } catch (error) {
      if (!(error instanceof DnsQueryError)) throw error;
      // Something answers, if badly. The answer check says how badly.
      if (error.failure === 'undecodable') return;
    }
    await world.clock.sleep(PROBE_PAUSE_SECONDS, signal);
  }
}

async function askAll(world: World, request: ReadinessRequest, signal: AbortSignal): Promise<Ready> {
  const client = createDnsClient(request.endpoint, request.transport, world.clock);
  const loadedWithinSeconds = LOADED_WITHIN_SECONDS + loadingSeconds(request);
  try {
    for (const query of request.queries) {
      await askUntilAnswered(world, client, query, loadedWithinSeconds, signal);
    }
    return { workers: null };
  } finally {
    client.close();
  }
}

/** Whether a line of output may say that the server is ready. */
export function isReadyLine(readiness: Readiness, stream: 'stdout' | 'stderr', line: string): boolean {
  switch (readiness.kind) {
    case 'stdout-json':
      return stream === 'stdout';
    case 'line':
      return line.includes(readiness.text);
    case 'answer':
      return false;
  }
}

function untilReady(world: World, request: ReadinessRequest, signal: AbortSignal): Promise<ReadinessOutcome> {
  switch (request.readiness.kind) {
    case 'stdout-json':
      return request.readyLine.then(readyBy);
    case 'line':
      return request.readyLine.then(() => ({ workers: null }));
    case 'answer':
      return askAll(world, request, signal);
  }
}

/** What did not happen in time. */
function lateProblem({ readiness }: ReadinessRequest, seconds: number): string {
  return readiness.kind === 'line'
    ? `it did not print a line with "${readiness.text}" within ${seconds} seconds`
    : `it did not answer within ${seconds} seconds`;
}

/** Resolves with what is known of the ready server, or with the problem. Rejects only with the signal's reason. */
export async function waitUntilReady(world: World, request: ReadinessRequest): Promise<ReadinessOutcome> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, request.signal]);
  const ready = untilReady(world, request, signal);
  const seconds = Math.ceil(READY_WITHIN_SECONDS + loadingSeconds(request));
  const late = world.clock
    .sleep(seconds, signal)
    .then(() => ({ problem: lateProblem(request, seconds), isLate: true as const }));
  const ended = request.process.exited.then((exit) => ({ problem: exitProblem(exit) }));
  try {
    return await Promise.race([ready, late, ended]);
  } finally {
    stop.abort(new Error('the wait is over'));
    await Promise.allSettled(request.readiness.kind === 'answer' ? [ready, late] : [late]);
  }
}
