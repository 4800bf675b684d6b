/** `bench swap --method in-place`: from flags to a run, and what it says at its end. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { describeChange, inversePatch, type PlannedEdit } from '../../cluster-changes/change.ts';
import { describeRight } from '../../cluster-changes/rights.ts';
import { configure, type RunConfiguration } from '../../config/configuration.ts';
import { BenchError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { createDisplay } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import type { World } from '../../world.ts';
import { openSwapCluster } from './cluster.ts';
import { explainFailure } from './explain.ts';
import { inPlaceSettings, sharedFlags } from './flags.ts';
import {
  demandAnotherImage,
  type InPlacePlan,
  type InPlaceResult,
  planInPlace,
  swapInPlace,
} from './in-place/in-place.ts';
import { inPlaceRights } from './in-place/preflight.ts';

type Values = Readonly<Record<string, unknown>>;

function configurationOf(world: World, values: Values): RunConfiguration {
  const flags = { ...sharedFlags(values), target: 'kubernetes', loader: 'builtin' };
  return configure({ env: world.env, flags });
}

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

const paragraph = (title: string, lines: readonly string[]) =>
  `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** What would be found, changed, and put back, and the rights that it takes. */
function dryRunText(plan: InPlacePlan, leaseNamespace: string): string {
  const { workload, pauses, image } = plan;
  const edits: PlannedEdit[] = [...pauses, image];
  const sidecars = Object.entries(workload.sidecars).map(
    ([name, value]) => `sidecar ${name}: ${value}, unchanged`,
  );
  return [
    paragraph('Found', [
      `${workload.title}, container ${workload.container}: ${workload.image}`,
      `Service ${workload.namespace}/${workload.service.name}, ${workload.service.address}`,
      ...sidecars,
    ]),
    paragraph('Would be changed, in this order', edits.map(describeChange)),
    paragraph(
      'Would be put back, in this order, with these patches',
      edits.toReversed().map((edit) => `${edit.object.title}: ${JSON.stringify(inversePatch(edit))}`),
    ),
    paragraph(
      'Takes these rights, besides those of k8s/rbac.yaml',
      inPlaceRights({ workload, edits, leaseNamespace, namespace: plan.namespace }).map(describeRight),
    ),
  ].join('\n');
}

function resultText({ plan, placements, restoreSeconds, superseded }: InPlaceResult): string {
  const lines = placements.map(({ number, side, image, rolloutSeconds, pods, canary, failure }) => {
    const rollout = rolloutSeconds === null ? '' : `, rolled out in ${rolloutSeconds.toFixed(1)} s`;
    const versions = [...new Set(pods.map(({ version, imageId }) => version ?? imageId))].join(' and ');
    const problem = failure === null ? '' : `; does not count: ${failure.message}`;
    return `${number} ${side} ${image}: ${versions}${rollout}; canary lost ${canary.lost} of ${canary.sent}${problem}`;
  });
  return [
    paragraph(`Placements in ${plan.workload.title}`, lines),
    `Everything is as before, ${restoreSeconds.toFixed(1)} s after the last placement.\n`,
    ...superseded.map((text) => `Left alone, because somebody else has changed it: ${text}\n`),
  ].join('');
}

export async function inPlaceCommand(world: World, values: Values): Promise<number> {
  const settings = inPlaceSettings(values);
  const configuration = configurationOf(world, values);
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const runId = newRunId(world.clock.now());
  try {
    const { client, api } = await openSwapCluster(
      world,
      configuration.kubernetes.context,
      interruption.force,
    );
    const base = { ...settings, client, api, runId, configuration, interruption };
    const plan = await planInPlace(base);
    if (values.dryRun === true) {
      demandAnotherImage(plan, settings.to);
      world.stdout.write(dryRunText(plan, settings.leaseNamespace));
      return EXIT_STATUS.success;
    }
    demandConsent(values, plan);
    const directory = `${world.cwd}/${configuration.out}/${runId}`;
    await world.fs.mkdir(`${directory}/raw`, { recursive: true });
    const result = await swapInPlace({
      ...base,
      world,
      directory,
      say: (text) => display.line(text),
      onPlacement: async () => undefined,
    });
    world.stdout.write(values.json === true ? `${JSON.stringify(result, null, 2)}\n` : resultText(result));
    if (result.failure !== null) throw result.failure;
    const isClean =
      result.superseded.length === 0 && result.placements.every(({ failure }) => failure === null);
    return isClean ? EXIT_STATUS.success : EXIT_STATUS.failedTrials;
  } catch (error) {
    throw explainFailure(error);
  } finally {
    interruption.release();
    display.clear();
  }
}
