/** `--method in-place`: changes the image of the cluster's own DNS, measures, and puts everything back. */
import { messageOf } from '@dinodns-bench/program';
import { type Change, describeChange } from '../../../cluster-changes/change.ts';
import { read } from '../../../cluster-changes/cluster-api.ts';
import {
  type ChangeableCluster,
  demandConsent,
  openChangeable,
} from '../../../cluster-changes/connected-api.ts';
import { explainFailure } from '../../../cluster-changes/explain.ts';
import { type Guarded, openGuardedCluster } from '../../../cluster-changes/guarded.ts';
import { isObject, textAt, valueAt } from '../../../cluster-changes/json.ts';
import { onceAborted } from '../../../cluster-changes/session.ts';
import { LastTrial, type PlannedTrial } from '../../../engine/experiment.ts';
import { BenchError, clusterRefuses, internalError } from '../../../errors.ts';
import { formatFixed } from '../../../report/numbers.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { type DnsWorkload, podsOf } from '../../../targets/kubernetes/dns-copy/find-workload.ts';
import { cacheWarnings } from '../../../targets/kubernetes/existing-service.ts';
import type { CanaryFigures, Side, SwapEvidence } from '../evidence.ts';
import { type CheckedRun, openPhases } from '../open-phases.ts';
import { clusterRequest } from '../open-run.ts';
import type { Edits, OpenedSwap, SwapRequest } from '../placed.ts';
import { demandRate } from '../rate-probe.ts';
import { type Canary, openCanary } from './canary.ts';
import { canarySentence, lostOf } from './canary-count.ts';
import { pauseReconcilers } from './edits.ts';
import { type PlacementCanary, type PlaceRequest, place } from './place.ts';
import { preflight, ROLE_FILE, watchingRights } from './preflight.ts';

/** Time for what is not measured: image checks, waits for the kubelet's figures. */
const SPARE_SECONDS = 120;
const READING_SECONDS = 60;

/** How long the canary may run. */
function estimatedSeconds({ settings, decided }: SwapRequest): number {
  const { settle, idle, duration, readyTime } = settings;
  const phases = 2 * idle + 2 * duration + 4 * READING_SECONDS;
  return SPARE_SECONDS + decided.placements * (settle + phases + readyTime);
}

/** What a client saw, of all placements, also of those that failed. */
interface Seen {
  readonly rollouts: CanaryFigures[];
  readonly between: CanaryFigures[];
}

/** What is there while the cluster is changed; filled step by step, and closed as far as it was. */
export interface Open {
  readonly run: ClusterRun;
  readonly api: ChangeableCluster['api'];
  readonly guarded: Guarded;
  readonly seen: Seen;
  readonly notes: string[];
  readonly applied: PlaceRequest['applied'];
  canary?: Canary;
}

/** Everything that needs the run's namespace, and must be known before the first change. */
async function checkFirst(request: SwapRequest, { run }: Open, signal: AbortSignal): Promise<CheckedRun> {
  const { workload } = request.decided;
  const phases = await openPhases(request, run, signal);
  await demandRate({ ...phases, workload, pods: await podsOf(run.client, workload, signal), signal });
  return phases;
}

const LEFT_TO_GUARD =
  'bench ended before it could see everything put back: the guard in the cluster does that. See what is left with: bench swap status';

/** Kubernetes keeps what a workload ran before, for `kubectl rollout undo`. Nothing where it ran nothing else. */
function historyNote(
  { title, path, kind, namespace, name }: DnsWorkload,
  changes: readonly Change[],
): string[] {
  const image = changes.find(({ object }) => object.path === path)?.edits[0]?.after;
  return image === undefined
    ? []
    : [
        `The history of ${title} has ${String(image)} as its previous revision: kubectl -n ${namespace} rollout undo ${kind.toLowerCase()}/${name} would install that.`,
      ];
}

/** Puts everything back while the canary still looks, and says what came of it. */
async function restoreWatched({ world, say, decided }: SwapRequest, open: Open): Promise<void> {
  const { clock } = world;
  const { guarded, canary, seen, notes } = open;
  if (canary === undefined) return guarded.end();
  const { session } = guarded;
  const isChanged = !session.isUnchanged();
  seen.between.push(canary.take());
  const startedAt = clock.monotonicSeconds();
  let isSeen = false;
  try {
    await guarded.end(async (left) => {
      isSeen = true;
      const but = left.length === 0 ? '' : ' except for changes by someone else';
      say(`restored: everything is as before${but}`);
      const seconds = formatFixed(clock.monotonicSeconds() - startedAt, 1);
      // Its count is only a figure of the report: everything is put back even without it.
      if (isChanged)
        await canary.takeSettled(session.signal).then(
          (rollout) => void seen.rollouts.push(rollout),
          () =>
            void notes.push(
              'What clients saw of the last rolling update is not known: the canary was not heard to the end.',
            ),
        );
      notes.push(
        `Everything was as before ${seconds} s after the last placement${but}.`,
        ...session.changes().map((change) => `${describeChange(change)}, ${change.state}`),
        ...left.map((what) => `Left alone, because someone else has changed it: ${what}`),
        ...historyNote(decided.workload, session.changes()),
      );
    });
  } catch (error) {
    if (!isSeen) notes.push(LEFT_TO_GUARD);
    throw error;
  }
}

/** Puts everything back; what is left to the guard keeps the run's namespace. */
export async function closeWatched(request: SwapRequest, open: Open): Promise<void> {
  const { canary, guarded, seen, notes } = open;
  const { signal, force } = request;
  const wasStopped = signal.aborted;
  const wasLost = guarded.session.signal.aborted;
  try {
    await restoreWatched(request, open);
  } catch (error) {
    // What ended the trials is said already; what happens only now is not.
    if (!wasLost && !(wasStopped && force.aborted)) throw error;
  } finally {
    await canary?.stop();
    if (canary !== undefined) notes.push(`${canarySentence(seen)} It asked from node ${canary.node}.`);
  }
}

/** What a placement failed with, and what clients saw of it. */
function failureOf(error: unknown, seen: PlacementCanary, after: CanaryFigures): unknown {
  const reason = explainFailure(error);
  if (!(reason instanceof BenchError)) return reason;
  const during =
    seen.rollout === null
      ? []
      : [`the canary lost ${lostOf(seen.rollout)} queries while the image was changed`];
  return new BenchError(reason.code, reason.message, {
    fix: reason.fix,
    evidence: [...reason.evidence, ...during, `the canary lost ${lostOf(after)} queries afterwards`],
    cause: error,
  });
}

interface Placing extends PlaceRequest {
  readonly seen: Seen;
  /** Ctrl-C, or a lost Lease. */
  readonly signal: AbortSignal;
}

/** A placement that cannot go on is the last one: everything is put back at once. */
async function placeWatched(placing: Placing, planned: PlannedTrial, side: Side): Promise<SwapEvidence> {
  const { canary, seen, signal } = placing;
  const own: PlacementCanary = { rollout: null };
  let isMeasured = false;
  const end = () => {
    const after = canary.take();
    if (own.rollout !== null) seen.rollouts.push(own.rollout);
    seen.between.push(after);
    return after;
  };
  try {
    const all = AbortSignal.any([signal, canary.signal]);
    all.throwIfAborted();
    const { demandSamePods, ...evidence } = await place(placing, planned, side, own, all);
    isMeasured = true;
    demandSamePods();
    return { ...evidence, rolloutCanary: own.rollout, canary: end() };
  } catch (error) {
    const after = end();
    // `swap restore` and the guard take the Lease over before they put anything back: then it is their change that was seen.
    const isChanged = error instanceof BenchError && error.code === 'E_CLUSTER_CHANGED';
    if (isChanged) await placing.session.confirm().catch(() => undefined);
    signal.throwIfAborted();
    const failure = failureOf(canary.signal.aborted ? canary.signal.reason : error, own, after);
    // Without the figures of a kubelet, the version is still in place.
    const canGoOn = isMeasured || (failure instanceof BenchError && failure.code === 'E_NO_FIGURES');
    throw canGoOn ? failure : new LastTrial(failure);
  }
}

/** Net CPU is what a swap is about: without it, the DNS would be changed for nothing. @throws BenchError `E_CLUSTER_REFUSED` */
export function demandFigures(
  found: ClusterRun['observation'],
  asked: SwapRequest['settings']['observe'],
  [reason = 'CPU cannot be read']: readonly string[],
): void {
  if (found !== 'none' || asked === 'none') return;
  throw clusterRefuses(
    reason,
    'Grant the right, or give --observe none to compare loss and latency alone. Nothing was changed.',
  );
}

/** How its pods are replaced, which is what a client loses: `RollingUpdate, maxSurge 25%, maxUnavailable 1`. */
export function strategyOf(workload: unknown): string {
  const strategy = valueAt(workload, '/spec/strategy') ?? valueAt(workload, '/spec/updateStrategy');
  const limits = valueAt(strategy, '/rollingUpdate');
  const shown = Object.entries(isObject(limits) ? limits : {}).map(([name, value]) => `${name} ${value}`);
  return [textAt(strategy, '/type') || 'unknown', ...shown.toSorted()].join(', ');
}

/** From the checks to the paused reconcilers. */
async function begin(
  request: SwapRequest,
  open: Open,
  edits: Edits,
): Promise<
  Pick<OpenedSwap, 'programs' | 'conditions'> & { readonly placing: Placing; readonly lost: AbortSignal }
> {
  const { decided, settings } = request;
  const { run, api, seen, applied } = open;
  const { session } = open.guarded;
  const lost = new AbortController();
  onceAborted(session.signal, () => lost.abort(explainFailure(session.signal.reason)));
  const signal = AbortSignal.any([request.signal, lost.signal]);
  const { programs, ...phases } = await checkFirst(request, open, signal);
  const strategy = strategyOf(await read(api, decided.workload.path));
  const canary = await openCanary(run, {
    address: decided.workload.service.address,
    runSeconds: estimatedSeconds(request),
    signal,
    until: session.signal,
  });
  open.canary = canary;
  const all = AbortSignal.any([signal, canary.signal]);
  const pausing = { client: run.client, api, session, seconds: settings.readyTime, signal: all };
  await pauseReconcilers(pausing, edits.pauses);
  return {
    placing: { ...phases, api, session, canary, plan: decided, edits, applied, seen, signal },
    conditions: { 'node of the canary': canary.node, 'update strategy': strategy },
    programs,
    lost: lost.signal,
  };
}

/**
 * Before it rejects, or `close` resolves or rejects, everything is as before; if that is not possible, because this process
 * has lost the cluster, the guard does it, and the error says so.
 */
export async function openInPlace(request: SwapRequest, edits: Edits): Promise<OpenedSwap> {
  const { settings, decided, force, signal } = request;
  const { workload } = decided;
  demandConsent(settings, `this changes the image of ${workload.title}`);
  const { client, api, apiUntil } = await openChangeable(request.world, settings.context, force);
  const watched = { workload, edits: edits.all };
  const needs = { loadSeconds: settings.duration, sending: settings, serverCores: 0 };
  const { opened, guarded, made } = await openGuardedCluster({
    ...{ ...clusterRequest(request, needs), client, apiUntil, display: request.display },
    ...{ leaseNamespace: settings.leaseNamespace, leaseSeconds: settings.lease, experiment: 'swap' },
    settleSeconds: settings.readyTime,
    paths: edits.all.map(({ object }) => object.path),
    rights: watchingRights(watched),
    role: ROLE_FILE,
    demandReady: () => preflight({ ...watched, client, api, signal }),
  });
  if (guarded === null) throw internalError('a swap in place without a change');
  const open: Open = {
    ...{ run: opened.run, api, guarded, seen: { rollouts: [], between: [] }, notes: [] },
    applied: { change: null, generation: null },
  };
  made.defer(() => closeWatched(request, open));
  try {
    demandFigures(opened.run.observation, settings.observe, opened.warnings);
    const { placing, lost, ...found } = await begin(request, open, edits);
    const caches = await cacheWarnings(client, workload.namespace, placing.signal);
    const warned = { ...opened, warnings: [...opened.warnings, ...caches] };
    return {
      ...{ ...found, loader: placing.loader, opened: warned, lost },
      place: (planned, side) => placeWatched(placing, planned, side),
      closing: () => open.notes,
      close: () => made.disposeAsync(),
    };
  } catch (error) {
    // The first error is the one to report.
    await made.disposeAsync().catch((second: unknown) => open.notes.push(messageOf(second)));
    for (const note of open.notes) request.say(note);
    throw error;
  }
}
