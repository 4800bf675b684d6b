/** `bench swap --method in-place`: changes the image of the cluster's own DNS, measures, and puts everything back. */
import type { Change, PlannedEdit } from '../../../cluster-changes/change.ts';
import type { ClusterApi } from '../../../cluster-changes/cluster-api.ts';
import { deployGuard } from '../../../cluster-changes/guard.ts';
import { type ChangeSession, isLost, openSession } from '../../../cluster-changes/session.ts';
import type { RunConfiguration } from '../../../config/configuration.ts';
import { BenchError } from '../../../errors.ts';
import type { Interruption } from '../../../interruption.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { createBuiltinJob } from '../../../loaders/builtin/builtin-job.ts';
import type { Loader } from '../../../loaders/loader.ts';
import type { ClusterRun } from '../../../targets/kubernetes/cluster-run.ts';
import { imagesOf } from '../../../targets/kubernetes/images.ts';
import {
  JOURNAL_ANNOTATION,
  managedLabels,
  namespaceOf,
  runLabels,
} from '../../../targets/kubernetes/objects/labels.ts';
import { type OpenedCluster, openCluster } from '../../../targets/kubernetes/open-cluster.ts';
import { BENCH_VERSION } from '../../../version.ts';
import type { World } from '../../../world.ts';
import { writeQueries } from '../query-files.ts';
import { podsOf } from './await-rollout.ts';
import { type Canary, openCanary } from './canary.ts';
import { imageEdit, reconcilerEdits } from './edits.ts';
import { type DnsWorkload, findWorkload, type WorkloadChoice } from './find-workload.ts';
import { type CheckedImage, checkImage } from './image-check.ts';
import { measurePhase } from './measure-phase.ts';
import { type Placement, runPlacements, type Side } from './placements.ts';
import { preflight } from './preflight.ts';
import { restoreCluster } from './restore-cluster.ts';
import { targetImage } from './target-image.ts';

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
}

export interface InPlaceRequest extends InPlaceSettings {
  readonly world: World;
  readonly client: KubeClient;
  readonly api: ClusterApi;
  readonly runId: string;
  readonly configuration: RunConfiguration;
  /** For query files and raw output. */
  readonly directory: string;
  readonly interruption: Interruption;
  readonly say: (text: string) => void;
  readonly onPlacement: (placement: Placement) => Promise<void>;
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
  readonly plan: InPlacePlan;
  readonly placements: readonly Placement[];
  /** Versions that the images printed, in the order A, B. */
  readonly versions: Readonly<Record<Side, readonly string[]>>;
  /** Why it ended early; null if all placements were carried out. */
  readonly failure: unknown;
  /** From the end of the last placement until everything was as before. */
  readonly restoreSeconds: number;
  /** Every change of the journal, with what became of it. */
  readonly changes: readonly Change[];
  /** What somebody else has changed meanwhile, and so was left alone. */
  readonly superseded: readonly string[];
  readonly warnings: readonly string[];
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
}: Pick<
  InPlaceRequest,
  'client' | 'api' | 'to' | 'choice' | 'configuration' | 'runId' | 'interruption'
>): Promise<InPlacePlan> {
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

/** @throws BenchError `E_CONFIG` if that image is in place already. */
export function demandAnotherImage({ workload, imageB }: InPlacePlan, to: string): void {
  if (imageB !== workload.image) return;
  throw new BenchError('E_CONFIG', `--to ${to}: ${workload.title} runs ${workload.image} already`, {
    fix: 'Name another version or image.',
  });
}

function estimatedSeconds(
  { sequence, settleSeconds, idleSeconds, durationSeconds }: InPlaceSettings,
  rollout: number,
) {
  const phases = 2 * idleSeconds + 2 * durationSeconds + 4 * READING_SECONDS;
  return SPARE_SECONDS + sequence.length * (settleSeconds + phases + rollout);
}

interface Opened extends InPlaceRequest {
  readonly plan: InPlacePlan;
  readonly run: ClusterRun;
  readonly loader: Loader;
  readonly holder: string;
  /** Called when the guard has read the journal: changes may follow. */
  readonly onGuarded: () => void;
}

/** The images of both sides, on every node that runs DNS. */
async function checkImages({
  run,
  client,
  plan,
  interruption,
  say,
}: Opened): Promise<Record<Side, CheckedImage>> {
  const { signal } = interruption;
  const pods = await podsOf(client, plan.workload, signal);
  const nodes = [...new Set(pods.map(({ spec }) => spec?.nodeName ?? ''))].filter((node) => node !== '');
  say(`pulling ${plan.imageB} on ${nodes.join(', ')}`);
  const [A, B] = await Promise.all([
    checkImage(run, plan.workload.image, nodes, signal),
    checkImage(run, plan.imageB, nodes, signal),
  ]);
  return { A, B };
}

/** Share of the rate below which a trial does not count. */
export const MIN_RATE_RATIO = 0.98;
const PROBE_SECONDS = 3;

/** @throws BenchError `E_NO_RATE` if the version in place does not answer at the rate. */
async function demandRate(opened: Opened, queryFile: string): Promise<void> {
  const { run, client, loader, plan, ratePerSecond, directory, interruption } = opened;
  const { signal } = interruption;
  const pods = await podsOf(client, plan.workload, signal);
  const { load } = await measurePhase({
    run: { ...run, observation: 'none' },
    loader,
    workload: plan.workload,
    pods,
    kind: 'internal',
    seconds: PROBE_SECONDS,
    ratePerSecond,
    queryFile,
    outputFile: `${directory}/raw/probe.txt`,
    signal,
  });
  // Not its rate: the time that the last answers take is no part of the load.
  const held = (load?.queriesCompleted ?? 0) / PROBE_SECONDS;
  if (held >= ratePerSecond * MIN_RATE_RATIO) return;
  throw new BenchError(
    'E_NO_RATE',
    `the rate cannot be held: ${Math.round(held)} of ${ratePerSecond} queries per second were answered by the version in place`,
    { fix: 'Give a lower --rate. Nothing was changed.' },
  );
}

async function measureInPlace(
  opened: Opened,
  session: ChangeSession,
  canary: Canary,
  images: Record<Side, CheckedImage>,
  queryFiles: Awaited<ReturnType<typeof writeQueries>>,
  signal: AbortSignal,
): Promise<void> {
  const { run, api, plan, configuration, directory } = opened;
  for (const edit of plan.pauses) await session.apply(edit);
  await runPlacements({
    ...opened,
    run,
    api,
    session,
    canary,
    workload: plan.workload,
    imageB: plan.imageB,
    rolloutSeconds: configuration.kubernetes.readyTime,
    knownVersions: new Map([...images.A.versions, ...images.B.versions]),
    queryFiles,
    rawDirectory: `${directory}/raw`,
    signal,
  });
}

/** With the guard in place: from the first change until everything is put back. */
async function changeAndRestore(
  opened: Opened,
  session: ChangeSession,
): Promise<Omit<InPlaceResult, 'warnings' | 'plan'>> {
  const { run, api, plan, configuration, interruption, say } = opened;
  const placements: Placement[] = [];
  const signal = AbortSignal.any([interruption.signal, session.signal]);
  const image = run.images.loader;
  const images = await checkImages(opened);
  const queryFiles = await writeQueries(
    opened.world,
    opened.client,
    opened.directory,
    opened.interruption.signal,
  );
  await demandRate(opened, queryFiles.internal);
  say('deploying the guard');
  await deployGuard({
    run,
    api,
    image,
    leaseNamespace: opened.leaseNamespace,
    holder: opened.holder,
    token: opened.runId,
    paths: [plan.image, ...plan.pauses].map(({ object }) => object.path),
    signal,
  });
  opened.onGuarded();
  const runSeconds = estimatedSeconds(opened, configuration.kubernetes.readyTime);
  const canary = await openCanary(run, { image, address: plan.workload.service.address, runSeconds, signal });
  let failure: unknown = null;
  try {
    const onPlacement = async (placement: Placement) => {
      placements.push(placement);
      await opened.onPlacement(placement);
    };
    const all = AbortSignal.any([signal, canary.signal]);
    await measureInPlace({ ...opened, onPlacement }, session, canary, images, queryFiles, all);
  } catch (error) {
    failure = error;
  }
  const startedAt = run.client.clock.monotonicSeconds();
  const superseded = await restoreCluster(opened, session).finally(() => canary.stop());
  return {
    placements,
    versions: { A: [...new Set(images.A.versions.values())], B: [...new Set(images.B.versions.values())] },
    failure,
    restoreSeconds: run.client.clock.monotonicSeconds() - startedAt,
    changes: session.changes(),
    superseded,
  };
}

function openRun(
  { world, runId, configuration, leaseNamespace, interruption }: InPlaceRequest,
  loadSeconds: number,
): Promise<OpenedCluster> {
  const { kubernetes } = configuration;
  return openCluster({
    world,
    runId,
    settings: kubernetes,
    images: imagesOf(kubernetes, 'builtin'),
    loadSeconds,
    serverCores: 0,
    loaders: 1,
    annotations: { [JOURNAL_ANNOTATION]: leaseNamespace },
    signal: interruption.signal,
    force: interruption.force,
  });
}

/**
 * The whole swap. Before it resolves or rejects, everything is as before; if that is not possible, because this process has
 * lost the cluster, the guard does it, and the error says so.
 */
export async function swapInPlace(request: InPlaceRequest): Promise<InPlaceResult> {
  const { world, client, api, runId, leaseNamespace, leaseSeconds, interruption, say } = request;
  const plan = await planInPlace(request);
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
  demandAnotherImage(plan, request.to);
  const cluster = await openRun(request, request.durationSeconds);
  const holder = `${world.machine.hostname}/${world.processes.ownPid}/${runId}`;
  const guard = { isThere: false, isNeeded: false };
  const onGuarded = () => {
    guard.isThere = true;
  };
  try {
    const session = await openSession({
      api,
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
      const result = await changeAndRestore({ ...request, plan, run, loader, holder, onGuarded }, session);
      await session.close();
      return { ...result, plan, warnings: cluster.warnings };
    } catch (error) {
      // Without a guard nothing was changed; with it, restoring may have failed, and then the guard goes on.
      guard.isNeeded = guard.isThere && (isLost(error) || !session.isUnchanged());
      if (guard.isNeeded) session.abandon();
      else await session.close();
      throw error;
    }
  } finally {
    if (!guard.isNeeded) await cluster.close();
  }
}
