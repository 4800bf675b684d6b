/** One trial of a caching tier on a cluster. */
import type { Cluster } from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../../config/kubernetes-settings.ts';
import { BenchError } from '../../../../errors.ts';
import type { KubeClient } from '../../../../kubernetes-api/client.ts';
import { parseEvent } from '../../../../loaders/builtin/events.ts';
import { loadResultOf } from '../../../../loaders/builtin/result.ts';
import { formatCount } from '../../../../report/numbers.ts';
import { unitSelector } from '../../../../targets/kubernetes/objects/labels.ts';
import { runJob } from '../../../../targets/kubernetes/run-job.ts';
import { failureOf } from '../../deploy-coredns.ts';
import type { CaseTrial, OkCaseTrial } from '../cases-record.ts';
import { tierFiles, tierJob } from './job.ts';
import { caseLoad, type PlannedCase } from './plan.ts';
import { type TierImages, tierOf } from './tiers.ts';

export interface TierTrialContext {
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly namespace: string;
  readonly runId: string;
  readonly cluster: Cluster;
  readonly images: TierImages;
  readonly loaderImage: string;
  readonly pullSecrets: readonly string[];
  readonly durationSeconds: number;
  readonly upstreamDelaySeconds: number;
  readonly signal: AbortSignal;
}

/** The end of the load, and the pods of a slow node. */
const SECONDS_BESIDE = 60;

type DriverEnd = Extract<NonNullable<ReturnType<typeof parseEvent>>, { readonly event: 'result' | 'error' }>;

/** @throws BenchError `E_LOADER_FAILED` without figures, `E_WRONG_ANSWER` if lookups of names that exist found nothing */
export function figuresOf(end: DriverEnd | null): Omit<OkCaseTrial, 'case' | 'round' | 'load' | 'startedAt'> {
  if (end?.event !== 'result') {
    throw new BenchError('E_LOADER_FAILED', end?.message ?? 'the load generator ended without a result', {
      fix: '`kubectl get events` may say why its pod ended.',
    });
  }
  const { lookups, qps, latencySeconds, queriesLost, queriesSent } = loadResultOf(end.result, []);
  if (lookups === null || lookups.latencySeconds === null) {
    throw new BenchError('E_LOADER_FAILED', 'the load generator reported no lookups', {
      fix: 'Check that its image is of this version.',
    });
  }
  // A lookup also fails when a query of it was lost.
  const empty = lookups.failed - queriesLost;
  if (empty > 0) {
    throw new BenchError(
      'E_WRONG_ANSWER',
      `${formatCount(empty)} of ${formatCount(lookups.count)} lookups of names that exist found nothing`,
      { fix: 'Check the images, and that the servers may read the API server.' },
    );
  }
  const p99 = lookups.latencyPercentiles?.find(({ percentile }) => percentile === 99)?.seconds ?? null;
  return {
    status: 'ok',
    wantedLookupsPerSecond: null,
    queriesPerSecond: qps,
    lookupsPerSecond: lookups.perSecond,
    lookupLatencySeconds: { mean: lookups.latencySeconds.mean, p99 },
    queryLatencySeconds: latencySeconds?.mean ?? null,
    cpuCores: null,
    memoryBytes: null,
    lostRatio: queriesSent === 0 ? 0 : queriesLost / queriesSent,
    limitedBy: end.result.generator.wasTheLimit ? 'loader' : 'unknown',
    counters: {},
    // Every lookup had to find something instead.
    checkedAnswers: 0,
  };
}

async function runLoad(
  context: TierTrialContext,
  { item }: PlannedCase,
  unit: string,
): Promise<DriverEnd | null> {
  const { client, settings, namespace, runId, images, cluster, durationSeconds, signal } = context;
  const tier = tierOf(images, item);
  const files = tierFiles({ namespace, runId, name: unit, tier });
  await client.create('ConfigMap', files.object, signal);
  const load = caseLoad({ lookup: item.lookup, cluster, namespace, port: tier.port, durationSeconds });
  const runSeconds = durationSeconds + SECONDS_BESIDE;
  let end: DriverEnd | null = null;
  await runJob({
    client,
    namespace,
    labels: unitSelector(runId, unit),
    what: item.server,
    signal,
    job: tierJob({
      ...context,
      unit,
      tier,
      mount: files.mount,
      load,
      deadlineSeconds: settings.readyTime + runSeconds,
    }),
    scheduleSeconds: settings.scheduleTime,
    startSeconds: settings.readyTime,
    runSeconds,
    onLine(line) {
      const event = parseEvent(line);
      if (event?.event === 'result' || event?.event === 'error') end = event;
    },
  });
  return end;
}

/** Of the runs of a case, one: what fails is a failed trial. @throws the signal's reason */
export async function measureTier(
  context: TierTrialContext,
  planned: PlannedCase,
  unit: string,
  startedAt: string,
): Promise<CaseTrial> {
  const { item, round } = planned;
  const head = { case: item.key, round, load: 'saturation', startedAt } as const;
  try {
    return { ...head, ...figuresOf(await runLoad(context, planned, unit)) };
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...head, status: 'failed', failure: failureOf(error) };
  }
}
