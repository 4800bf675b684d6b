/** One placement beside the cluster's DNS: a fresh Deployment of one version, measured and removed. */
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../../errors.ts';
import type { Loader } from '../../../loaders/loader.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { CONTAINER } from '../../../targets/kubernetes/objects/pods.ts';
import { waitForPods, waitUntilGone } from '../../../targets/kubernetes/wait-for-pods.ts';
import type { DnsWorkload } from '../in-place/find-workload.ts';
import { type MeasuredPhase, recordedPhases } from '../in-place/measure-phase.ts';
import { failureOf, measureAll, type PhaseSettings } from '../in-place/placements.ts';
import { podVersions } from '../in-place/pod-versions.ts';
import { newPlacement } from '../new-placement.ts';
import { demandRate } from '../rate-probe.ts';
import type { Side, SwapPlacement } from '../record.ts';
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

/** A copy that runs, as a DNS workload of its own. */
interface RunningCopy {
  readonly workload: DnsWorkload;
  readonly pods: readonly V1Pod[];
  readonly labels: CopyObjects['labels'];
  /** From its creation until its pods were ready. */
  readonly startSeconds: number;
}

async function start(
  { run, plan, signal }: ShadowPlacementRequest,
  objects: CopyObjects,
  what: string,
): Promise<RunningCopy> {
  const { client, namespace, settings } = run;
  const begin = client.clock.monotonicSeconds();
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
  const workload = { ...plan.workload, ...own, sidecars: {}, service: { name, address } };
  return { workload, pods, labels, startSeconds: client.clock.monotonicSeconds() - begin };
}

async function remove({ run }: ShadowPlacementRequest, { name, labels }: CopyObjects): Promise<void> {
  const { client, namespace } = run;
  const signal = AbortSignal.timeout(REMOVAL_SECONDS * 1000);
  await client.delete('Deployment', name, namespace, signal);
  await client.delete('Service', name, namespace, signal);
  await waitUntilGone({ client, namespace, labels, what: name, signal }, GONE_SECONDS);
}

/** Starts a copy of one version, and removes it when `use` is done with it. */
async function withCopy<T>(
  request: ShadowPlacementRequest,
  side: Side,
  unit: string,
  use: (copy: RunningCopy) => Promise<T>,
): Promise<T> {
  const { run, plan, images } = request;
  const image = images[side];
  const objects = copyObjects(run, plan, image, unit);
  try {
    return await use(await start(request, objects, `${side}, ${image}`));
  } finally {
    await remove(request, objects);
  }
}

async function podsNow(
  { run, signal }: ShadowPlacementRequest,
  labels: CopyObjects['labels'],
): Promise<readonly V1Pod[]> {
  const { items } = await run.client.list('Pod', { namespace: run.namespace, labels }, signal);
  return items;
}

/** Tries the rate with the version that runs in the cluster. @throws BenchError `E_NO_RATE`. */
export function probeShadow(request: ShadowPlacementRequest): Promise<void> {
  request.say('starting a copy to try the rate');
  return withCopy(request, 'A', 'dns-probe', (copy) => demandRate({ ...request, ...copy }));
}

/** A placement that fails does not count; only what ends the run rejects. */
export async function shadowPlacement(
  request: ShadowPlacementRequest,
  index: number,
  side: Side,
): Promise<SwapPlacement> {
  const { run, images, knownVersions, signal } = request;
  const { clock } = run.client;
  const number = index + 1;
  const startedAt = clock.now().toISOString();
  const placement = newPlacement({ number, side, image: images[side], startedAt });
  try {
    await withCopy(request, side, `dns-${side.toLowerCase()}-${number}`, async (copy) => {
      const { workload, pods, labels, startSeconds } = copy;
      const versions = await podVersions(run.client, workload, pods, knownVersions, signal);
      const phases: MeasuredPhase[] = [];
      await measureAll({ ...request, workload }, index, pods, phases, signal);
      placement.rolloutSeconds = startSeconds;
      placement.pods = versions;
      placement.phases = recordedPhases(phases);
      placement.failure = failureOf(versions, pods, await podsNow(request, labels));
      placement.endedAt = clock.now().toISOString();
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof BenchError) || error.code !== 'E_LOADER_FAILED') throw error;
    placement.failure = { reason: 'failed', message: error.message };
    placement.endedAt = clock.now().toISOString();
  }
  return placement;
}
