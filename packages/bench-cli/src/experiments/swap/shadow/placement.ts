/** One placement beside the cluster's DNS: a fresh Deployment of one version, measured and removed. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { copyObjects } from '../../../targets/kubernetes/dns-copy/objects.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import { type RunningCopy, removeCopy, startCopy } from '../../../targets/kubernetes/dns-copy/run-copy.ts';
import type { Side, SwapEvidence } from '../evidence.ts';
import { podVersions } from '../in-place/pod-versions.ts';
import type { SwapPlan } from '../placed.ts';
import { demandSamePods, measureAll, numberOf, type PhasesRequest } from '../placements.ts';
import { demandRate } from '../rate-probe.ts';

export interface ShadowPlacementRequest extends PhasesRequest {
  readonly plan: SwapPlan;
  readonly copy: CopyPlan;
  readonly signal: AbortSignal;
}

/** Starts a copy of one version, and removes it when `use` is done with it. */
async function withCopy<T>(
  request: ShadowPlacementRequest,
  side: Side,
  unit: string,
  use: (copy: RunningCopy) => Promise<T>,
): Promise<T> {
  const { run, plan, copy, signal } = request;
  const image = plan.images[side];
  const objects = copyObjects(run, copy, image, unit);
  try {
    return await use(await startCopy(run, copy, objects, `${side}, ${image}`, signal));
  } finally {
    await removeCopy(run, objects);
  }
}

async function podsNow(
  { run, signal }: ShadowPlacementRequest,
  { labels }: RunningCopy['workload'],
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
  return withCopy(request, side, unit, async ({ workload, pods: before, startSeconds }) => {
    const pods = await podVersions(run.client, workload, before, knownVersions, signal);
    const phases = await measureAll(request, planned, { workload, pods: before }, signal);
    demandSamePods(pods, before, await podsNow(request, workload));
    const image = plan.images[side];
    return { side, image, rolloutSeconds: startSeconds, rolloutCanary: null, canary: null, pods, phases };
  });
}
