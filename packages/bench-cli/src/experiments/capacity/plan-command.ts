/** `bench capacity plan`: from the size of a cluster to memory, replicas and their YAML, and whether that holds. */
import { resolve } from 'node:path';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { BenchError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { createDisplay } from '../../progress/display.ts';
import { formatCount } from '../../report/numbers.ts';
import { writeWhole } from '../../results/write-whole.ts';
import type { World } from '../../world.ts';
import { chooseBasis } from './choose-basis.ts';
import { clusterSettings } from './cluster/cluster-flags.ts';
import { DEFAULT_MAX_OBJECTS } from './cluster/settings.ts';
import { countCluster } from './cluster-counts.ts';
import { bytesOf, type DemandFlags, demandOf, wholeNumber } from './demand.ts';
import type { MemoryBasis } from './memory-basis.ts';
import { type CapacityPlan, type Demand, planCapacity, sizeOf } from './plan.ts';
import { planSvg } from './plan-svg.ts';
import { planYaml } from './plan-yaml.ts';
import { renderPlan } from './render-plan.ts';
import { savePlan } from './save-plan.ts';
import { targetOf } from './target.ts';
import { renderVerification } from './verify/render-verification.ts';
import type { Verification } from './verify/verification.ts';
import { verifyPlan } from './verify/verify-plan.ts';

export interface PlanFlags extends DemandFlags {
  readonly fromCluster?: boolean;
  readonly context?: string;
  readonly verify?: boolean;
  readonly target?: string;
  readonly maxObjects?: string;
  readonly corednsVersion?: string;
  readonly verifyLimit?: string;
  readonly basis?: string;
  readonly chart?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly yaml?: boolean;
}

const COLUMNS = 80;

/** The flags that say how a plan is verified, checked before anything is done. */
function verificationOf(world: World, flags: PlanFlags) {
  return {
    target: targetOf(flags.target, flags.fromCluster === true ? 'kubernetes' : 'local'),
    settings: clusterSettings({ ...flags }, world.env),
    maxObjects: wholeNumber('--max-objects', flags.maxObjects, DEFAULT_MAX_OBJECTS, 1),
    memoryLimitBytes: bytesOf('--verify-limit', flags.verifyLimit),
    version: flags.corednsVersion ?? null,
  };
}

const outOf = (world: World, { out }: PlanFlags) => out ?? world.env.DINODNS_BENCH_OUT ?? 'results';

function basisOf(world: World, flags: PlanFlags, demand: Demand, cluster: string | null) {
  return chooseBasis(world, {
    configuration: demand.autopath ? 'autopath' : 'default',
    size: sizeOf(demand),
    version: flags.corednsVersion ?? null,
    cluster,
    wanted: flags.basis,
    out: outOf(world, flags),
    extrapolate: flags.extrapolate === true,
  });
}

/** Why the number of endpoints changes nothing, in words; null where it is counted, or is the one that the line expects. */
function uncountedEndpoints(demand: Demand, { countsEndpoints, source }: MemoryBasis): string | null {
  const expected = sizeOf({ ...demand, endpoints: null }).endpoints;
  const { endpoints } = demand;
  return countsEndpoints || endpoints === null || endpoints === expected
    ? null
    : `the memory line in use has one endpoint for each pod, ${formatCount(expected)}, and cannot count ${formatCount(endpoints)} (${source})`;
}

async function verify(world: World, flags: PlanFlags, plan: CapacityPlan): Promise<Verification> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  try {
    return await verifyPlan({
      world,
      plan,
      ...verificationOf(world, flags),
      display,
      signal: interruption.signal,
    });
  } finally {
    interruption.release();
    display.clear();
  }
}

/** The plan on stdout: as text, as YAML for kubectl, or as JSON. With `--verify`, exit status 9 if it does not hold. */
export async function planCommand(world: World, flags: PlanFlags, argv: readonly string[]): Promise<number> {
  const startedAt = world.clock.now();
  if (flags.verify === true) verificationOf(world, flags);
  const cluster = flags.fromCluster === true ? await countCluster(world, flags.context) : null;
  const demand = demandOf(flags, cluster);
  const { basis, throughput, notes } = await basisOf(world, flags, demand, cluster?.server ?? null);
  const made = planCapacity(demand, basis, throughput);
  const uncounted = uncountedEndpoints(demand, basis);
  if (uncounted !== null && flags.endpoints !== undefined) {
    throw new BenchError('E_USAGE', `--endpoints: ${uncounted}`, {
      fix: 'Measure them apart (bench capacity memory --endpoints-per-pod 1,3), or omit --endpoints if most pods are in one service.',
    });
  }
  const plan = {
    ...made,
    notes: [...notes, ...(uncounted === null ? [] : [`${uncounted}.`]), ...made.notes],
  };
  if (flags.chart !== undefined) {
    const path = resolve(world.cwd, flags.chart);
    await writeWhole(world.fs, world.processes.ownPid, path, await planSvg(plan, basis));
  }
  const verification = flags.verify === true ? await verify(world, flags, plan) : null;
  const columns = world.stdout.columns ?? COLUMNS;
  if (flags.json === true) {
    const shown = verification === null ? plan : { ...plan, verification };
    world.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else if (flags.yaml === true) world.stdout.write(planYaml(plan));
  else world.stdout.write(renderPlan(plan, columns));
  if (verification === null) return EXIT_STATUS.success;
  if (flags.json !== true && flags.yaml !== true) {
    world.stdout.write(renderVerification(verification, columns));
  }
  await savePlan(world, { plan, basis, verification, startedAt, argv, out: outOf(world, flags) });
  return verification.held ? EXIT_STATUS.success : EXIT_STATUS.threshold;
}
