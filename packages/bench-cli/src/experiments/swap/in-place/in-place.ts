/** `bench swap --method in-place`: changes the image of the cluster's own DNS, measures, and puts everything back. */
import type { Change, PlannedEdit } from '../../../cluster-changes/change.ts';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import { deployGuard } from '../../../cluster-changes/guard.ts';
import { type ChangeSession, isLost, openSession } from '../../../cluster-changes/session.ts';
import type { RunConfiguration } from '../../../config/configuration.ts';
import type { Interruption } from '../../../interruption.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import type { Loader } from '../../../loaders/loader.ts';
import type { Cluster } from '../../../results/record.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import {
  JOURNAL_ANNOTATION,
  managedLabels,
  namespaceOf,
  runLabels,
} from '../../../targets/kubernetes/objects/labels.ts';
import type { OpenedCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { type CheckedImages, checkImages } from '../check-images.ts';
import { openRun } from '../open-run.ts';
import { type OwnQueries, writeQueries } from '../query-files.ts';
import { demandRate } from '../rate-probe.ts';
import type { Side, SwapPlacement } from '../record.ts';
import { podsOf } from './await-rollout.ts';
import { type Canary, openCanary } from './canary.ts';
import type { CanaryCount } from './canary-count.ts';
import { imageEdit, reconcilerEdits } from './edits.ts';
import { type DnsWorkload, findWorkload, type WorkloadChoice } from './find-workload.ts';
import { pauseReconcilers } from './pause.ts';
import { runPlacements } from './placements.ts';
import { preflight } from './preflight.ts';
import { restoreCluster } from './restore-cluster.ts';
import { demandAnotherImage, targetImage } from './target-image.ts';

export interface InPlaceSettings {
  /** A version, or an image. */
  readonly to: string;
  readonly choice: WorkloadChoice;
  readonly sequence: readonly Side[];
  readonly settleSeconds: number;
  readonly idleSeconds: number;
  readonly durationSeconds: number;
  readonly ratePerSecond: number;
  readonly leaseSeconds: number;
  readonly leaseNamespace: string;
  readonly ownQueries: OwnQueries;
}

/** What it takes to look at the cluster. */
export interface InPlaceRequestBase extends InPlaceSettings {
  readonly client: KubeClient;
  /** Its requests end with the second Ctrl-C. */
  readonly api: ClusterApi;
  /** For what must be done even then. */
  apiUntil(signal: AbortSignal): ClusterApi;
  readonly runId: string;
  readonly configuration: RunConfiguration;
  readonly interruption: Interruption;
}

export interface InPlaceRequest extends InPlaceRequestBase {
  readonly world: World;
  readonly plan: InPlacePlan;
  /** For query files and raw output. */
  readonly directory: string;
  readonly say: (text: string) => void;
  /** Called before the first change. */
  readonly onReady: (found: FoundInPlace) => Promise<void>;
  /** Called at the end of each placement, also of one that failed. */
  readonly onPlacement: (placement: SwapPlacement) => Promise<void>;
}

/** What the checks before the first change have shown. */
export interface FoundInPlace {
  readonly checked: CheckedImages;
  readonly cluster: Cluster;
  readonly warnings: readonly string[];
}

/** What was found and decided before anything is changed. */
export interface InPlacePlan {
  readonly workload: DnsWorkload;
  readonly imageB: string;
  /** Reconcilers to pause, in this order. */
  readonly pauses: readonly PlannedEdit[];
  readonly image: PlannedEdit;
  readonly namespace: string;
}

export interface InPlaceResult {
  /** Why it ended early; null if all placements were carried out. */
  readonly failure: unknown;
  /** From the end of the last placement until everything was as before. */
  readonly restoreSeconds: number;
  /** What a client saw of it; null if the image was as before already. */
  readonly restoreCanary: CanaryCount | null;
  /** Every change of the journal, with what became of it. */
  readonly changes: readonly Change[];
  /** What somebody else has changed meanwhile, and so was left alone. */
  readonly superseded: readonly string[];
}

/** Time for what is not measured: image checks, rollouts, waits for the kubelet's figures. */
const SPARE_SECONDS = 120;
const READING_SECONDS = 60;

/** Finds what there is and decides what would be changed. Changes nothing. */
export async function planInPlace({
  client,
  api,
  to,
  choice,
  configuration,
  runId,
  interruption,
}: InPlaceRequestBase): Promise<InPlacePlan> {
  const workload = await findWorkload(client, choice, interruption.signal);
  const imageB = targetImage(to, workload.image);
  return {
    workload,
    imageB,
    pauses: await reconcilerEdits(api, workload),
    image: imageEdit(workload, imageB),
    namespace: namespaceOf(configuration.kubernetes.namespacePrefix, runId),
  };
}

function estimatedSeconds(
  { sequence, settleSeconds, idleSeconds, durationSeconds }: InPlaceSettings,
  rollout: number,
) {
  const phases = 2 * idleSeconds + 2 * durationSeconds + 4 * READING_SECONDS;
  return SPARE_SECONDS + sequence.length * (settleSeconds + phases + rollout);
}

interface Opened extends InPlaceRequest {
  readonly run: ClusterRun;
  readonly loader: Loader;
  readonly holder: string;
  /** Called when the guard has read the journal: changes may follow. */
  readonly onGuarded: () => void;
}

async function measureInPlace(
  opened: Opened,
  session: ChangeSession,
  canary: Canary,
  checked: CheckedImages,
  queryFiles: Awaited<ReturnType<typeof writeQueries>>,
  signal: AbortSignal,
): Promise<void> {
  const { run, client, api, plan, configuration, directory } = opened;
  const seconds = configuration.kubernetes.readyTime;
  await pauseReconcilers({ client, api, session, seconds, signal }, plan.pauses);
  await runPlacements({
    ...opened,
    run,
    api,
    session,
    canary,
    workload: plan.workload,
    imageB: plan.imageB,
    rolloutSeconds: seconds,
    knownVersions: checked.byImageId,
    queryFiles,
    rawDirectory: `${directory}/raw`,
    signal,
  });
}

/** Everything that needs the run's namespace, and must be known before the first change. */
async function checkFirst(opened: Opened, cluster: OpenedCluster, signal: AbortSignal) {
  const { run, client, loader, plan, ratePerSecond, directory, say, world } = opened;
  const { workload } = plan;
  const images = { A: workload.image, B: plan.imageB };
  const checked = await checkImages(run, { workload, images, say, signal });
  const queryFiles = await writeQueries(world, client, directory, opened.ownQueries, signal);
  const rawDirectory = `${directory}/raw`;
  const pods = await podsOf(client, workload, signal);
  await demandRate({ run, loader, workload, pods, ratePerSecond, queryFiles, rawDirectory, say, signal });
  await opened.onReady({ checked, cluster: cluster.cluster, warnings: cluster.warnings });
  return { checked, queryFiles };
}

/** Until then nothing may be changed: the guard puts everything back when this process is gone. */
async function startGuard(opened: Opened, signal: AbortSignal): Promise<void> {
  const { run, api, plan, leaseNamespace, holder, runId: token, say } = opened;
  const paths = [plan.image, ...plan.pauses].map(({ object }) => object.path);
  say('deploying the guard');
  await deployGuard({ run, api, image: run.images.loader, leaseNamespace, holder, token, paths, signal });
  opened.onGuarded();
}

/** Puts everything back, while the canary still looks. */
async function restoreWatched(
  opened: Opened,
  session: ChangeSession,
  canary: Canary,
): Promise<Pick<InPlaceResult, 'restoreSeconds' | 'restoreCanary' | 'superseded'>> {
  const { clock } = opened.world;
  const isChanged = !session.isUnchanged();
  canary.take();
  const startedAt = clock.monotonicSeconds();
  const superseded = await restoreCluster(opened, session);
  const restoreSeconds = clock.monotonicSeconds() - startedAt;
  const count = isChanged ? await canary.takeSettled(session.signal) : null;
  return { restoreSeconds, restoreCanary: count === null || count.sent === 0 ? null : count, superseded };
}

/** With the guard in place: from the first change until everything is put back. */
async function changeAndRestore(
  opened: Opened,
  cluster: OpenedCluster,
  session: ChangeSession,
): Promise<InPlaceResult> {
  const { run, plan, configuration, interruption } = opened;
  const signal = AbortSignal.any([interruption.signal, session.signal]);
  const { checked, queryFiles } = await checkFirst(opened, cluster, signal);
  await startGuard(opened, signal);
  const canary = await openCanary(run, {
    address: plan.workload.service.address,
    runSeconds: estimatedSeconds(opened, configuration.kubernetes.readyTime),
    signal,
    until: session.signal,
  });
  try {
    const all = AbortSignal.any([signal, canary.signal]);
    const failure = await measureInPlace(opened, session, canary, checked, queryFiles, all).then(
      () => null,
      (error: unknown) => error,
    );
    const restored = await restoreWatched(opened, session, canary);
    return { failure, ...restored, changes: session.changes() };
  } finally {
    await canary.stop();
  }
}

/**
 * Checks what can be checked without creating anything.
 * @throws BenchError that names what is missing, or that the image is in place already.
 */
export async function checkBefore(
  { client, api, leaseNamespace, to, interruption }: InPlaceRequestBase,
  plan: InPlacePlan,
): Promise<void> {
  await preflight({
    client,
    api,
    workload: plan.workload,
    edits: [...plan.pauses, plan.image],
    leaseNamespace,
    namespace: plan.namespace,
    signal: interruption.signal,
  });
  // After the check that no other swap is at it, which may just have put that image in place.
  demandAnotherImage(plan.workload, plan.imageB, to);
}

/**
 * The whole swap, after `checkBefore`. Before it resolves or rejects, everything is as before; if that is not possible,
 * because this process has lost the cluster, the guard does it, and the error says so.
 */
export async function swapInPlace(request: InPlaceRequest): Promise<InPlaceResult> {
  const { world, apiUntil, runId, leaseNamespace, leaseSeconds, say, interruption } = request;
  const cluster = await openRun(request, {
    loadSeconds: request.durationSeconds,
    serverCores: 0,
    annotations: { [JOURNAL_ANNOTATION]: leaseNamespace },
  });
  const holder = `${world.machine.hostname}/${world.processes.ownPid}/${runId}`;
  const guard = { isThere: false, isNeeded: false };
  const onGuarded = () => {
    guard.isThere = true;
  };
  try {
    const session = await openSession({
      apiUntil,
      force: interruption.force,
      clock: world.clock,
      leaseNamespace,
      leaseSeconds,
      runId,
      experiment: 'swap',
      namespace: cluster.run.namespace,
      holder,
      labels: { ...managedLabels, ...runLabels(runId) },
      onEvent: ({ state, text }) => say(`${state}: ${text}`),
    });
    try {
      const { run } = cluster;
      const loader = createBuiltinJob(run, BENCH_VERSION);
      const opened = { ...request, run, loader, holder, onGuarded };
      const result = await changeAndRestore(opened, cluster, session);
      await session.close();
      return result;
    } catch (error) {
      // Without a guard nothing was changed; with it, restoring may have failed, or not be verified, and then the guard goes on.
      const isForced = interruption.force.aborted;
      guard.isNeeded = guard.isThere && (isForced || isLost(error) || !session.isUnchanged());
      if (guard.isNeeded) session.abandon();
      else await session.close();
      throw error;
    }
  } finally {
    if (!guard.isNeeded) await cluster.close();
  }
}
