/** The command of the lookup experiment, with its flags. */
import type { Command } from 'commander';
import { resolveSettings } from '../../config/configuration.ts';
import { addFlags, givenFlags } from '../../engine/command.ts';
import type { Call } from '../../engine/registered.ts';
import { demandLocal, lookupOptions } from './options.ts';
import { LOOKUP_SETTINGS } from './settings.ts';

interface LookupFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly [setting: string]: unknown;
}

async function runTarget({ world, argv }: Call, { config, json, ...values }: LookupFlags): Promise<number> {
  const flags = givenFlags(LOOKUP_SETTINGS, values);
  const settings = resolveSettings(LOOKUP_SETTINGS, { env: world.env, flags }, 'lookup');
  demandLocal(settings, flags);
  const show = json === true ? 'json' : settings.format;
  const { runTigerTests, testsFileOf } = await import('./tiger/run-tests.ts');
  const tests = testsFileOf(world, config, settings);
  if (tests !== undefined) return runTigerTests(world, flags, argv, { path: tests, show });
  if (settings.target === 'kubernetes') {
    const { runInCluster } = await import('./pods/run.ts');
    return runInCluster(world, settings, argv, show);
  }
  const { runLookup } = await import('./run.ts');
  return runLookup(world, lookupOptions(settings, show), argv);
}

export function addLookupCommands(program: Command, call: Call): void {
  addFlags(program.command('lookup'), LOOKUP_SETTINGS)
    .description('how long a client waits for a name and a connection, each sample a new process')
    .option('--config <file>', 'on a cluster: tests of tiger-bench, a YAML list (also in TESTCONFIGFILE)')
    .option('--json', 'print the record instead of the tables')
    .addHelpText('after', call.exitStatusHelp)
    .action(async (flags: LookupFlags) => {
      call.status = await runTarget(call, flags);
    });
}
