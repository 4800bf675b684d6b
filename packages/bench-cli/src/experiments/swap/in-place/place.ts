/** A placement in the cluster's own DNS: puts one version in place, waits, and measures it. Puts nothing back at the end. */
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import type { CanaryFigures, Side, SwapEvidence } from '../evidence.ts';
import type { Edits, SwapPlan } from '../placed.ts';
import { demandSamePods, measureAll, type PhasesRequest } from '../placements.ts';
import { awaitRollout, demandUntouched, reverted } from './await-rollout.ts';
import type { Canary } from './canary.ts';
import { podVersions } from './pod-versions.ts';

export interface PlaceRequest extends PhasesRequest {
  readonly api: ClusterApi;
  readonly session: ChangeSession;
  readonly canary: Canary;
  readonly plan: Pick<SwapPlan, 'workload' | 'images'>;
  readonly edits: Edits;
  /** Number of the change of the image; null while the version that was found is in place. */
  readonly applied: { change: number | null };
}

/** What a client saw of a placement, so far as it went. */
export interface PlacementCanary {
  rollout: CanaryFigures | null;
}

const WATCH_SECONDS = 2;

/** Rejects as soon as somebody else changes the image or the replicas of the workload. */
async function watchWorkload(
  { api, run, plan }: PlaceRequest,
  image: string,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await run.client.clock.sleep(WATCH_SECONDS, signal);
    demandUntouched(plan.workload, image, await read(api, plan.workload.path));
  }
}

async function changeImage({ session, plan, edits, applied }: PlaceRequest): Promise<void> {
  if (applied.change === null) {
    applied.change = await session.apply(edits.image);
    return;
  }
  const { state, found } = await session.revert(applied.change);
  if (state === 'superseded') throw reverted(plan.workload, plan.images.B, found ?? '');
  applied.change = null;
}

/** Changes the image, if it is another one, and waits for the pods. Resolves with the seconds that took; null for none. */
async function putInPlace(
  request: PlaceRequest,
  side: Side,
  seen: PlacementCanary,
  signal: AbortSignal,
): Promise<number | null> {
  const { plan, run, api, applied, canary, say } = request;
  if ((side === 'B') === (applied.change !== null)) return null;
  const { workload, images } = plan;
  const image = images[side];
  canary.take();
  try {
    await changeImage(request);
    say(`rolling out ${image}`);
    const seconds = run.settings.readyTime;
    const took = await awaitRollout({ client: run.client, api, workload, image, seconds, signal });
    seen.rollout = await canary.takeSettled(signal);
    return took;
  } finally {
    seen.rollout ??= canary.take();
  }
}

/** Measures the version that is in place, as long as it stays there. */
async function measurePlace(
  request: PlaceRequest,
  planned: PlannedTrial,
  image: string,
  outer: AbortSignal,
): Promise<Pick<Placed, 'pods' | 'phases' | 'demandSamePods'>> {
  const { run, plan, knownVersions } = request;
  const { workload } = plan;
  const { client } = run;
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  const before = await podsOf(client, workload, signal);
  const pods = await podVersions(client, workload, before, knownVersions, signal);
  const watching = watchWorkload(request, image, signal);
  // Its rejection ends the measuring through the signal.
  watching.catch((error: unknown) => over.abort(error));
  try {
    const phases = await measureAll(request, planned, { workload, pods: before }, signal);
    const after = await podsOf(client, workload, signal);
    return { pods, phases, demandSamePods: () => demandSamePods(pods, before, after) };
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    over.abort(new Error('the placement is over'));
  }
}

interface Placed extends Omit<SwapEvidence, 'canary' | 'rolloutCanary'> {
  /** It was measured to its end; whether it counts. @throws as `demandSamePods` of placements.ts */
  demandSamePods(): void;
}

/** @param seen gets what a client saw of the rolling update, also of one that fails */
export async function place(
  request: PlaceRequest,
  planned: PlannedTrial,
  side: Side,
  seen: PlacementCanary,
  signal: AbortSignal,
): Promise<Placed> {
  const image = request.plan.images[side];
  const rolloutSeconds = await putInPlace(request, side, seen, signal);
  return { side, image, rolloutSeconds, ...(await measurePlace(request, planned, image, signal)) };
}
