/** `bench swap --method in-place`: from flags to a record with its reports, and what a dry run says. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { type Change, describeChange, inversePatch, type PlannedEdit } from '../../cluster-changes/change.ts';
import { describeRight } from '../../cluster-changes/rights.ts';
import { BenchError } from '../../errors.ts';
import type { InterruptionWords } from '../../interruption.ts';
import { formatDuration } from '../../text.ts';
import type { World } from '../../world.ts';
import { explainFailure } from './explain.ts';
import { inPlaceSettings } from './flags.ts';
import {
  checkBefore,
  type FoundInPlace,
  type InPlacePlan,
  type InPlaceRequest,
  type InPlaceRequestBase,
  type InPlaceResult,
  type InPlaceSettings,
  planInPlace,
  swapInPlace,
} from './in-place/in-place.ts';
import { inPlaceRights, ROLE_FILE } from './in-place/preflight.ts';
import { demandAnotherImage } from './in-place/target-image.ts';
import type { SwapRecord } from './record.ts';
import { finishSwap, type RunFolder, type SwapRecording, startRecording } from './recorder.ts';
import { paragraphs, runSwap, type SwapCall, type Values, withFolder } from './run-swap.ts';
import { writeText } from './say.ts';

/** Nobody changes the DNS of a cluster by a slip. */
function demandConsent({ yesChangeClusterDns }: Values, plan: InPlacePlan): void {
  if (yesChangeClusterDns === true) return;
  throw new BenchError(
    'E_USAGE',
    `this changes the image of ${plan.workload.title}, which all programs of the cluster use`,
    {
      fix: 'See what would be done with --dry-run; add --yes-change-cluster-dns to do it.',
    },
  );
}

/** What would be found, changed, and put back, and the rights that it takes. */
function dryRunText(plan: InPlacePlan, leaseNamespace: string): string {
  const { workload, pauses, image } = plan;
  const edits: PlannedEdit[] = [...pauses, image];
  const sidecars = Object.entries(workload.sidecars).map(
    ([name, value]) => `sidecar ${name}: ${value}, unchanged`,
  );
  return paragraphs(
    [
      'Found',
      [
        `${workload.title}, container ${workload.container}: ${workload.image}`,
        `Service ${workload.namespace}/${workload.service.name}, ${workload.service.address}`,
        ...sidecars,
      ],
    ],
    ['Would be changed, in this order', edits.map(describeChange)],
    [
      'Would be put back, in this order, with these patches',
      edits.toReversed().map((edit) => `${edit.object.title}: ${JSON.stringify(inversePatch(edit))}`),
    ],
    [
      `Rights beyond those of k8s/rbac.yaml (${ROLE_FILE} grants them)`,
      inPlaceRights({ workload, edits, leaseNamespace, namespace: plan.namespace }).map(describeRight),
    ],
  );
}

/** As the record keeps it. */
function recordedChange({ what, object, edits, state }: Change) {
  const shown = (side: 'before' | 'after') =>
    edits.map(({ [side]: value }) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
  return { what: `${what} in ${object.title}`, before: shown('before'), after: shown('after'), state };
}

function restoreOf(result: InPlaceResult): SwapRecord['restore'] {
  const { restoreSeconds, restoreCanary, changes, superseded } = result;
  return {
    seconds: restoreSeconds,
    changes: changes.map(recordedChange),
    canary: restoreCanary,
    superseded: [...superseded],
  };
}

/** The record begins when everything is checked: a run that was refused has changed nothing, and leaves none. */
function startOf(
  { runId, settings, argv }: SwapCall,
  { workload, imageB }: InPlacePlan,
  { checked, cluster, warnings }: FoundInPlace,
) {
  const images = { A: workload.image, B: imageB };
  const { pods } = checked;
  return {
    ...{ id: runId, method: 'in-place' as const, argv, settings, workload, pods, images, checked, cluster },
    notCarriedOver: [],
    warnings: [...warnings],
  };
}

interface Outcome {
  readonly failure: unknown;
  /** Null where `bench` did not see that everything was put back. */
  readonly restore: SwapRecord['restore'];
}

/** The swap itself; what ends it early is part of its outcome. */
async function swap(request: InPlaceRequest): Promise<Outcome> {
  try {
    const result = await swapInPlace(request);
    const failure = result.failure === null ? null : explainFailure(result.failure);
    return { failure, restore: restoreOf(result) };
  } catch (error) {
    return { failure: explainFailure(error), restore: null };
  }
}

async function carryOut(
  call: SwapCall,
  base: InPlaceRequestBase,
  plan: InPlacePlan,
  folder: RunFolder,
): Promise<number> {
  const { world, say, values } = call;
  let recording: SwapRecording | undefined;
  const { failure, restore } = await swap({
    ...base,
    world,
    plan,
    say,
    directory: folder.directory,
    onReady: async (found) => {
      recording = await startRecording(folder, startOf(call, plan, found));
    },
    onPlacement: async (placement) => recording?.add(placement),
  });
  const record = await recording?.end(failure, restore);
  const status =
    record === undefined ? EXIT_STATUS.success : await finishSwap(folder, record, values.json === true);
  if (failure !== null) throw failure;
  return status;
}

/** Once the guard is there; before that, nothing is changed. */
function wordsOf({ leaseSeconds }: InPlaceSettings): InterruptionWords {
  return {
    first: 'putting everything back; once more to leave that to the guard in the cluster',
    again: `what is not put back yet is left to the guard in the cluster, which begins within ${formatDuration(leaseSeconds)}: see \`bench swap status\``,
  };
}

export async function inPlaceCommand(world: World, values: Values, argv: readonly string[]): Promise<number> {
  const settings = await inPlaceSettings(world, values);
  return runSwap({ world, values, argv, settings, words: wordsOf(settings) }, async (call) => {
    const { configuration, runId, interruption } = call;
    const request = { ...settings, ...call.cluster, configuration, runId, interruption };
    const plan = await planInPlace(request);
    if (values.dryRun === true) {
      demandAnotherImage(plan.workload, plan.imageB, settings.to);
      writeText(world, dryRunText(plan, settings.leaseNamespace));
      return EXIT_STATUS.success;
    }
    demandConsent(values, plan);
    await checkBefore(request, plan);
    return withFolder(call, (folder) => carryOut(call, request, plan, folder));
  });
}
