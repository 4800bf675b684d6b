/** Watches a client of the cluster's DNS during a swap, and says when too much is lost. */
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { configMapOf } from '../../../targets/kubernetes/objects/config-map.ts';
import { jobOf } from '../../../targets/kubernetes/objects/job.ts';
import { unitLabels, unitSelector } from '../../../targets/kubernetes/objects/labels.ts';
import { runJob } from '../../../targets/kubernetes/run-job.ts';

/** Enough to see 1 % within some seconds; nothing for a DNS server. */
const RATE = 20;
/** A query without an answer after this is lost; resolvers ask again after 5 s. */
const TIMEOUT_SECONDS = 2;
/** A name that every cluster has. */
const NAME = 'kubernetes.default.svc.cluster.local';

export const MAX_LOST_RATIO = 0.01;
/** The share is that of so many seconds: one query of 60 lost is more than 1 %. */
export const WINDOW_SECONDS = 3;
/** So long the share may be larger: a rolling update with one replica loses queries for some seconds, too. */
export const MAX_LOSING_SECONDS = 10;

export interface CanarySecond {
  readonly sent: number;
  readonly lost: number;
}

/** What a client saw over some time. */
export interface CanaryCount extends CanarySecond {
  readonly seconds: number;
  /** In a row with losses. */
  readonly longestLossSeconds: number;
}

/** Sums up seconds. Pure. */
export function countSeconds(seconds: readonly CanarySecond[]): CanaryCount {
  let run = 0;
  let longest = 0;
  for (const { lost } of seconds) {
    run = lost > 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  const sum = (field: keyof CanarySecond) => seconds.reduce((total, second) => total + second[field], 0);
  return { seconds: seconds.length, sent: sum('sent'), lost: sum('lost'), longestLossSeconds: longest };
}

/** Seconds in a row, up to now, in which the share of lost queries was too large. Pure. */
export function losingSeconds(seconds: readonly CanarySecond[]): number {
  let run = 0;
  for (let end = seconds.length; end > 0; end -= 1) {
    const { sent, lost } = countSeconds(seconds.slice(Math.max(0, end - WINDOW_SECONDS), end));
    if (lost <= sent * MAX_LOST_RATIO) break;
    run += 1;
  }
  return run;
}

const eventSchema = z.object({ event: z.literal('second'), sent: z.number(), lost: z.number() });

export interface Canary {
  /** Aborted with a BenchError `E_QUERIES_LOST` when too much is lost, or when nothing is heard of it. */
  readonly signal: AbortSignal;
  /** Starts a new count; resolves with the last one. */
  take(): CanaryCount;
  stop(): Promise<void>;
}

const DIRECTORY = '/canary';
const PROGRAM = 'canary-program.mjs';
/** It reports each second, and the API server may be away for a while. */
const MAX_SILENT_SECONDS = 90;

function tooMuchLost(seconds: readonly CanarySecond[]): BenchError {
  const { sent, lost } = countSeconds(seconds.slice(-MAX_LOSING_SECONDS));
  return new BenchError(
    'E_QUERIES_LOST',
    `clients of the cluster's DNS lose queries: ${lost} of ${sent} in the last ${MAX_LOSING_SECONDS} seconds`,
    { fix: 'The image was put back. Look at the log of the new pods: `kubectl logs`.' },
  );
}

/** Resolves when the first second was heard. */
export async function openCanary(
  run: ClusterRun,
  {
    image,
    address,
    runSeconds,
    signal,
  }: { image: string; address: string; runSeconds: number; signal: AbortSignal },
): Promise<Canary> {
  const { client, namespace, runId, settings, pullSecrets, world } = run;
  const unit = 'canary';
  const labels = unitLabels(runId, 'canary', unit);
  const text = await world.fs.readFile(new URL(`./${PROGRAM}`, import.meta.url), 'utf8');
  const files = [{ path: PROGRAM, chunks: [text] }];
  const { object, mount } = configMapOf({ name: unit, namespace, labels }, 'the canary', files);
  await client.create('ConfigMap', object, signal);
  const stop = new AbortController();
  const failed = new AbortController();
  const heard = Promise.withResolvers<void>();
  const all: CanarySecond[] = [];
  let taken = 0;
  let lastHeard = world.clock.monotonicSeconds();

  const hear = (line: string) => {
    const parsed = line.startsWith('{') ? eventSchema.safeParse(JSON.parse(line)) : undefined;
    if (parsed?.data === undefined) return;
    lastHeard = world.clock.monotonicSeconds();
    all.push(parsed.data);
    heard.resolve();
    if (losingSeconds(all) >= MAX_LOSING_SECONDS) failed.abort(tooMuchLost(all));
  };
  const fail = (cause: unknown) => {
    if (stop.signal.aborted) return;
    const error = new BenchError('E_QUERIES_LOST', 'the canary cannot be heard any more', {
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
  const running = runJob({
    client,
    namespace,
    labels: unitSelector(runId, unit),
    what: 'the canary',
    signal: AbortSignal.any([signal, stop.signal]),
    job: jobOf({
      name: unit,
      namespace,
      labels,
      settings,
      component: 'canary',
      image,
      command: ['node', `${DIRECTORY}/${PROGRAM}`],
      args: [],
      env: { SERVER: address, RATE: String(RATE), NAME, TIMEOUT: String(TIMEOUT_SECONDS) },
      resources: { requests: { cpu: '50m' } },
      mounts: { [DIRECTORY]: mount },
      pullSecrets,
      deadlineSeconds: settings.readyTime + runSeconds,
    }),
    scheduleSeconds: settings.scheduleTime,
    startSeconds: settings.readyTime,
    runSeconds,
    onLine: hear,
  }).then(() => fail(undefined), fail);
  const end = async () => {
    cancel();
    stop.abort(new Error('the canary is no longer needed'));
    await running;
  };
  try {
    await heard.promise;
  } catch (error) {
    await end();
    throw error;
  }
  return {
    signal: failed.signal,
    take: () => {
      const count = countSeconds(all.slice(taken));
      taken = all.length;
      return count;
    },
    stop: end,
  };
}
