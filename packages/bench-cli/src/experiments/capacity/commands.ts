/** The commands of the capacity experiment, with their flags. */
import { exitStatusHelp } from '@dinodns-bench/program';
import { type Command, Option } from 'commander';
import { addFlags, givenFlags, RUN_REASONS } from '../../engine/flags.ts';
import type { Call } from '../../engine/registered.ts';
import { caching, throughput } from './cases/index.ts';
import { capacityMemory } from './memory/index.ts';
import { PLAN_SETTINGS } from './plan-settings.ts';
import { propagation } from './propagation/index.ts';
import { capacitySurvive } from './survive/index.ts';

const PLAN_HELP = exitStatusHelp([...RUN_REASONS, 'threshold'], {
  threshold: 'with --verify: CoreDNS died, lost queries or answered wrongly',
});

export async function addCapacityCommands(program: Command, call: Call): Promise<void> {
  const capacity = program.command('capacity');
  for (const experiment of [capacityMemory, capacitySurvive, throughput, caching, propagation])
    await experiment.addCommands(program, call);
  addFlags(capacity.command('plan'), PLAN_SETTINGS)
    .description(
      "memory, replicas and their YAML, from the cluster's size and your measurements, or published ones",
    )
    .option(
      '--target <name>',
      'where to verify: local, or kubernetes (default: with --from-cluster, the cluster)',
    )
    .option('--config <file>', 'settings from a YAML file')
    .addOption(
      new Option('--yaml', 'print a patch with the resources, and the ConfigMap of the autoscaler').conflicts(
        'json',
      ),
    )
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', PLAN_HELP)
    .action(async (values: Record<string, unknown>) => {
      const { planCommand } = await import('./plan-command.ts');
      call.status = await planCommand(call.world, {
        flags: givenFlags(PLAN_SETTINGS, values),
        file: values.config === undefined ? undefined : String(values.config),
        target: values.target,
        json: values.json === true,
        yaml: values.yaml === true,
        argv: call.argv,
        runPath: call.runPath,
      });
    });
}
