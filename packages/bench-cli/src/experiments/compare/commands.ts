/** The commands of the comparison, with their flags. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import type { Command } from 'commander';
import type { Call } from '../../engine/registered.ts';
import { addRunSettings, settingsFrom } from '../run-flags.ts';
import type { RunOptions } from './decide-run.ts';

/** Matrix of the published benchmark. */
const MATRIX = { tier: [1, 2, 4], mode: 'both' } as const;

function addSettings(command: Command): Command {
  return addRunSettings(command)
    .option('--resume <run>', 'continue an interrupted run: its id, or latest')
    .option('--dry-run', 'print the plan and how long it will take, then exit')
    .option('--json', 'print the record instead of the table');
}

function runOptions(call: Call, values: Record<string, unknown>, base?: typeof MATRIX): RunOptions {
  const text = (key: string) => (values[key] === undefined ? undefined : String(values[key]));
  return {
    flags: settingsFrom(values),
    ...(base === undefined ? {} : { base: { tier: [...base.tier], mode: base.mode } }),
    preset: text('preset'),
    configFile: text('config'),
    resume: text('resume'),
    dryRun: values.dryRun === true,
    json: values.json === true,
    argv: call.argv,
  };
}

function runAction(call: Call, base?: typeof MATRIX) {
  return async (values: Record<string, unknown>) => {
    const { runCommand } = await import('./run.ts');
    call.status = await runCommand(call.world, runOptions(call, values, base));
  };
}

function clusterOptions(call: Call, values: Record<string, unknown>): RunOptions {
  return { ...runOptions(call, values), base: { target: 'kubernetes' } };
}

/** What a run would use and create in a cluster, without a run. */
function addClusterCommands(program: Command, call: Call): void {
  const { world } = call;
  addRunSettings(program.command('images'))
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      const { decideRun } = await import('./decide-run.ts');
      const { imagesCommand } = await import('./images.ts');
      const run = await decideRun(world, clusterOptions(call, values));
      call.status = imagesCommand(world, run, { json: values.json === true });
    });
  addRunSettings(program.command('manifests')).action(async (values: Record<string, unknown>) => {
    const { decideRun } = await import('./decide-run.ts');
    const { manifestsOf, renderManifests } = await import('./manifests.ts');
    const { plan, ...run } = await decideRun(world, clusterOptions(call, values));
    world.stdout.write(renderManifests(manifestsOf({ ...run, cases: plan.cases, now: world.clock.now() })));
    call.status = EXIT_STATUS.success;
  });
}

export function addCompareCommands(program: Command, call: Call): void {
  addSettings(program.command('run', { isDefault: true }))
    .addHelpText('after', call.exitStatusHelp)
    .action(runAction(call));
  addSettings(program.command('matrix'))
    .addHelpText('after', call.exitStatusHelp)
    .action(runAction(call, MATRIX));
  addClusterCommands(program, call);
}
