/** One placement beside the cluster's DNS: a fresh Deployment of one version, measured and removed. */
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { Loader } from '../../../loaders/loader.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { CONTAINER } from '../../../targets/kubernetes/objects/pods.ts';
import { waitForPods, waitUntilGone } from '../../../targets/kubernetes/wait-for-pods.ts';
import type { DnsWorkload } from '../in-place/find-workload.ts';
import type { MeasuredPhase } from '../in-place/measure-phase.ts';
import { failureOf, measureAll, type PhaseSettings } from '../in-place/placements.ts';
import { podVersions } from '../in-place/pod-versions.ts';
import type { Side, SwapPlacement } from '../record.ts';
import { recordedPhases } from '../recorder.ts';
import { type CopyObjects, copyObjects } from './objects.ts';
import type { CopyPlan } from './plan-copy.ts';

export interface ShadowPlacementRequest extends PhaseSettings {
  readonly run: ClusterRun;
  readonly plan: CopyPlan;
  readonly loader: Loader;
  readonly images: Readonly<Record<Side, string>>;
  /** Versions by image ID. */
  readonly knownVersions: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Pods end within 5 seconds; a slow kubelet takes longer to report it. */
const GONE_SECONDS = 60;
const REMOVAL_SECONDS = 90;

/** Creates the copy; resolves with its Service as a DNS workload, and its pods, which are ready. */
async function start(
  { run, plan, signal }: ShadowPlacementRequest,
  objects: CopyObjects,
  what: string,
): Promise<{ workload: DnsWorkload; pods: readonly V1Pod[] }> {
  const { client, namespace, settings } = run;
  const service = await client.create('Service', objects.service, signal);
  await client.create('Deployment', objects.deployment, signal);
  const address = service.spec?.clusterIP ?? '';
  const { name, labels } = objects;
  const pods = await waitForPods({ client, namespace, labels, what, signal }, name, {
    pods: plan.replicas,
    until: 'ready',
    seconds: settings.readyTime,
    scheduleSeconds: settings.scheduleTime,
  });
  const image = objects.deployment.spec?.template.spec?.containers[0]?.image ?? '';
  const own = { namespace, kind: 'Deployment' as const, name, labels, image, container: CONTAINER };
  return { workload: { ...plan.workload, ...own, sidecars: {}, service: { name, address } }, pods };
}

async function remove({ run }: ShadowPlacementRequest, { name, labels }: CopyObjects): Promise<void> {
  const { client, namespace } = run;
  const signal = AbortSignal.timeout(REMOVAL_SECONDS * 1000);
  await client.delete('Deployment', name, namespace, signal);
  await client.delete('Service', name, namespace, signal);
  await waitUntilGone({ client, namespace, labels, what: name, signal }, GONE_SECONDS);
}

async function podsNow(
  { run, signal }: ShadowPlacementRequest,
  labels: CopyObjects['labels'],
): Promise<readonly V1Pod[]> {
  const { items } = await run.client.list('Pod', { namespace: run.namespace, labels }, signal);
  return items;
}

/** A placement that fails does not count; only what ends the run rejects. */
export async function shadowPlacement(
  request: ShadowPlacementRequest,
  index: number,
  side: Side,
): Promise<SwapPlacement> {
  const { run, plan, images, knownVersions, signal } = request;
  const { clock } = run.client;
  const image = images[side];
  const objects = copyObjects(run, plan, image, `dns-${side.toLowerCase()}-${index + 1}`);
  const startedAt = clock.now().toISOString();
  const begin = clock.monotonicSeconds();
  const common = { number: index + 1, side, image, startedAt, rolloutCanary: null, canary: null };
  try {
    const { workload, pods } = await start(request, objects, `${side}, ${image}`);
    const rolloutSeconds = clock.monotonicSeconds() - begin;
    const versions = await podVersions(run.client, workload, pods, knownVersions, signal);
    const phases: MeasuredPhase[] = [];
    await measureAll({ ...request, workload }, index, pods, phases, signal);
    return {
      ...common,
      endedAt: clock.now().toISOString(),
      rolloutSeconds,
      pods: versions,
      phases: recordedPhases(phases),
      failure: failureOf(versions, pods, await podsNow(request, objects.labels)),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof BenchError) || error.code !== 'E_LOADER_FAILED') throw error;
    const failure = { reason: 'failed' as const, message: error.message };
    const endedAt = clock.now().toISOString();
    return { ...common, endedAt, rolloutSeconds: null, pods: [], phases: [], failure };
  } finally {
    await remove(request, objects);
  }
}
