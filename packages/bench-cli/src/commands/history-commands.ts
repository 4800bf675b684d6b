/** The flags of the commands over the history: history, compare, trend, gate, import. */
import { EXIT_STATUS, exitStatusHelp } from '@dinodns-bench/program';
import { type Command, Option } from 'commander';
import type { Call } from '../engine/registered.ts';
import type { Selector } from '../history/axes.ts';
import { PUBLICATIONS } from '../history/published.ts';
import type { CompareCommandOptions } from './compare.ts';
import type { GateCommandOptions } from './gate.ts';
import type { HistoryOptions } from './history.ts';
import type { ImportOptions } from './import.ts';
import { outOf } from './report-commands.ts';
import type { ReproduceOptions } from './reproduce.ts';
import type { TrendOptions } from './trend.ts';

const METRICS = 'qps, latency, cpu, memory, or any other figure of the runs';
const FORMAT = ['--format <name>', 'text, markdown, github (for a comment) or json', 'text'] as const;
const NORMALIZE = [
  '--normalize <server>',
  "figures relative to this server of the same run: cancels out the machine's speed",
] as const;
const INTERVAL = ['--interval <method>', 'auto, or bootstrap (from 8 trials)'] as const;

const RUNS_HELP = `
A run is named by its id or the beginning of it, its path, \`latest\`, a name from
\`bench history tag\`, a git branch (its newest complete run) or a git commit.
A colon selects cases: latest:server=dinodns,tier=1`;

const POOL_HELP = `
A plus joins several runs into one side: main+old latest`;

const VERDICTS_HELP = `
Verdicts:
  reproduced      our 95 % interval contains the published ratio, and not 1
  cannot tell     it contains both: the run says nothing about the publication
  same direction  it does not, but all of it is on the same side of 1
  contradicted    neither: our interval contains 1, or is on the other side
  too few trials  measured without an interval: use --trials 3 or more
  not measured    the run lacks a case or the figure

bench history --kind published lists all publications; bench compare takes
them as published/NAME.`;

const GATE_HELP = exitStatusHelp(['success', 'usage', 'record', 'undecided', 'threshold'], {
  success: 'not shown to be worse than tolerated, or it cannot be told',
  undecided: 'with --strict: it cannot be told',
  threshold: 'shown to be worse: the 95 % interval leaves out the tolerance',
});

/** Of every question: where the runs are, and how it is answered. */
function addAnswer(command: Command, call: Call): Command {
  return command
    .option(...outOf(call))
    .option(...FORMAT)
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'));
}

/** As commander has them: under the names of the flags. */
type Flags<Options> = Options & { readonly json?: boolean };

/** `--json` is a format. */
function withFormat<Options extends { readonly format: string }>(values: Flags<Options>): Options {
  return values.json === true ? { ...values, format: 'json' } : values;
}

/** What tells cases apart, as flags. */
const AXIS_FLAGS = {
  server: ['--server <name>', 'cases of this server only'],
  tier: ['--tier <n>', 'cases of this tier only'],
  mode: ['--mode <mode>', 'cases of this mode only'],
  workload: ['--workload <name>', 'cases of this workload only'],
  transport: ['--transport <name>', 'cases of this transport only'],
  rate: ['--rate <qps>', 'cases of this rate only, or max'],
} as const;

function addSelection(command: Command): Command {
  for (const [flag, description] of Object.values(AXIS_FLAGS)) command.option(flag, description);
  return command.option(
    '--select <list>',
    'cases with NAME=VALUE,…: anything that tells cases of the runs apart',
  );
}

type Selection = Readonly<Partial<Record<keyof typeof AXIS_FLAGS | 'select', string>>>;

/** Throws `E_USAGE`. */
async function selectionFrom({ select, ...values }: Selection): Promise<Selector> {
  const given = Object.keys(AXIS_FLAGS).flatMap((name) => {
    const value = values[name as keyof typeof AXIS_FLAGS];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { parseSelector } = await import('../history/select.ts');
  return { ...Object.fromEntries(given), ...(select === undefined ? {} : parseSelector(select)) };
}

export function addHistory(program: Command, call: Call): void {
  const history = program
    .command('history')
    .option('--server <name>', 'runs with this server')
    .option('--branch <name>', 'runs of this git branch')
    .option('--commit <hash>', 'runs of this git commit')
    .option('--tag <name>', 'the run with this name')
    .option('--kind <kind>', 'run, imported, or published (results that ship with bench)')
    .option('--status <status>', 'complete, interrupted, running or imported')
    .option('--since <date>', 'runs since this date')
    .option('--before <date>', 'runs before this date')
    .option('--limit <n>', 'at most this many (default: 20)');
  addAnswer(history, call).action(async (values: Flags<HistoryOptions>) => {
    const { historyCommand } = await import('./history.ts');
    call.status = await historyCommand(call.world, withFormat(values));
  });
  addHistoryMaintenance(history, call);
}

/** Subcommands that change the history or the names of runs. */
function addHistoryMaintenance(history: Command, call: Call): void {
  history
    .command('rebuild')
    .description('read all records again, and name those that cannot be read')
    .action(async (_values: unknown, command: Command) => {
      const { rebuildCommand } = await import('./history.ts');
      call.status = await rebuildCommand(call.world, command.optsWithGlobals());
    });
  history
    .command('tag')
    .description('name a run, to compare with it later')
    .argument('<run>', 'the run')
    .argument('<name>', 'its name, for example main')
    .option('--remove', 'delete the name')
    .action(async (run: string, name: string, _values: unknown, command: Command) => {
      const { tagCommand } = await import('./history.ts');
      call.status = await tagCommand(call.world, { ...command.optsWithGlobals(), run, name });
    });
}

export function addCompare(program: Command, call: Call): void {
  const compare = program
    .command('compare')
    .argument('<run...>', 'two runs or more')
    .option('--metric <list>', `figures to compare: ${METRICS} (default: all)`)
    .option(...NORMALIZE)
    .option(...INTERVAL);
  addAnswer(compare, call)
    .addHelpText('after', RUNS_HELP + POOL_HELP)
    .action(async (references: string[], values: Flags<CompareCommandOptions>) => {
      const { compareCommand } = await import('./compare.ts');
      call.status = await compareCommand(call.world, { ...withFormat(values), references });
    });
}

export function addTrend(program: Command, call: Call): void {
  const trend = addSelection(program.command('trend'))
    .option('--metric <name>', `${METRICS} (default: qps)`)
    .option(...NORMALIZE);
  addAnswer(trend, call).action(async (values: Flags<Omit<TrendOptions, 'select'>> & Selection) => {
    const { trendCommand } = await import('./trend.ts');
    const select = await selectionFrom(values);
    call.status = await trendCommand(call.world, { ...withFormat(values), select });
  });
}

export function addGate(program: Command, call: Call): void {
  const gate = addSelection(program.command('gate'))
    .argument('[run]', 'the run to judge', 'latest')
    .addOption(
      new Option('--against <run>', 'the run to compare it with, for example main').conflicts('base'),
    )
    .option('--base <server>', 'instead: a server of the same run, measured in turns')
    .option(
      '--max-regression <list>',
      'how much worse is tolerated: 3%, or by figure qps=3%,latency=10% (default: 3%)',
    )
    .option(
      '--metric <list>',
      `figures to judge: ${METRICS} (default: the first that the runs have; cpu if all held a rate)`,
    )
    .option('--strict', `what cannot be told is a failure too (status ${EXIT_STATUS.undecided})`)
    .option(...NORMALIZE)
    .option(...INTERVAL);
  addAnswer(gate, call)
    .addHelpText('after', `${RUNS_HELP}\n${GATE_HELP}`)
    .action(async (run: string, values: Flags<Omit<GateCommandOptions, 'run' | 'select'>> & Selection) => {
      const { gateCommand } = await import('./gate.ts');
      const select = await selectionFrom(values);
      call.status = await gateCommand(call.world, { ...withFormat(values), run, select });
    });
}

export function addReproduce(program: Command, call: Call): void {
  const reproduce = program
    .command('reproduce')
    .argument('<name>', `what was published: ${PUBLICATIONS.join(', ')}`)
    .argument('[run]', 'the run', 'latest');
  addAnswer(reproduce, call)
    .addHelpText('after', `${RUNS_HELP}\n${VERDICTS_HELP}`)
    .action(async (publication: string, run: string, values: Flags<ReproduceOptions>) => {
      const { reproduceCommand } = await import('./reproduce.ts');
      call.status = await reproduceCommand(call.world, { ...withFormat(values), publication, run });
    });
}

export function addImport(program: Command, call: Call): void {
  program
    .command('import')
    .argument('<file...>', 'files of dnsperf, kubernetes/perf-tests, tiger-bench, flamethrower or dnspyre')
    .option(
      '--format <name>',
      'dnsperf, perf-tests, tiger-bench, flamethrower or dnspyre (default: detected)',
    )
    .option('--server <name>', 'the server that was measured, which most formats do not record')
    .option(...outOf(call))
    .option('--json', 'print what was imported as JSON')
    .action(async (files: string[], values: Omit<ImportOptions, 'files'>) => {
      const { importCommand } = await import('./import.ts');
      call.status = await importCommand(call.world, { ...values, files });
    });
}
