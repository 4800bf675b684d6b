/** `bench run` and `bench matrix`: decides the run, and shows its plan or performs it. */
import { calibrationSeconds, needsCalibration } from '../../measure/needs-calibration.ts';
import { renderPlan } from '../../plan/render.ts';
import { listed } from '../../text.ts';
import type { World } from '../../world.ts';
import { type DecidedRun, decideRun, type RunOptions } from './decide-run.ts';

/** Resolves with the exit status; rejects with a BenchError if the run as a whole fails. */
export async function runCommand(world: World, options: RunOptions): Promise<number> {
  const run = await decideRun(world, options);
  if (options.dryRun) {
    world.stdout.write(options.json ? `${JSON.stringify(run.plan, null, 2)}\n` : planText(run));
    return 0;
  }
  // Much to load, which a plan does not need.
  const { perform } = await import('./perform.ts');
  return perform(world, options, run);
}

function planText({ plan, configuration, servers, workloads }: DecidedRun): string {
  const isCalibrated = needsCalibration(configuration, plan, workloads);
  const text = renderPlan(plan, configuration, isCalibrated ? calibrationSeconds(servers) : 0);
  const named = servers.filter(({ isVersionNamed }) => isVersionNamed).map(({ name }) => name);
  return named.length === 0
    ? text
    : `${text}Not checked, since a dry run gets nothing: whether there is ${listed(named)}\n`;
}
