/** One placement beside the cluster's DNS: a fresh Deployment of one version, measured and removed. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { CONTAINER } from '../../../targets/kubernetes/objects/pods.ts';
import { waitForPods, waitUntilGone } from '../../../targets/kubernetes/wait-for-pods.ts';
import type { Side, SwapEvidence } from '../evidence.ts';
import type { DnsWorkload } from '../in-place/find-workload.ts';
import { demandSamePods, measureAll, numberOf, type PhasesRequest } from '../in-place/placements.ts';
import { podVersions } from '../in-place/pod-versions.ts';
import type { SwapPlan } from '../plan.ts';
import { demandRate } from '../rate-probe.ts';
import { type CopyObjects, copyObjects } from './objects.ts';
import type { CopyPlan } from './plan-copy.ts';

export interface ShadowPlacementRequest extends PhasesRequest {
  readonly plan: SwapPlan;
  readonly copy: CopyPlan;
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
  { run, copy, signal }: ShadowPlacementRequest,
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
    pods: copy.replicas,
    until: 'ready',
    seconds: settings.readyTime,
    scheduleSeconds: settings.scheduleTime,
  });
  const image = objects.deployment.spec?.template.spec?.containers[0]?.image ?? '';
  const own = { namespace, kind: 'Deployment' as const, name, labels, image, container: CONTAINER };
  const workload = { ...copy.workload, ...own, sidecars: {}, service: { name, address } };
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
  const { run, plan, copy } = request;
  const image = plan.images[side];
  const objects = copyObjects(run, copy, image, unit);
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

export async function shadowPlacement(
  request: ShadowPlacementRequest,
  planned: PlannedTrial,
  side: Side,
): Promise<SwapEvidence> {
  const { run, plan, knownVersions, signal } = request;
  const unit = `dns-${side.toLowerCase()}-${numberOf(planned)}`;
  return withCopy(request, side, unit, async ({ workload, pods: before, labels, startSeconds }) => {
    const pods = await podVersions(run.client, workload, before, knownVersions, signal);
    const phases = await measureAll(request, planned, { workload, pods: before }, signal);
    demandSamePods(pods, before, await podsNow(request, labels));
    const image = plan.images[side];
    return { side, image, rolloutSeconds: startSeconds, rolloutCanary: null, canary: null, pods, phases };
  });
}
