/** One placement beside the cluster's DNS: a fresh Deployment of one version, measured and removed. */
import type { V1Pod } from '@kubernetes/client-node';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { copyObjects } from '../../../targets/kubernetes/dns-copy/objects.ts';
import type { CopyPlan } from '../../../targets/kubernetes/dns-copy/plan-copy.ts';
import {
  type CopyRequest,
  type RunningCopy,
  withCopy,
} from '../../../targets/kubernetes/dns-copy/run-copy.ts';
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

/** A copy of one version. */
function copyOf({ run, plan, copy, signal }: ShadowPlacementRequest, side: Side, unit: string): CopyRequest {
  const image = plan.images[side];
  const objects = copyObjects(run, copy, image, unit);
  return { run, copy, objects, what: `${side}, ${image}`, signal };
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
  return withCopy(copyOf(request, 'A', 'dns-probe'), (copy) => demandRate({ ...request, ...copy }));
}

export async function shadowPlacement(
  request: ShadowPlacementRequest,
  planned: PlannedTrial,
  side: Side,
): Promise<SwapEvidence> {
  const { run, plan, knownVersions, signal } = request;
  const unit = `dns-${side.toLowerCase()}-${numberOf(planned)}`;
  return withCopy(copyOf(request, side, unit), async ({ workload, pods: before, startSeconds }) => {
    const pods = await podVersions(run.client, workload, before, knownVersions, signal);
    const phases = await measureAll(request, planned, { workload, pods: before }, signal);
    demandSamePods(pods, before, await podsNow(request, workload));
    const image = plan.images[side];
    return { side, image, rolloutSeconds: startSeconds, rolloutCanary: null, canary: null, pods, phases };
  });
}
