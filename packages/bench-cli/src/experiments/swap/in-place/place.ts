/** A placement in the cluster's own DNS: puts one version in place, waits, and measures it. Puts nothing back at the end. */
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import { textAt, valueAt } from '../../../cluster-changes/json.ts';
import { rolloutOf } from '../../../cluster-changes/rollout.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import { waitUntil } from '../../../cluster-changes/wait-until.ts';
import type { PlannedTrial } from '../../../engine/experiment.ts';
import { BenchError } from '../../../errors.ts';
import { lastLogLines } from '../../../kubernetes-api/logs.ts';
import { type DnsWorkload, imageIn, podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { containerFailures } from '../../../targets/kubernetes/pod-state.ts';
import type { CanaryFigures, Side } from '../evidence.ts';
import type { Edits, PhasesRequest, SwapPlan } from '../placed.ts';
import { measurePods } from '../placements.ts';
import type { Canary } from './canary.ts';

export interface PlaceRequest extends PhasesRequest {
  readonly api: ClusterApi;
  readonly session: ChangeSession;
  readonly canary: Canary;
  readonly plan: Pick<SwapPlan, 'workload' | 'images'>;
  readonly edits: Edits;
  /** Number of the change of the image; null while the version that was found is in place. */
  readonly applied: {
    change: number | null;
    /** Of the specification of the workload since then; null until it is read. */
    generation: unknown;
  };
}

/** What a client saw of a placement, so far as it went. */
export interface PlacementCanary {
  rollout: CanaryFigures | null;
}

const LOG_LINES = 15;

/** Somebody else has changed the image: usually a reconciler. */
function reverted(workload: DnsWorkload, expected: string, found: string): BenchError {
  return new BenchError(
    'E_CLUSTER_CHANGED',
    `${workload.title}: somebody else set the image of ${workload.container} to ${found || 'nothing'}, instead of ${expected}`,
    {
      fix: 'Find out who manages it (an operator, a managed add-on, GitOps) and pause that first; `kubectl get --show-managed-fields` names the last writer.',
    },
  );
}

/** Somebody else has changed the number of pods, which the figures depend on. */
function rescaled({ title, replicas }: DnsWorkload, found: unknown): BenchError {
  return new BenchError(
    'E_CLUSTER_CHANGED',
    `${title}: somebody else set its replicas to ${String(found)}, instead of ${replicas}`,
    {
      fix: 'Find out who scales it (an autoscaler, an operator, GitOps) and pause that first. The replicas were left alone.',
    },
  );
}

/** Somebody else has changed the rest of its specification, and with it its pods. */
function rewritten({ title }: DnsWorkload): BenchError {
  return new BenchError('E_CLUSTER_CHANGED', `${title}: somebody else changed its specification`, {
    fix: 'Find out who writes it: `kubectl get --show-managed-fields` names the last writer. Their change was left alone.',
  });
}

/** @throws BenchError `E_CLUSTER_CHANGED` if somebody else has changed the workload. */
export function demandUntouched(
  workload: DnsWorkload,
  image: string,
  object: unknown,
  applied: PlaceRequest['applied'],
): void {
  const containers = valueAt(object, '/spec/template/spec/containers');
  const own = Array.isArray(containers)
    ? containers.find((each) => textAt(each, '/name') === workload.container)
    : null;
  const found = textAt(own, '/image');
  if (found !== image) throw reverted(workload, image, found);
  const replicas = valueAt(object, '/spec/replicas');
  if (replicas !== workload.replicas) throw rescaled(workload, replicas);
  const generation = valueAt(object, '/metadata/generation');
  applied.generation ??= generation;
  if (applied.generation !== generation) throw rewritten(workload);
}

async function demandNoFailure(
  { run: { client }, plan: { workload } }: PlaceRequest,
  image: string,
  signal: AbortSignal,
): Promise<void> {
  for (const pod of await podsOf(client, workload, signal)) {
    if (imageIn(pod, workload) !== image) continue;
    // Sidecars count, too.
    const [found] = containerFailures(pod);
    if (found === undefined) continue;
    const { failure, container } = found;
    const reference = { namespace: workload.namespace, pod: pod.metadata?.name ?? '', container };
    throw new BenchError(failure.code, `${workload.title}: pod ${reference.pod} ${failure.message}`, {
      fix: failure.fix,
      evidence: failure.hasLog ? await lastLogLines(client, reference, LOG_LINES, signal) : [],
    });
  }
}

/**
 * Resolves with the seconds that it took.
 * @throws BenchError with the pod's own reason, `E_POD_TIMEOUT`, or `E_CLUSTER_CHANGED` if somebody else changes the
 * workload meanwhile.
 */
function awaitRollout(request: PlaceRequest, image: string, signal: AbortSignal): Promise<number> {
  const { run, api, plan } = request;
  const { workload } = plan;
  // All pods together.
  const seconds = run.settings.readyTime;
  return waitUntil({
    ...{ clock: run.client.clock, seconds, signal },
    async problem() {
      const object = await read(api, workload.path);
      demandUntouched(workload, image, object, request.applied);
      const state = rolloutOf(object);
      if (state !== null) await demandNoFailure(request, image, signal);
      return state;
    },
    late: (state) =>
      new BenchError('E_POD_TIMEOUT', `${workload.title} has not rolled out within ${seconds} seconds`, {
        evidence: [state],
        fix: 'Raise --ready-time if its nodes just need longer, for example for a slow rolling update.',
      }),
  });
}

const WATCH_SECONDS = 2;

/** Rejects as soon as somebody else changes the workload. */
async function watchWorkload(
  { api, run, plan, applied }: PlaceRequest,
  image: string,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await run.client.clock.sleep(WATCH_SECONDS, signal);
    demandUntouched(plan.workload, image, await read(api, plan.workload.path), applied);
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
  const { plan, applied, canary, say } = request;
  if ((side === 'B') === (applied.change !== null)) return null;
  const image = plan.images[side];
  canary.take();
  try {
    await changeImage(request);
    applied.generation = null;
    say(`rolling out ${image}`);
    const took = await awaitRollout(request, image, signal);
    seen.rollout = await canary.takeSettled(signal);
    return took;
  } finally {
    seen.rollout ??= canary.take();
  }
}

/** Measures the version that is in place, as long as it stays there. */
async function measurePlace(request: PlaceRequest, planned: PlannedTrial, image: string, outer: AbortSignal) {
  const { run, plan } = request;
  const { workload } = plan;
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  const pods = await podsOf(run.client, workload, signal);
  const watching = watchWorkload(request, image, signal);
  // Its rejection ends the measuring through the signal.
  watching.catch((error: unknown) => over.abort(error));
  try {
    return await measurePods(request, planned, { workload, pods }, signal);
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    over.abort(new Error('the placement is over'));
  }
}

/** @param seen gets what a client saw of the rolling update, also of one that fails */
export async function place(
  request: PlaceRequest,
  planned: PlannedTrial,
  side: Side,
  seen: PlacementCanary,
  signal: AbortSignal,
) {
  const image = request.plan.images[side];
  const rolloutSeconds = await putInPlace(request, side, seen, signal);
  return { side, image, rolloutSeconds, ...(await measurePlace(request, planned, image, signal)) };
}
