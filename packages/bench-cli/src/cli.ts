/** The command line of `bench`: flags only. Nothing else reads argv. */

import {
  EXIT_STATUS,
  exitStatusHelp,
  isHelp,
  messageOf,
  nearest,
  reportError,
  usageError,
} from '@dinodns-bench/program';
import { Command } from 'commander';
import { cleanupCommand, cleanupOptions } from './commands/cleanup.ts';
import { decideRun, type RunOptions } from './commands/decide-run.ts';
import { doctorCommand } from './commands/doctor.ts';
import { addHistoryCommands } from './commands/history-commands.ts';
import { imagesCommand } from './commands/images.ts';
import { manifestsCommand } from './commands/manifests.ts';
import { openCommand } from './commands/open.ts';
import { reportCommand } from './commands/report.ts';
import { runCommand } from './commands/run.ts';
import { serversCommand } from './commands/servers.ts';
import {
  DEFAULTS,
  PRESETS,
  SETTING_DESCRIPTIONS,
  type SettingName,
  settingNames,
} from './config/settings.ts';
import { percentText } from './config/value-schemas.ts';
import { BenchError } from './errors.ts';
import { formats } from './report/index.ts';
import { BENCH_VERSION } from './version.ts';
import type { World } from './world.ts';

const EXIT_STATUS_HELP = `${exitStatusHelp([
  'success',
  'internal',
  'usage',
  'environment',
  'server',
  'failedTrials',
  'record',
  'output',
  'undecided',
  'threshold',
  'interrupted',
  'terminated',
])}

Every setting can also come from the environment, DINODNS_BENCH_<NAME>
(DINODNS_BENCH_COREDNS_VERSION), or from a YAML file (--config; the same names
in camelCase). Flags win over the environment, that over the file, and the file
over presets.`;

/** Matrix of the published benchmark. */
const MATRIX = { tier: [1, 2, 4], mode: 'both' } as const;

/** What `--format` takes. */
function formatsHelp(): string {
  const names = formats.map(({ name, aliases = [] }) => [name, ...aliases].join(', '));
  const width = Math.max(...names.map((name) => name.length));
  const lines = formats.map(
    ({ description }, index) => `  ${(names[index] ?? '').padEnd(width)}  ${description}`,
  );
  return `\nFormats (one text alone goes to stdout; several, and pictures, to files):\n${lines.join('\n')}`;
}

function defaultHint(name: SettingName): string {
  const value = (DEFAULTS as Partial<Record<SettingName, unknown>>)[name];
  if (value === undefined || typeof value === 'boolean') return '';
  return ` (default: ${name === 'maxLost' ? percentText(Number(value)) : String(value)})`;
}

/** The settings that were given on the command line, under their names; commander's own defaults are unused. */
function settingsFrom(values: Record<string, unknown>): Partial<Record<SettingName, unknown>> {
  const entries = settingNames().flatMap((name) => {
    const value = values[name];
    // commander sets a negatable flag to true when it was not given.
    const given = name === 'provision' ? value === false : value !== undefined;
    return given ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** The settings of a run, without the ways to start one. */
function addRunSettings(command: Command): Command {
  for (const name of settingNames()) {
    const { flag, description } = SETTING_DESCRIPTIONS[name];
    command.option(flag, description + defaultHint(name));
  }
  return command
    .option('--preset <name>', `settings to start from: ${Object.keys(PRESETS).join(', ')}`)
    .option('--config <file>', 'settings from a YAML file');
}

function addSettings(command: Command): Command {
  return addRunSettings(command)
    .option('--resume <run>', 'go on with an interrupted run: its id, or latest')
    .option('--dry-run', 'print the plan and how long it will take, do nothing')
    .option('--json', 'print the record instead of the table');
}

interface Call {
  readonly world: World;
  readonly argv: readonly string[];
  status: number;
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
    call.status = await runCommand(call.world, runOptions(call, values, base));
  };
}

/** What concerns clusters only. */
function addClusterCommands(program: Command, call: Call): void {
  const { world } = call;
  addRunSettings(program.command('images'))
    .description('list the container images that a run on a cluster uses')
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      const { configuration } = await decideRun(world, runOptions(call, values));
      call.status = imagesCommand(world, configuration, { json: values.json === true });
    });
  addRunSettings(program.command('manifests'))
    .description('print the objects of a run on a cluster as YAML, for kubectl apply')
    .action(async (values: Record<string, unknown>) => {
      call.status = manifestsCommand(world, await decideRun(world, runOptions(call, values)));
    });
  program
    .command('cleanup')
    .description('remove from a cluster what killed runs left')
    .option('--run <id>', 'this run, even if its bench may still be running')
    .option('--older-than <time>', 'runs older than this, of other machines as well: 1h')
    .option('--dry-run', 'list what is there, remove nothing')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--json', 'as JSON')
    .action(async (values: Record<string, unknown>) => {
      call.status = await cleanupCommand(world, cleanupOptions(values));
    });
}

function buildProgram(call: Call): Command {
  const { world } = call;
  const program = new Command('bench')
    .description('How fast does DNS server A answer compared with B, at what cost, and how sure are we?')
    .version(BENCH_VERSION)
    .addHelpText('after', EXIT_STATUS_HELP)
    .showSuggestionAfterError();
  // Subcommands inherit these, so they come first.
  program.exitOverride().configureOutput({
    writeOut: (text) => world.stdout.write(text),
    writeErr: () => undefined,
    getOutHelpWidth: () => world.stdout.columns ?? 80,
    getErrHelpWidth: () => world.stderr.columns ?? 80,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });

  addSettings(program.command('run', { isDefault: true }))
    .description('measure servers and write the comparison (the default command)')
    .addHelpText('after', EXIT_STATUS_HELP)
    .action(runAction(call));
  addSettings(program.command('matrix'))
    .description('the published matrix: run with tiers 1, 2, 4 in both modes')
    .addHelpText('after', EXIT_STATUS_HELP)
    .action(runAction(call, MATRIX));
  program
    .command('report')
    .description('render the reports of a run again from its record')
    .argument('<run>', 'id of a run, its folder or run.json, or latest')
    .option('--delta <definition>', 'relative or symmetric (default: as in the record)')
    .option('--format <names>', 'one or several of those below, with commas between them')
    .option('--to <directory>', 'where files go (default: beside the record)')
    .option('--out <directory>', 'where the folders of runs lie', DEFAULTS.out)
    .addHelpText('after', formatsHelp())
    .action(async (run: string, values: Record<string, string | undefined>) => {
      call.status = await reportCommand(world, {
        run,
        delta: values.delta,
        format: values.format,
        out: values.out ?? DEFAULTS.out,
        to: values.to,
      });
    });
  program
    .command('open')
    .description('open the page of a run in a browser')
    .argument('<run>', 'id of a run, its folder or run.json, or latest')
    .option('--delta <definition>', 'relative or symmetric (default: as in the record)')
    .option('--out <directory>', 'where the folders of runs lie', DEFAULTS.out)
    .action(async (run: string, values: Record<string, string | undefined>) => {
      call.status = await openCommand(world, {
        run,
        delta: values.delta,
        out: values.out ?? DEFAULTS.out,
      });
    });
  program
    .command('servers')
    .description('list the servers that can be compared, and whether they are here')
    .option('--json', 'as JSON')
    .action(async (values: { json?: boolean }) => {
      call.status = await serversCommand(world, { json: values.json === true });
    });
  program
    .command('doctor')
    .description('what this machine has and lacks')
    .option('--fix', 'get the tools that are missing')
    .option('--json', 'as JSON')
    .action(async (values: { fix?: boolean; json?: boolean }) => {
      call.status = await doctorCommand(world, { fix: values.fix === true, json: values.json === true });
    });
  addClusterCommands(program, call);
  addHistoryCommands(program, world, (status) => {
    call.status = status;
  });
  return program;
}

/** A word that is no command is, to commander, an argument too many for the default command. */
function unknownCommand(word: string, program: Command): BenchError {
  const commands = program.commands.map((command) => command.name());
  const suggestion = nearest(word, commands);
  return new BenchError('E_USAGE', `there is no command "${word}"`, {
    fix: suggestion === undefined ? `Choose from ${commands.join(', ')}.` : `Did you mean "${suggestion}"?`,
  });
}

/** What commander complains about, in our words where it does not know better. */
function complaint(error: unknown, program: Command): unknown {
  const text = messageOf(error);
  const word = /^error: too many arguments for 'run'.*: (\S+)\.$/.exec(text)?.[1];
  if (word !== undefined) return unknownCommand(word, program);
  return usageError(error, '`bench --help` lists commands, `bench run --help` the settings of a run.');
}

/** Runs the CLI and resolves with its exit status. Never rejects. */
export async function main(argv: readonly string[], world: World): Promise<number> {
  const call: Call = { world, argv, status: EXIT_STATUS.success };
  const program = buildProgram(call);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return call.status;
  } catch (error) {
    if (isHelp(error)) return EXIT_STATUS.success;
    const { stderr, env } = world;
    return reportError(complaint(error, program), 'bench', {
      stderr: { write: stderr.write, isTTY: stderr.isTerminal },
      env,
    });
  }
}
