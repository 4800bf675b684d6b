/** The command line of `bench`: flags only. Nothing else reads argv. */
import {
  EXIT_STATUS,
  exitStatusHelp,
  HELP_COLUMNS,
  isHelp,
  isHelpInstead,
  messageOf,
  usageError,
} from '@dinodns-bench/program';
import { Command } from 'commander';
import { COMMANDS } from './commands/listed.ts';
import type { Call, ListedCommand } from './engine/registered.ts';
import { BenchError, choiceFix } from './errors.ts';
import { loadExperiment, loadedCommands } from './experiments/registry.ts';
import { printError } from './output.ts';
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
])}`;

/** The option of every command whose settings have other sources as well. */
const SETTINGS_FILE = 'settings from a YAML file';

/** In 80 columns; the example is one of the command's own settings. */
function sourcesHelp(command: Command): string {
  const flags = command.options.flatMap(({ long, hidden, negate }) =>
    long == null || hidden || negate ? [] : [long],
  );
  const flag = flags.find((each) => each === '--coredns-version') ?? flags[0] ?? '';
  const example = flag.slice(2).replaceAll('-', '_').toUpperCase();
  const hasPresets = command.options.some(({ long }) => long === '--preset');
  return `
A setting can also come from the environment, DINODNS_BENCH_<NAME>
(DINODNS_BENCH_${example}), or from a YAML file (--config; the same names
in camelCase). Flags override the environment, which overrides the file${
    hasPresets ? ', which\noverrides presets' : ''
  }.
A variable without effect on a command, such as another command's setting, is
named in a note.`;
}

/** `report [options] <run>` → `report` */
const nameOf = (usage: string): string => usage.split(' ')[0] ?? '';

/** The program without its commands. */
function newProgram({ world }: Call): Command {
  const program = new Command('bench')
    .description('How fast does DNS server A answer compared with B, at what cost, and how sure are we?')
    .version(BENCH_VERSION)
    .option('--experiment <file>', 'add an experiment of your own; before the command')
    .addHelpText('after', EXIT_STATUS_HELP)
    .showSuggestionAfterError();
  // Subcommands inherit these, so they come first.
  program.exitOverride().configureOutput({
    writeOut: (text) => world.stdout.write(text),
    writeErr: (text) => world.stderr.write(text),
    outputError: () => undefined,
    getOutHelpWidth: () => world.stdout.columns ?? HELP_COLUMNS,
    getErrHelpWidth: () => world.stderr.columns ?? HELP_COLUMNS,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  return program;
}

/** The command that is asked for; undefined where only the list of commands is. */
function askedCommand(program: Command, argv: readonly string[]): ListedCommand | undefined {
  const { operands, unknown } = program.parseOptions([...argv]);
  const isHelp = operands[0] === 'help';
  const name = operands[isHelp ? 1 : 0];
  if (name === undefined && (isHelp || unknown.includes('--help') || unknown.includes('-h')))
    return undefined;
  return COMMANDS.find((listed) => nameOf(listed.usage) === name) ?? COMMANDS[0];
}

/** Adds all commands, but loads only the one that is asked for, with its flags: all of them take a second. */
async function addCommands(program: Command, call: Call): Promise<void> {
  const asked = askedCommand(program, call.argv);
  const add = await asked?.load();
  await add?.(program, call);
  const added = new Map(program.commands.map((command) => [command.name(), command]));
  for (const { usage, description } of COMMANDS) {
    const command = added.get(nameOf(usage)) ?? new Command(usage);
    command.description(description);
    // Named by its usage, one that was not loaded looks like the others in the list, and nobody can call it.
    if (command.parent === null) program.addCommand(command);
  }
  for (const addLoaded of loadedCommands()) await addLoaded(program, call);
  for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
    if (command.options.some((option) => option.description === SETTINGS_FILE))
      command.addHelpText('after', sourcesHelp(command));
}

/** Before any command does something; what decides it is only loaded where there is a variable to look at. */
async function checkEnvironment(program: Command, call: Call): Promise<void> {
  if (!Object.keys(call.world.env).some((name) => name.startsWith('DINODNS_BENCH_'))) return;
  const { demandKnownVariables } = await import('./commands/demand-known-variables.ts');
  await demandKnownVariables(program, call);
}

function unknownCommand(word: string, of: Command): BenchError {
  const commands = of.commands.map((command) => nameOf(command.name()));
  return new BenchError('E_USAGE', `unknown command "${of.parent === null ? '' : `${of.name()} `}${word}"`, {
    fix: choiceFix(word, commands),
  });
}

/** What a command must be given: `latest NAME` for a run and its name. */
function exampleOf(command: Command | undefined): string {
  const wanted = command?.registeredArguments.filter(({ required }) => required) ?? [];
  return wanted
    .map((argument) => {
      const name = argument.name();
      if (name !== 'run') return name.toUpperCase();
      return argument.variadic ? 'main latest' : 'latest';
    })
    .join(' ');
}

/** Commander's errors, in our words where its own do not help. */
function complaint(error: unknown, program: Command, argv: readonly string[]): unknown {
  const text = messageOf(error);
  const { operands } = program.parseOptions([...argv]);
  const called = program.commands.find((each) => each.name() === operands[0]);
  const nested = called?.commands.find((each) => each.name() === operands[1]);
  const command = called && [called, nested].flatMap((each) => each?.name() ?? []).join(' ');
  const word = /^error: too many arguments for .*: (.+)\.$/.exec(text)?.[1]?.replaceAll(', ', ',');
  const taker = nested ?? called ?? program.commands.find((each) => each.name() === 'run');
  const takesServers = taker?.options.some(({ long }) => long === '--servers') === true;
  if (word !== undefined && takesServers && (called !== undefined || word.includes(','))) {
    const flag = `\`bench ${command ?? 'run'} --servers ${word}\``;
    return usageError(error, `If that names servers, write ${flag}.`);
  }
  // Commander reports it as an excess argument of the default command.
  if (word !== undefined && called === undefined) return unknownCommand(word, program);
  const unknown = /^error: unknown command '(.+)'/.exec(text)?.[1];
  if (unknown !== undefined && called !== undefined) return unknownCommand(unknown, called);
  if (command !== undefined && text.includes('missing required argument'))
    return usageError(error, `For example \`bench ${command} ${exampleOf(nested ?? called)}\`.`);
  if (text.includes('cannot be used with')) return usageError(error, 'Give only one of them.');
  const settings = `\`bench ${command ?? 'run'} --help\``;
  return usageError(error, `\`bench --help\` lists commands, ${settings} the settings of this command.`);
}

/** Commands of users' experiments must be there before flags are read. */
async function loadExperiments(argv: readonly string[], world: World): Promise<void> {
  for (let at = 0; argv[at] === '--experiment'; at += 2) {
    const file = argv[at + 1];
    if (file !== undefined) await loadExperiment(world, file);
  }
}

export const callOf = (world: World, argv: readonly string[]): Call => ({
  ...{ world, argv, status: EXIT_STATUS.success },
  async runPath(out, reference, experiment) {
    const { runPath } = await import('./commands/history-options.ts');
    return runPath(world, out, reference, experiment);
  },
});

/** Runs the CLI and resolves with its exit status. Never rejects. */
export async function main(argv: readonly string[], world: World): Promise<number> {
  const call = callOf(world, argv);
  let program = new Command();
  try {
    await loadExperiments(argv, world);
    program = newProgram(call);
    await addCommands(program, call);
    program.hook('preAction', () => checkEnvironment(program, call));
    await program.parseAsync([...argv], { from: 'user' });
    return call.status;
  } catch (error) {
    if (isHelp(error)) return EXIT_STATUS.success;
    if (isHelpInstead(error)) return EXIT_STATUS.usage;
    return printError(world, complaint(error, program, argv));
  }
}
