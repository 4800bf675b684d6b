/** The flags of settings, and the commands of a procedure: what is typed, and what the help says of it. */
import { exitStatusHelp } from '@dinodns-bench/program';
import { type Command, Option } from 'commander';
import { flagName, type Setting, type SettingTable, shownValue } from '../config/setting.ts';
import { BenchError } from '../errors.ts';
import { isBundle } from '../report/renderer.ts';
import type { World } from '../world.ts';
import type { Procedure, SettingsView } from './experiment.ts';
import type { LivingRecord, LoadForm } from './form.ts';
import type { Call } from './registered.ts';
import { commandName, type GivenSettings, tableOf } from './settings.ts';

const HELP_ALL = '--help-all';
const HELP_WORDS = ['--help', '-h', 'help', HELP_ALL];

/** A run ends with one of these; what is measured is never missed or undecided. */
export const RUN_REASONS = [
  ...(['success', 'internal', 'usage', 'environment', 'server', 'failedTrials', 'record', 'output'] as const),
  ...(['interrupted', 'terminated'] as const),
];

/** Its description, with its default, and with the only target for which it is if that is a cluster and no heading says so. */
function helpOf(name: string, setting: Setting, { groups, base, shownDefault }: SettingsView): string {
  const { default: usual, description, targets = [] } = setting;
  const value = base?.[name] ?? usual;
  const isShown = value !== undefined && typeof value !== 'boolean' && !description.includes('default:');
  const isOfCluster = groups === undefined && targets.length === 1 && targets[0] === 'kubernetes';
  const place = isOfCluster ? 'on a cluster: ' : '';
  if (!isShown) return `${place}${description}`;
  const own = base === undefined ? shownDefault?.(name, setting) : undefined;
  const shown = own ?? shownValue(setting, value);
  return `${place}${description}${shown === '' ? '' : ` (default: ${shown})`}`;
}

const formerOption = (flag: string) => new Option(`${flag} <value>`).hideHelp();

/** What was given under a flag that has another name now. */
function formerValue({ formerly }: Setting, values: Readonly<Record<string, unknown>>): unknown {
  return formerly === undefined ? undefined : values[formerOption(formerly).attributeName()];
}

/** The settings that were given on the command line, under their names; commander's own defaults are unused. */
export function givenFlags(
  table: SettingTable,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = Object.entries(table).flatMap(([name, setting]) => {
    const value = values[name] ?? formerValue(setting, values);
    // commander sets a negatable flag to true when it was not given.
    const isNegated = flagName(setting).startsWith('--no-');
    const given = isNegated ? value === false : value !== undefined;
    return given ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Adds a flag for each setting; where they are in groups, those that `--help` leaves out are hidden. */
export function addFlags(
  command: Command,
  table: SettingTable,
  view: SettingsView = {},
  argv: Call['argv'] = [],
): Command {
  const { groups, shown } = view;
  const isWhole = groups === undefined || argv.includes(HELP_ALL);
  for (const [group, settings] of Object.entries(groups ?? { '': table })) {
    if (group !== '') command.optionsGroup(`${group}:`);
    for (const [name, setting] of Object.entries(settings)) {
      const isHidden = !isWhole && !(shown?.includes(name) ?? setting.rare === undefined);
      command.addOption(new Option(setting.flag, helpOf(name, setting, view)).hideHelp(isHidden));
      if (setting.formerly !== undefined) command.addOption(formerOption(setting.formerly));
    }
  }
  return command;
}

/** The flags of settings that a file, and perhaps a preset, can give as well; `--help-all` shows what `--help` leaves out. */
export function addSettings(
  command: Command,
  table: SettingTable,
  view: SettingsView,
  { argv }: Pick<Call, 'argv'>,
): Command {
  addFlags(command, table, view, argv);
  if (view.presets !== undefined)
    command.option('--preset <name>', `settings to start from: ${view.presets.join(', ')}`);
  command.option('--config <file>', 'settings from a YAML file');
  if (view.groups === undefined) return command;
  return command
    .helpOption('-h, --help', 'the settings that are needed most')
    .option(HELP_ALL, 'all settings of a run, also rare ones and those of a cluster')
    .on(`option:${HELP_ALL.slice(2)}`, () => {
      const word = argv[argv.indexOf(command.name()) + 1];
      const below = command.commands.find((each) => each.name() === word);
      (below ?? command).help();
    });
}

/** Before `--config` named a file everywhere, it named configurations of CoreDNS in some commands. */
function isConfigurationList({ configurations }: SettingTable, value: string | undefined): boolean {
  return /^[a-z,-]+$/.test(value ?? '') && configurations?.schema.safeParse(value).success === true;
}

const textOf = (value: unknown) => (value === undefined ? undefined : String(value));

/** What was typed, with a note on stderr for each flag that is called otherwise now. */
export function givenSettings(
  { stderr }: Pick<World, 'stderr'>,
  table: SettingTable,
  values: Readonly<Record<string, unknown>>,
  { base }: Pick<SettingsView, 'base'> = {},
): GivenSettings {
  for (const setting of Object.values(table))
    if (formerValue(setting, values) !== undefined)
      stderr.write(`Note: ${setting.formerly} is now ${flagName(setting)}.\n`);
  const flags = givenFlags(table, values);
  const file = textOf(values.config);
  const isOld = isConfigurationList(table, file);
  if (isOld) stderr.write(`Note: --config ${file} is now --configurations ${file}.\n`);
  return {
    flags: isOld ? { configurations: file, ...flags } : flags,
    file: isOld ? undefined : file,
    ...(base === undefined ? {} : { base }),
    preset: textOf(values.preset),
  };
}

const DEFAULT_FORMAT = 'terminal';
/** Those of `--dry-run`. */
const PLAN_FORMATS = [DEFAULT_FORMAT, 'json'];

/** @throws BenchError `E_USAGE` for what is not among the formats that can be printed */
function demandFormat(format: string, printed: readonly string[]): void {
  if (printed.includes(format)) return;
  throw new BenchError('E_USAGE', `--format: "${format}" must be one of ${printed.join(', ')}`, {
    fix: 'Give one of these. `bench report RUN --format …` makes every other format of a run.',
  });
}

/**
 * Adds the commands of a procedure.
 * @param loadForm of its records, which is much to load: only for a run, and for a help that names its formats
 */
export async function addProcedure<T extends SettingTable, D, C, E, R extends LivingRecord>(
  program: Command,
  call: Call,
  procedure: Procedure<T, D, C, E, R> & { readonly question?: string; readonly description?: string },
  loadForm: LoadForm<T, D, C, E, R>,
): Promise<void> {
  const table = tableOf(procedure.settings);
  const printedFormats = async () =>
    (await loadForm()).formats.filter((format) => !isBundle(format)).map(({ name }) => name);
  const isAsked = call.argv.some((word) => HELP_WORDS.includes(word));
  const formats = isAsked ? `: ${(await printedFormats()).join(', ')}` : '';
  for (const view of procedure.commands ?? [{ command: commandName(procedure) }]) {
    const words = view.command.split(' ');
    const parent = words
      .slice(0, -1)
      .reduce(
        (above, word) => above.commands.find((each) => each.name() === word) ?? above.command(word),
        program,
      );
    const command = parent.command(words.at(-1) ?? '', { isDefault: view.isDefault === true });
    addSettings(command, table, view, call)
      .description(procedure.description ?? procedure.question ?? '')
      .option('--resume <run>', 'continue an interrupted run: latest, or its id, tag, branch or commit')
      .option('--dry-run', 'print the plan and how long it will take, then exit')
      .option('--format <name>', `output format${formats} (default: ${DEFAULT_FORMAT})`)
      .addOption(new Option('--json', 'print the record instead of the table').conflicts('format'))
      .addHelpText('after', view.examples ?? '')
      .addHelpText('after', exitStatusHelp(RUN_REASONS))
      .action(async (values: Readonly<Record<string, unknown>>) => {
        const typed = values.json === true ? 'json' : textOf(values.format);
        const isPlan = values.dryRun === true;
        if (typed !== undefined) demandFormat(typed, isPlan ? PLAN_FORMATS : await printedFormats());
        const { invokeExperiment } = await import('./invoke.ts');
        call.status = await invokeExperiment(call.world, procedure, loadForm, {
          ...givenSettings(call.world, table, values, view),
          resume: textOf(values.resume),
          runPath: call.runPath,
          dryRun: isPlan,
          format: typed ?? DEFAULT_FORMAT,
          argv: call.argv,
        });
      });
  }
}
