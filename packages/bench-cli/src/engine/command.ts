/** From a definition to an experiment: its command with its flags, and what commands do with its records. */
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { flagName, type Setting, type SettingsOf, type SettingTable, shownValue } from '../config/setting.ts';
import { BenchError } from '../errors.ts';
import { isBundle } from '../report/renderer.ts';
import { headlineOf } from './document.ts';
import { engineEntry } from './entry.ts';
import type { ExperimentDefinition } from './experiment.ts';
import { engineForm } from './form.ts';
import type { EngineRecord } from './record.ts';
import { recordsOf } from './records.ts';
import type { Call, Experiment } from './registered.ts';
import type { Prepared } from './run.ts';
import { commandName, tableOf } from './settings.ts';

/** Its description, with its default, and with the only target for which it is if that is a cluster. */
function helpOf(setting: Setting): string {
  const { default: value, description, targets = [] } = setting;
  const isShown = value !== undefined && typeof value !== 'boolean' && !description.includes('default:');
  const place = targets.length === 1 && targets[0] === 'kubernetes' ? 'on a cluster: ' : '';
  return `${place}${description}${isShown ? ` (default: ${shownValue(setting, value)})` : ''}`;
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

/** Adds a flag for each setting. */
export function addFlags(command: Command, table: SettingTable): Command {
  for (const setting of Object.values(table)) {
    command.option(setting.flag, helpOf(setting));
    if (setting.formerly !== undefined) command.addOption(formerOption(setting.formerly));
  }
  return command;
}

/** Before `--config` named a file everywhere, it named configurations of CoreDNS in some commands. */
function isConfigurationList({ configurations }: SettingTable, value: string | undefined): boolean {
  return /^[a-z,-]+$/.test(value ?? '') && configurations?.schema.safeParse(value).success === true;
}

const DEFAULT_FORMAT = 'terminal';

/** @throws BenchError `E_USAGE` for what is not among the formats that can be printed */
function demandFormat(format: string, printed: readonly string[]): void {
  if (printed.includes(format)) return;
  throw new BenchError('E_USAGE', `--format: "${format}" must be one of ${printed.join(', ')}`, {
    fix: 'Give one of these. `bench report RUN --format …` makes every other format of a run.',
  });
}

function addCommand<T extends SettingTable, D, C, V extends z.ZodType>(
  program: Command,
  call: Call,
  definition: ExperimentDefinition<T, D, C, V>,
  prepared: Prepared<T, D, C, z.output<V>, EngineRecord<z.output<V>, SettingsOf<T>>>,
): void {
  const { question, description, settings } = definition;
  const table = tableOf(settings);
  const printed = prepared.form.formats.filter((format) => !isBundle(format)).map((format) => format.name);
  const words = commandName(definition).split(' ');
  const parent = words
    .slice(0, -1)
    .reduce(
      (above, word) => above.commands.find((each) => each.name() === word) ?? above.command(word),
      program,
    );
  addFlags(parent.command(words.at(-1) ?? ''), table)
    .description(description ?? question)
    .option('--config <file>', 'settings from a YAML file')
    .option('--resume <run>', 'continue an interrupted run: its id, or latest')
    .option('--dry-run', 'print the plan and how long it will take, then exit')
    .option('--format <name>', `what is printed: ${printed.join(', ')} (default: ${DEFAULT_FORMAT})`)
    .option('--json', 'print the record, as --format json does')
    .addHelpText('after', call.exitStatusHelp)
    .action(async (values: Record<string, unknown>) => {
      const text = (key: string) => (values[key] === undefined ? undefined : String(values[key]));
      const format = values.json === true ? 'json' : (text('format') ?? DEFAULT_FORMAT);
      demandFormat(format, printed);
      const { invokeExperiment } = await import('./run.ts');
      const flags = givenFlags(table, values);
      const file = text('config');
      for (const setting of Object.values(table))
        if (formerValue(setting, values) !== undefined)
          call.world.stderr.write(`Note: ${setting.formerly} is now ${flagName(setting)}.\n`);
      const isOld = isConfigurationList(table, file);
      if (isOld) call.world.stderr.write(`Note: --config ${file} is now --configurations ${file}.\n`);
      call.status = await invokeExperiment(call.world, prepared, {
        flags: isOld ? { configurations: file, ...flags } : flags,
        file: isOld ? undefined : file,
        resume: text('resume'),
        dryRun: values.dryRun === true,
        format,
        argv: call.argv,
      });
    });
}

/** An experiment as `bench` knows it. */
export function defineExperiment<T extends SettingTable, D, C, V extends z.ZodType>(
  definition: ExperimentDefinition<T, D, C, V>,
): Experiment {
  const form = engineForm(definition);
  return {
    name: definition.name,
    question: definition.question,
    publications: definition.publications ?? [],
    addCommands: (program, call) => addCommand(program, call, definition, { procedure: definition, form }),
    records: recordsOf({
      ...form,
      summarize: (record) => headlineOf(record, definition.document(record)),
      trialsOf: ({ trials }) => trials,
      entryOf: (record, summary) => engineEntry(record, summary),
    }),
  };
}
