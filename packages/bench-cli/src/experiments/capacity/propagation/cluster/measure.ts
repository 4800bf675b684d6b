/** One start of a private CoreDNS on a cluster: in its pod, Services are created and asked for until they resolve. */
import { BenchError } from '../../../../errors.ts';
import type { KubeClient } from '../../../../kubernetes-api/client.ts';
import { unitSelector } from '../../../../targets/kubernetes/objects/labels.ts';
import type { ConfigMapMount } from '../../../../targets/kubernetes/objects/pods.ts';
import { runJob } from '../../../../targets/kubernetes/run-job.ts';
import { type DnsPodRequest, dnsPodJob } from '../../cluster/dns-job.ts';
import { SERVICE_LABELS } from '../../cluster/synthetic-objects.ts';
import { failureOf } from '../../deploy-coredns.ts';
import type { PropagationStart } from '../plan.ts';
import type { PropagationCase, PropagationTrial } from '../propagation-record.ts';
import type { PropagationSettings } from '../settings.ts';
import { type ClusterFigures, readPropagation } from './lines.ts';

export interface ClusterStartContext
  extends Pick<
    DnsPodRequest,
    'settings' | 'namespace' | 'runId' | 'corednsImage' | 'observerImage' | 'pullSecrets'
  > {
  readonly client: KubeClient;
  /** Of the configuration of the start. */
  readonly mount: ConfigMapMount;
  readonly measurement: Pick<PropagationSettings, 'services' | 'poll' | 'timeout'>;
  onPhase(key: string, phase: string): void;
  /** Called with each trial the moment it ends. */
  onTrial(trial: PropagationTrial): Promise<void>;
  readonly signal: AbortSignal;
}

/** A Service takes 0.2 s and what the API server needs; getting ready may take two minutes. */
const SECONDS_PER_SERVICE = 2;
const SECONDS_BESIDE = 300;

function runSecondsOf({ measurement: { services, timeout } }: ClusterStartContext, rates: number): number {
  return SECONDS_BESIDE + rates * (services * SECONDS_PER_SERVICE + timeout);
}

function jobOf(context: ClusterStartContext, { round, cases }: PropagationStart, unit: string) {
  const { measurement, settings } = context;
  const { services, poll, timeout } = measurement;
  return dnsPodJob(
    {
      ...context,
      unit,
      memory: null,
      deadlineSeconds: settings.readyTime + runSecondsOf(context, cases.length),
    },
    {
      entry: 'propagation.mjs',
      env: {
        CHURN: cases.map(({ churnPerSecond }) => churnPerSecond).join(','),
        SERVICES: String(services),
        POLL_MS: String(poll),
        TIMEOUT_SECONDS: String(timeout),
        PREFIX: `round-${round + 1}`,
        LABELS: JSON.stringify(SERVICE_LABELS),
      },
    },
  );
}

/**
 * Measures all cases of the start. What fails is a failed trial of each case that is left.
 * @throws BenchError `E_CLUSTER_REFUSED` if the API server got slow: nothing more is asked of it; the signal's reason
 */
export async function measureClusterStart(
  context: ClusterStartContext,
  start: PropagationStart,
  now: () => Date,
): Promise<void> {
  const { client, namespace, runId, settings, measurement, signal } = context;
  const { key, round, cases } = start;
  const unit = `round-${round + 1}`;
  const left = [...cases];
  const saving: Promise<void>[] = [];
  let startedAt = now().toISOString();
  const headOf = (item: PropagationCase) => ({ case: item.key, round, startedAt });
  const onRate = (figures: ClusterFigures) => {
    const item = left.shift();
    if (item !== undefined) saving.push(context.onTrial({ ...headOf(item), status: 'ok', ...figures }));
    startedAt = now().toISOString();
  };
  const reader = readPropagation(
    (done) => context.onPhase(key, `${done} of ${measurement.services} Services`),
    onRate,
  );
  context.onPhase(key, 'starting');
  try {
    await runJob({
      client,
      namespace,
      labels: unitSelector(runId, unit),
      what: 'the private CoreDNS',
      signal,
      job: jobOf(context, start, unit),
      scheduleSeconds: settings.scheduleTime,
      startSeconds: settings.readyTime,
      runSeconds: runSecondsOf(context, cases.length),
      onLine: reader.onLine,
    });
    reader.demandComplete();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BenchError && error.code === 'E_CLUSTER_REFUSED') throw error;
    const failure = failureOf(error);
    for (const item of left) await context.onTrial({ ...headOf(item), status: 'failed', failure });
  } finally {
    await Promise.all(saving);
  }
}
