/** The placements of an in-place swap: each puts one version in place, waits, and measures it idle and under load. */
import { messageOf } from '@dinodns-bench/program';
import type { V1Pod } from '@kubernetes/client-node';
import { type ClusterApi, read } from '../../../cluster-changes/cluster-api.ts';
import type { ChangeSession } from '../../../cluster-changes/session.ts';
import { BenchError } from '../../../errors.ts';
import type { Loader } from '../../../loaders/loader.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { restartsOf } from '../../../targets/kubernetes/pod-state.ts';
import { newPlacement } from '../new-placement.ts';
import type { Side, SwapPlacement } from '../record.ts';
import { awaitRollout, demandUntouched, podsOf, reverted } from './await-rollout.ts';
import type { Canary } from './canary.ts';
import { imageEdit } from './edits.ts';
import type { DnsWorkload } from './find-workload.ts';
import { type MeasuredPhase, measurePhase, type PhaseKind, recordedPhases } from './measure-phase.ts';
import { type PodVersion, podVersions } from './pod-versions.ts';

/** @throws BenchError `E_CONFIG` for a sequence that does not consist of pairs of one A and one B each. */
export function parseSequence(text: string): Side[] {
  const sides = [...text.toUpperCase()];
  const known = sides.flatMap((side): Side[] => (side === 'A' || side === 'B' ? [side] : []));
  const isPaired = known.every((side, index) => index % 2 === 0 || side !== known[index - 1]);
  const isWhole = known.length === sides.length && known.length >= 2 && known.length % 2 === 0;
  if (isWhole && isPaired) return known;
  throw new BenchError('E_CONFIG', `--placements: "${text}" cannot be paired`, {
    fix: 'Give pairs of one A and one B each, in any order: AB, ABBA, or ABBAABBA (the default).',
  });
}

export interface PlacementsRequest {
  readonly run: ClusterRun;
  readonly api: ClusterApi;
  readonly session: ChangeSession;
  readonly canary: Canary;
  readonly loader: Loader;
  /** As found: its image is that of side A. */
  readonly workload: DnsWorkload;
  readonly imageB: string;
  readonly sequence: readonly Side[];
  readonly settleSeconds: number;
  readonly idleSeconds: number;
  readonly durationSeconds: number;
  readonly ratePerSecond: number;
  /** How long a rollout may take. */
  readonly rolloutSeconds: number;
  /** Versions by image ID. */
  readonly knownVersions: ReadonlyMap<string, string>;
  readonly queryFiles: Readonly<Record<'internal' | 'external', string>>;
  readonly rawDirectory: string;
  readonly say: (text: string) => void;
  readonly onPlacement: (placement: SwapPlacement) => Promise<void>;
  readonly signal: AbortSignal;
}

const WATCH_SECONDS = 2;

/** Rejects as soon as somebody else changes the image or the replicas of the workload. */
async function watchWorkload(request: PlacementsRequest, image: string, signal: AbortSignal): Promise<never> {
  const { api, run, workload } = request;
  for (;;) {
    await run.client.clock.sleep(WATCH_SECONDS, signal);
    demandUntouched(workload, image, await read(api, workload.path));
  }
}

/** What it takes to measure the phases of a placement, in place or beside the DNS. */
export type PhaseSettings = Pick<
  PlacementsRequest,
  | 'settleSeconds'
  | 'idleSeconds'
  | 'durationSeconds'
  | 'ratePerSecond'
  | 'queryFiles'
  | 'rawDirectory'
  | 'say'
>;

type PhasesRequest = PhaseSettings & Pick<PlacementsRequest, 'run' | 'loader' | 'workload'>;

/** Both placements of a pair have the same order, so that it does not count in their difference. */
function phasesOf({ idleSeconds, durationSeconds }: PhaseSettings, index: number) {
  const loads: PhaseKind[] =
    Math.floor(index / 2) % 2 === 0 ? ['internal', 'external'] : ['external', 'internal'];
  const kinds: PhaseKind[] = ['idle', ...loads, 'idle'];
  return kinds
    .map((kind) => ({ kind, seconds: kind === 'idle' ? idleSeconds : durationSeconds }))
    .filter(({ seconds }) => seconds > 0);
}

/** Adds each phase to `phases` when it is over. */
export async function measureAll(
  request: PhasesRequest,
  index: number,
  pods: readonly V1Pod[],
  phases: MeasuredPhase[],
  signal: AbortSignal,
): Promise<void> {
  const { run, loader, workload, ratePerSecond, queryFiles, rawDirectory, settleSeconds, say } = request;
  const number = index + 1;
  say(`placement ${number}: settling for ${settleSeconds} s`);
  await run.client.clock.sleep(settleSeconds, signal);
  for (const { kind, seconds } of phasesOf(request, index)) {
    say(`placement ${number}: measuring ${kind} for ${seconds} s`);
    phases.push(
      await measurePhase({
        run,
        loader,
        workload,
        pods,
        kind,
        seconds,
        ratePerSecond,
        queryFile: kind === 'external' ? queryFiles.external : queryFiles.internal,
        outputFile: `${rawDirectory}/placement-${number}-${kind}.txt`,
        signal,
      }),
    );
  }
}

export function failureOf(
  versions: readonly PodVersion[],
  before: readonly V1Pod[],
  after: readonly V1Pod[],
): SwapPlacement['failure'] {
  const distinct = new Set(versions.map(({ version, imageId }) => version ?? imageId));
  if (distinct.size > 1) {
    const list = [...distinct].join(' and ');
    return { reason: 'mixed-versions', message: `its pods ran different versions: ${list}` };
  }
  const restarts = new Map(before.map((pod) => [pod.metadata?.uid, restartsOf(pod)]));
  const isSame =
    before.length === after.length &&
    after.every((pod) => restarts.get(pod.metadata?.uid) === restartsOf(pod));
  return isSame
    ? null
    : { reason: 'restarted', message: 'pods were restarted or replaced while it was measured' };
}

async function changeImage(
  { session, workload, imageB }: PlacementsRequest,
  applied: { change: number | null },
): Promise<void> {
  if (applied.change === null) {
    applied.change = await session.apply(imageEdit(workload, imageB));
    return;
  }
  const { state, found } = await session.revert(applied.change);
  if (state === 'superseded') throw reverted(workload, imageB, found ?? '');
  applied.change = null;
}

/** Changes the image, if it is another one, and waits for the pods. */
async function putInPlace(
  request: PlacementsRequest,
  draft: SwapPlacement,
  applied: { change: number | null },
): Promise<void> {
  const { workload, run, api, rolloutSeconds: seconds, canary, say, signal } = request;
  const { image, side } = draft;
  const isThere = (side === 'B') === (applied.change !== null);
  if (isThere) return;
  canary.take();
  try {
    await changeImage(request, applied);
    say(`rolling out ${image}`);
    draft.rolloutSeconds = await awaitRollout({ client: run.client, api, workload, image, seconds, signal });
    draft.rolloutCanary = await canary.takeSettled(signal);
  } finally {
    draft.rolloutCanary ??= canary.take();
  }
}

/** Measures the version that is in place, as long as it stays there. */
async function measurePlace(
  request: PlacementsRequest,
  index: number,
  draft: SwapPlacement,
  phases: MeasuredPhase[],
): Promise<void> {
  const { run, workload, knownVersions } = request;
  const { client } = run;
  const over = new AbortController();
  const signal = AbortSignal.any([request.signal, over.signal]);
  const pods = await podsOf(client, workload, signal);
  draft.pods = await podVersions(client, workload, pods, knownVersions, signal);
  const watching = watchWorkload(request, draft.image, signal);
  // Its rejection ends the measuring through the signal.
  watching.catch((error: unknown) => over.abort(error));
  try {
    await measureAll(request, index, pods, phases, signal);
    draft.failure = failureOf(draft.pods, pods, await podsOf(client, workload, signal));
  } catch (error) {
    throw over.signal.aborted ? over.signal.reason : error;
  } finally {
    over.abort(new Error('the placement is over'));
  }
}

/** Why a placement ended early. */
function failureFrom(error: unknown): SwapPlacement['failure'] {
  const isReverted = error instanceof BenchError && error.code === 'E_CLUSTER_CHANGED';
  return { reason: isReverted ? 'reverted' : 'failed', message: messageOf(error) };
}

async function place(
  request: PlacementsRequest,
  index: number,
  side: Side,
  applied: { change: number | null },
): Promise<void> {
  const { run, workload, imageB, canary, signal, onPlacement } = request;
  const { clock } = run.client;
  const phases: MeasuredPhase[] = [];
  const startedAt = clock.now().toISOString();
  const image = side === 'B' ? imageB : workload.image;
  const draft = newPlacement({ number: index + 1, side, image, startedAt });
  try {
    await putInPlace(request, draft, applied);
    await measurePlace(request, index, draft, phases);
  } catch (error) {
    // Ctrl-C, a lost Lease: not about this placement.
    draft.failure = failureFrom(signal.aborted ? signal.reason : error);
    throw error;
  } finally {
    draft.endedAt = clock.now().toISOString();
    draft.canary = canary.take();
    draft.phases = recordedPhases(phases);
    await onPlacement(draft);
  }
}

/** Carries out the placements, one after the other; rejects with the reason that ends them. Puts nothing back at the end. */
export async function runPlacements(request: PlacementsRequest): Promise<void> {
  const applied: { change: number | null } = { change: null };
  for (const [index, side] of request.sequence.entries()) await place(request, index, side, applied);
}
