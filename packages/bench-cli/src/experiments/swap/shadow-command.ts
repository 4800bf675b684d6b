/** `bench swap` without `--method`, or with `--method shadow`: from flags to a record with its reports. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { demandRights, describeRight } from '../../cluster-changes/rights.ts';
import { configure, type RunConfiguration } from '../../config/configuration.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { createDisplay, type Display } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore, type RunStore } from '../../results/store.ts';
import type { OpenedCluster } from '../../targets/kubernetes/open-cluster.ts';
import type { World } from '../../world.ts';
import { openSwapCluster } from './cluster.ts';
import { explainFailure } from './explain.ts';
import { inPlaceSettings, sharedFlags } from './flags.ts';
import type { SwapRecord } from './record.ts';
import { endedSwap, finishSwap, newSwapRecord, saveSwap, withPlacement } from './recorder.ts';
import { readRoleOf, shadowRights } from './shadow/rights.ts';
import {
  type CheckedImages,
  checkImages,
  measureShadow,
  openShadow,
  planShadow,
  type ShadowPlan,
  type ShadowRequest,
} from './shadow/shadow.ts';

type Values = Readonly<Record<string, unknown>>;

/** The file that grants the rights. */
const ROLE_FILE = 'k8s/rbac-swap-shadow.yaml';

function configurationOf(world: World, values: Values): RunConfiguration {
  const flags = { ...sharedFlags(values), target: 'kubernetes', loader: 'builtin' };
  return configure({ env: world.env, flags });
}

const paragraph = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** What would be found and created, what the copies lack, and the rights that it takes. */
function dryRunText({ copy, images }: ShadowPlan, role: string): string {
  const { workload, replicas, configMaps, notCarriedOver } = copy;
  return [
    paragraph('Found', [
      `${workload.title}, container ${workload.container}: ${images.A}`,
      `Service ${workload.service.name}, ${workload.service.address}`,
    ]),
    paragraph('Would be created, in a namespace of the run, which is removed at the end', [
      ...[...configMaps.keys()].map((name) => `a copy of ConfigMap ${workload.namespace}/${name}`),
      `a Deployment of ${images.A} and one of ${images.B} in turns, ${replicas} pods each`,
      `an account with the role ${role}, bound by a ClusterRoleBinding of the name of the namespace`,
    ]),
    paragraph('Not carried over to the copies', notCarriedOver),
    paragraph('Would be changed', ['nothing']),
    paragraph(
      `Rights beyond those of k8s/rbac.yaml (${ROLE_FILE} grants them)`,
      shadowRights(workload, role).map(describeRight),
    ),
  ].join('');
}

function startOf(
  world: World,
  argv: readonly string[],
  { plan, request, opened, checked }: Measured,
): Omit<Parameters<typeof newSwapRecord>[0], 'environment'> {
  const { copy, images } = plan;
  const { workload } = copy;
  const { ratePerSecond, durationSeconds, idleSeconds, settleSeconds, sequence } = request;
  const versionOf = (side: 'A' | 'B') => ({
    name: `coredns@${checked.versions[side]}`,
    version: checked.versions[side],
    image: images[side],
  });
  return {
    id: request.runId,
    startedAt: world.clock.now(),
    argv,
    method: 'shadow',
    versions: { A: versionOf('A'), B: versionOf('B') },
    workload: {
      title: workload.title,
      container: workload.container,
      service: workload.service.name,
      pods: copy.replicas,
      sidecars: { ...workload.sidecars },
      cpuLimitCores: copy.cpuLimitCores,
      memoryLimitBytes: copy.memoryLimitBytes,
    },
    settings: { ratePerSecond, durationSeconds, idleSeconds, settleSeconds, sequence: sequence.join('') },
    notCarriedOver: [...copy.notCarriedOver],
    warnings: [...opened.warnings],
  };
}

interface Measured {
  readonly plan: ShadowPlan;
  readonly request: ShadowRequest;
  readonly opened: OpenedCluster;
  readonly checked: CheckedImages;
}

/** Measures all placements, saving each; resolves with the record, also of a run that a failure ended early. */
async function measure(
  world: World,
  argv: readonly string[],
  store: RunStore,
  measured: Measured,
): Promise<SwapRecord> {
  const { request, opened, plan, checked } = measured;
  const { directory, interruption } = request;
  const machine = await describeEnvironment(world);
  let record = newSwapRecord({
    ...startOf(world, argv, measured),
    environment: { ...machine, cluster: opened.cluster },
  });
  const save = () => saveSwap(world, store, directory, record);
  await save();
  try {
    await measureShadow(request, opened.run, plan, checked, async (placement) => {
      record = withPlacement(record, placement);
      await save();
    });
    record = endedSwap(record, world.clock.now(), null);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    record = endedSwap(record, world.clock.now(), error);
  }
  await save();
  interruption.signal.throwIfAborted();
  return record;
}

async function run(
  world: World,
  values: Values,
  argv: readonly string[],
  display: Display,
  interruption: Interruption,
): Promise<number> {
  const settings = inPlaceSettings(values);
  const configuration = configurationOf(world, values);
  const { signal } = interruption;
  const { context } = configuration.kubernetes;
  const { client } = await openSwapCluster(world, context, interruption.force);
  const plan = await planShadow(client, settings, signal);
  const role = typeof values.readRole === 'string' ? values.readRole : readRoleOf(plan.copy.workload);
  if (values.dryRun === true) {
    world.stdout.write(dryRunText(plan, role));
    return EXIT_STATUS.success;
  }
  await demandRights(client, shadowRights(plan.copy.workload, role), ROLE_FILE, signal);
  const runId = newRunId(world.clock.now());
  const store = createStore(world, configuration.out);
  const directory = store.directoryOf(runId);
  await store.makeRawDirectory(directory);
  const unlock = await store.lock(directory);
  const say = (text: string) => display.line(text);
  const request = { ...settings, world, configuration, interruption, runId, directory, say };
  try {
    const opened = await openShadow(request, plan, role);
    try {
      const checked = await checkImages(opened.run, plan, request);
      const record = await measure(world, argv, store, { plan, request, opened, checked });
      await opened.close();
      return await finishSwap(world, store, directory, record, values.json === true);
    } finally {
      await opened.close();
    }
  } finally {
    await unlock();
  }
}

export async function shadowCommand(world: World, values: Values, argv: readonly string[]): Promise<number> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await run(world, values, argv, display, interruption);
  } catch (error) {
    throw explainFailure(error);
  } finally {
    interruption.release();
    display.clear();
  }
}
