/** `bench capacity plan`: from the size of a cluster to memory, replicas and their YAML, and whether that holds. */
import { relative, resolve } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { resolveSettings } from '../../config/configuration.ts';
import { kubernetesOf } from '../../config/kubernetes-settings.ts';
import { SETTINGS, variableOf } from '../../config/settings.ts';
import type { Call } from '../../engine/registered.ts';
import { noteIdleVariables, readConfigurationFile } from '../../engine/settings.ts';
import { renderOptions, routineFormats, writeFiles } from '../../engine/write-reports.ts';
import { BenchError, refuse } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { printJson } from '../../output.ts';
import { createDisplay } from '../../progress/display.ts';
import { documentText } from '../../report/document/terminal.ts';
import { formatCount } from '../../report/numbers.ts';
import { filesOf } from '../../report/renderer.ts';
import { withPortablePaths } from '../../results/portable-paths.ts';
import { runHead } from '../../results/run-head.ts';
import { newRunId } from '../../results/run-id.ts';
import { createStore } from '../../results/store.ts';
import { writeWhole } from '../../results/write-whole.ts';
import type { World } from '../../world.ts';
import { chooseBasis } from './choose-basis.ts';
import { countCluster } from './cluster-counts.ts';
import { type MemoryBasis, objectsOf, type Size } from './memory-basis.ts';
import { configurationOf, planCapacity, sizeOf } from './plan.ts';
import { curvesOf } from './plan-curves.ts';
import { planAnswer, planFormats } from './plan-document.ts';
import { type CapacityPlan, type Demand, type PlanRecord, planKind } from './plan-record.ts';
import { demandOf, FROM_ENVIRONMENT, PLAN_SETTINGS, type PlanSettings } from './plan-settings.ts';
import { planSvg } from './plan-svg.ts';
import { planYaml } from './plan-yaml.ts';
import { type Verified, verifyPlan } from './verify/verify-plan.ts';

/** How the command was called. */
export interface PlanOptions {
  /** Under the names of the settings. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** `--config` */
  readonly file: string | undefined;
  /** `--target` */
  readonly target: unknown;
  readonly json: boolean;
  readonly yaml: boolean;
  readonly argv: readonly string[];
  readonly runPath: Call['runPath'];
}

type CapacityTarget = 'local' | 'kubernetes';

/** @throws BenchError `E_USAGE` for anything else; `missing` where the flag was not given */
function targetOf(flag: unknown, missing: CapacityTarget): CapacityTarget {
  if (flag === undefined) return missing;
  if (flag === 'local' || flag === 'kubernetes') return flag;
  throw new BenchError('E_USAGE', `--target: "${flag}" must be local or kubernetes`, {
    fix: 'local: this machine; kubernetes: the cluster of the kubeconfig.',
  });
}

/** @throws BenchError `E_CONFIG` with every problem */
async function decideSettings(world: World, { flags, file }: PlanOptions): Promise<PlanSettings> {
  const variables = Object.keys(FROM_ENVIRONMENT).map(variableOf);
  const env = Object.fromEntries(Object.entries(world.env).filter(([name]) => variables.includes(name)));
  const sources = { file: await readConfigurationFile(world, file), env, flags };
  const settings = resolveSettings(PLAN_SETTINGS, sources, 'capacity plan');
  // Whether programs may be installed is asked when the plan is verified.
  const read = { ...FROM_ENVIRONMENT, provision: SETTINGS.provision };
  noteIdleVariables(world, 'capacity plan', read, settings);
  return settings;
}

function basisOf(
  world: World,
  settings: PlanSettings,
  demand: Demand,
  cluster: string | null,
  { runPath }: PlanOptions,
) {
  const { corednsVersion: version = null, basis: wanted, out, extrapolate } = settings;
  return chooseBasis(world, {
    configuration: configurationOf(demand),
    lookups: demand.autopath ? 'autopath' : 'default',
    ...{ size: sizeOf(demand), version, cluster, wanted, out },
    extrapolate,
    pathOf: (name) => runPath(out, name),
  });
}

const AUTOPATH_ASSUMED =
  'Autopath is assumed off, because the Corefile of the cluster could not be read: pass --autopath if it is on.';

const PODS_WATCHED =
  'The Corefile of the cluster has `pods verified`: CoreDNS keeps every pod in memory, as with autopath.';

/** Why the number of endpoints changes nothing, in words; null where it is counted, or is the one that the line expects. */
function uncountedEndpoints(demand: Demand, { countsEndpoints, source }: MemoryBasis): string | null {
  const expected = sizeOf({ ...demand, endpoints: null }).endpoints;
  const { endpoints } = demand;
  return countsEndpoints || endpoints === null || endpoints === expected
    ? null
    : `the memory line in use has one endpoint for each pod, ${formatCount(expected)}, and cannot count ${formatCount(endpoints)} (${source})`;
}

/** From so many times the measured share on, a line over all objects says too little. */
const OTHER_SHARE = 1.5;

/** What the plan has more of, in proportion, than the line in use was measured with, as sentences. */
function otherProportions(demand: Demand, { together, source }: MemoryBasis): string[] {
  if (together === undefined) return [];
  const size = sizeOf(demand);
  const each = (of: 'services' | 'endpoints', all: Size) =>
    Math.round((1000 * all[of]) / Math.max(1, objectsOf(all)));
  return (['services', 'endpoints'] as const).flatMap((of) => {
    const [measured, wanted] = [each(of, together), each(of, size)];
    if (wanted <= OTHER_SHARE * measured) return [];
    return `The memory line in use was measured with ${formatCount(measured)} ${of} for each 1,000 pods and services, and the plan has ${formatCount(wanted)}: CoreDNS may need more than it says. Measure these apart, with --service-share and --endpoints-per-pod (${source}).`;
  });
}

async function verify(
  world: World,
  settings: PlanSettings,
  target: CapacityTarget,
  plan: CapacityPlan,
  version: string | null,
): Promise<Verified> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await verifyPlan({
      ...{ world, plan, target, display, signal: interruption.signal },
      settings: kubernetesOf(settings),
      maxObjects: settings.maxObjects,
      memoryLimitBytes: settings.verifyLimit ?? null,
      version,
    });
  } finally {
    interruption.release();
    display.clear();
  }
}

export interface VerifiedPlan extends Verified {
  readonly plan: CapacityPlan;
  readonly basis: MemoryBasis;
  readonly startedAt: Date;
  readonly argv: readonly string[];
  /** Directory of the runs. */
  readonly out: string;
}

/** Keeps it as a run: its record, and the reports beside it. Says on stderr where. */
export async function savePlan(world: World, verified: VerifiedPlan): Promise<void> {
  const { plan, basis, verification, environment, warnings, startedAt, argv, out } = verified;
  const store = createStore(world, out);
  const made: PlanRecord = {
    schemaVersion: 1,
    experiment: 'capacity-plan',
    id: newRunId(startedAt),
    ...runHead(argv, startedAt.toISOString()),
    status: 'complete',
    endedAt: world.clock.now().toISOString(),
    environment,
    warnings: [...warnings],
    servers: [verification.coredns],
    plan,
    basis: { kind: basis.kind, source: basis.source, formula: basis.formula },
    curves: curvesOf(plan, basis),
    verification,
  };
  const record = withPortablePaths(made, { cwd: world.cwd, home: world.env.HOME });
  const directory = store.directoryOf(record.id);
  await store.makeRawDirectory(directory);
  await store.saveAs(planKind, record, directory);
  const options = renderOptions(world, 'relative');
  const paths = await writeFiles(store, directory, filesOf(routineFormats(planFormats), record, options));
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
}

/** The plan on stdout: as text, as YAML for kubectl, or as JSON. With `--verify`, exit status 9 if it does not hold. */
export async function planCommand(world: World, options: PlanOptions): Promise<number> {
  const startedAt = world.clock.now();
  const settings = await decideSettings(world, options);
  refuse(
    options.target !== undefined &&
      !settings.verify && ['--target: has no effect without --verify', 'Add that, or omit it.'],
  );
  const target = targetOf(options.target, settings.fromCluster ? 'kubernetes' : 'local');
  const cluster = settings.fromCluster ? await countCluster(world, settings.context) : null;
  const demand = demandOf(settings, cluster);
  const { basis, throughput, survived, notes } = await basisOf(
    world,
    settings,
    demand,
    cluster?.server ?? null,
    options,
  );
  const made = planCapacity(demand, basis, throughput, survived);
  const uncounted = uncountedEndpoints(demand, basis);
  const isAssumed = cluster?.autopath === null && settings.autopath === undefined;
  // The limit that survived counts them.
  if (uncounted !== null && settings.endpoints !== undefined && survived === null) {
    throw new BenchError('E_USAGE', `--endpoints: ${uncounted}`, {
      evidence: notes,
      fix: 'Measure them apart (bench capacity memory --endpoints-per-pod 1,3), or omit --endpoints if most pods are in one service.',
    });
  }
  const plan = {
    ...made,
    notes: [
      ...notes,
      ...(isAssumed ? [AUTOPATH_ASSUMED] : []),
      ...(demand.watchesPods === true ? [PODS_WATCHED] : []),
      ...(uncounted === null ? [] : [`${uncounted}.`]),
      ...otherProportions(demand, basis),
      ...made.notes,
    ],
  };
  if (settings.chart !== undefined) {
    const path = resolve(world.cwd, settings.chart);
    await writeWhole(world.fs, world.processes.ownPid, path, await planSvg(plan, basis));
  }
  // An image that was named has its own.
  const isImage = target === 'kubernetes' && settings.corednsImage !== undefined;
  const planned = isImage ? null : (survived?.version ?? basis.version);
  const version = settings.corednsVersion ?? planned;
  const verified = settings.verify ? await verify(world, settings, target, plan, version) : null;
  const verification = verified?.verification;
  for (const warning of verified?.warnings ?? []) world.stderr.write(`Note: ${warning}\n`);
  if (options.json) printJson(world, { ...plan, verification });
  else if (options.yaml) world.stdout.write(planYaml(plan));
  else world.stdout.write(documentText(planAnswer(plan, verification), renderOptions(world, 'relative')));
  if (verified === null) return EXIT_STATUS.success;
  await savePlan(world, { ...verified, plan, basis, startedAt, argv: options.argv, out: settings.out });
  return verified.verification.held ? EXIT_STATUS.success : EXIT_STATUS.threshold;
}
