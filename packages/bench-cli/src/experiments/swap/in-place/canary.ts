/** Watches a client of the cluster's DNS during a swap, and says when too much is lost. */
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';
import { parseLine } from '../../../process.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { runOnce } from '../../../targets/kubernetes/run-job.ts';
import type { CanaryFigures } from '../evidence.ts';
import {
  CANARY_RATE,
  CANARY_TIMEOUT_SECONDS,
  type CanarySecond,
  countSeconds,
  losingSeconds,
  MAX_LOSING_SECONDS,
} from './canary-count.ts';

/** A name that every cluster has. */
const NAME = 'kubernetes.default.svc.cluster.local';

/** After this, a query that was sent is answered or lost, and that has been reported. */
const SETTLE_SECONDS = CANARY_TIMEOUT_SECONDS + 1;

const eventSchema = z.object({ event: z.literal('second'), sent: z.number(), lost: z.number() });

export interface Canary {
  /** Aborted with a BenchError: `E_QUERIES_LOST` when too much is lost, `E_LOADER_FAILED` when nothing is heard of it. */
  readonly signal: AbortSignal;
  /** Where it asks from: through a Service that prefers the pods of the client's node, it sees those alone. */
  readonly node: string;
  /** Starts a new count; returns the last one. Queries of the last seconds may still be unanswered: they count later. */
  take(): CanaryFigures;
  /** The same once the fate of all queries sent so far is known, which takes some seconds. */
  takeSettled(signal: AbortSignal): Promise<CanaryFigures>;
  stop(): Promise<void>;
}

const PROGRAM = new URL('./canary-program.mjs', import.meta.url);
/** It reports each second, and the API server may be away for a while. */
const MAX_SILENT_SECONDS = 90;

function tooMuchLost(seconds: readonly CanarySecond[]): BenchError {
  const { sent, lost } = countSeconds(seconds.slice(-MAX_LOSING_SECONDS));
  return new BenchError(
    'E_QUERIES_LOST',
    `clients of the cluster's DNS lose queries: ${lost} of ${sent} in the last ${MAX_LOSING_SECONDS} seconds`,
    {
      fix: 'The image was put back. Try that version beside the DNS first (without --method); `bench swap canary` shows what an ordinary rolling update loses.',
    },
  );
}

export interface CanaryRequest {
  /** Of the Service. */
  readonly address: string;
  /** How long it may run. */
  readonly runSeconds: number;
  /** Ends the wait for its start; from then on, it goes on after Ctrl-C, while the DNS is put back. */
  readonly signal: AbortSignal;
  /** Ends it whenever it is aborted. */
  readonly until: AbortSignal;
}

/** Resolves when the first second was heard. */
export async function openCanary(
  run: ClusterRun,
  { address, runSeconds, signal, until }: CanaryRequest,
): Promise<Canary> {
  const { settings, world, images } = run;
  const stop = new AbortController();
  const failed = new AbortController();
  const heard = Promise.withResolvers<void>();
  const all: CanarySecond[] = [];
  let node = 'unknown';
  let taken = 0;
  let lastHeard = world.clock.monotonicSeconds();

  const hear = (line: string) => {
    const second = parseLine(eventSchema, line);
    if (second === null) return;
    lastHeard = world.clock.monotonicSeconds();
    all.push(second);
    heard.resolve();
    if (losingSeconds(all) >= MAX_LOSING_SECONDS) failed.abort(tooMuchLost(all));
  };
  const fail = (cause: unknown) => {
    if (stop.signal.aborted) return;
    // Its pod may just have been evicted: that says nothing about the DNS.
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    const error = new BenchError('E_LOADER_FAILED', `the canary cannot be heard any more${why}`, {
      fix: 'The image was put back. Repeat the swap.',
      cause,
    });
    failed.abort(error);
    heard.reject(cause instanceof BenchError ? cause : error);
  };
  const cancel = world.clock.every(5, () => {
    if (
      world.clock.monotonicSeconds() - lastHeard >
      MAX_SILENT_SECONDS + settings.readyTime * (all.length === 0 ? 1 : 0)
    )
      fail(undefined);
  });
  signal.throwIfAborted();
  const running = runOnce(run, {
    ...{ name: 'canary', label: 'canary', image: images.checker, what: 'the canary' },
    program: PROGRAM,
    env: { SERVER: address, RATE: String(CANARY_RATE), NAME, TIMEOUT: String(CANARY_TIMEOUT_SECONDS) },
    resources: { requests: { cpu: '50m' } },
    runSeconds,
    signal: AbortSignal.any([until, stop.signal]),
    onStart: ({ spec }) => {
      node = spec?.nodeName ?? node;
    },
    onLine: hear,
  }).then(() => fail(undefined), fail);
  const end = async () => {
    cancel();
    stop.abort(new Error('the canary is no longer needed'));
    await running;
  };
  signal.addEventListener('abort', () => heard.reject(signal.reason), { once: true });
  try {
    await heard.promise;
  } catch (error) {
    await end();
    throw error;
  }
  const take = () => {
    const count = countSeconds(all.slice(taken));
    taken = all.length;
    return count;
  };
  return {
    signal: failed.signal,
    node,
    take,
    async takeSettled(over) {
      await world.clock.sleep(SETTLE_SECONDS, over);
      return take();
    },
    stop: end,
  };
}
