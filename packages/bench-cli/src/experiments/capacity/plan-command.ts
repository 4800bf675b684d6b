/** `bench capacity plan`: from the size of a cluster to memory, replicas and their YAML. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import type { World } from '../../world.ts';
import { countCluster } from './cluster-counts.ts';
import { type DemandFlags, demandOf } from './demand.ts';
import { planCapacity } from './plan.ts';
import { planYaml } from './plan-yaml.ts';
import { renderPlan } from './render-plan.ts';

export interface PlanFlags extends DemandFlags {
  readonly fromCluster?: boolean;
  readonly context?: string;
  readonly json?: boolean;
  readonly yaml?: boolean;
}

const COLUMNS = 80;

/** The plan on stdout: as text, as YAML for kubectl, or as JSON. */
export async function planCommand(world: World, flags: PlanFlags): Promise<number> {
  const cluster = flags.fromCluster === true ? await countCluster(world, flags.context) : null;
  const plan = planCapacity(demandOf(flags, cluster));
  if (flags.json === true) world.stdout.write(`${JSON.stringify(plan, null, 2)}\n`);
  else if (flags.yaml === true) world.stdout.write(planYaml(plan));
  else world.stdout.write(renderPlan(plan, world.stdout.columns ?? COLUMNS));
  return EXIT_STATUS.success;
}
