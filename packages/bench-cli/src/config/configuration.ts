/**
 * From layers to one configuration: defaults → preset → file → environment → flags. All problems of all
 * layers are reported at once, each with the place it comes from.
 */
import { messageOf, nearest, whyUnreadable } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import { crossProblems, idleReason, idleSettings, repeatedEntries, untilProblems } from './cross-checks.ts';
import { type KubernetesSettings, pickKubernetes } from './kubernetes-settings.ts';
import { baselineOf, pathFor } from './paths.ts';
import { findPreset, PRESETS } from './presets.ts';
import {
  defaultOf,
  type FieldsOf,
  flagName,
  fromFields,
  type Setting,
  type SettingsOf,
  type SettingTable,
  shownValue,
  toFields,
} from './setting.ts';
import { DEFAULTS, RUN_SETTINGS, SETTINGS, type SettingName, type Settings, variableOf } from './settings.ts';
import { shortRunOf } from './short-run.ts';

/**
 * What a run does, complete and checked: a field for each setting, null where there is no value. Durations are in
 * seconds, shares are ratios. Cluster settings are under `kubernetes`.
 */
export type RunConfiguration = FieldsOf<typeof RUN_SETTINGS> & { readonly kubernetes: KubernetesSettings };

/** One source of settings. `values` are unchecked. */
export interface Layer {
  /** How a problem names the source of a value: `--tier`, `DINODNS_BENCH_TIER`, `bench.yaml: tier`. */
  readonly label: (name: string) => string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface ConfigurationSources {
  /** The command's own defaults, which everything else overrides: `bench matrix` has some. */
  readonly base?: Given;
  readonly preset?: string | undefined;
  readonly file?: { readonly path: string; readonly values: unknown } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Partial<Record<SettingName, unknown>>>;
  /** The flags were typed: one without effect is refused. Files and variables may hold settings for other runs. */
  readonly typed?: boolean;
}

/** The text of a configuration file as data: YAML, which includes JSON. */
export async function parseConfigurationFile(path: string, text: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text) ?? {};
  } catch (error) {
    throw new BenchError('E_CONFIG', `${path} is not YAML: ${messageOf(error).split('\n')[0]}`, {
      fix: 'Correct the file; its keys are the long flags of `bench run`, for example "tier: [1, 2]".',
      cause: error,
    });
  }
}

/** The error for a configuration file that cannot be read. */
export function unreadableConfiguration(path: string, cause: unknown): BenchError {
  return new BenchError('E_UNREADABLE', `configuration file ${path}: ${whyUnreadable(cause)}`, {
    fix: 'Give the path of a YAML file with --config, or omit the flag.',
    cause,
  });
}

function environmentLayer(table: SettingTable, env: ConfigurationSources['env']): Layer {
  const entries = Object.keys(table).flatMap((name) => {
    const value = env[variableOf(name)];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return { label: variableOf, values: Object.fromEntries(entries) };
}

/** `--loader-cpu` for the setting `loaderCpu`; the name itself if it is no setting. */
export function flagLabel(name: string, table: SettingTable = SETTINGS): string {
  const setting = settingIn(table, name);
  return setting === undefined ? name : flagName(setting);
}

/** Not what every object inherits, such as `constructor`. */
function settingIn(table: SettingTable, name: string): Setting | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Settings that a layer gives; `undefined` is the same as absent. */
type Given = { [K in SettingName]?: Settings[K] | undefined };

/** Checked values of any table, under the names of its settings. */
type Values = Readonly<Record<string, unknown>>;

/** The sources of the settings in any table. */
export interface SettingSources extends Omit<ConfigurationSources, 'base' | 'flags' | 'typed'> {
  readonly base?: Values;
  readonly flags: Values;
}

function describeValue(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
}

/** Checks one layer; problems are added to `problems`, good values are returned. */
function checkLayer(table: SettingTable, layer: Layer, problems: string[]): Values {
  const good: [string, unknown][] = [];
  for (const [name, value] of Object.entries(layer.values)) {
    const setting = settingIn(table, name);
    if (setting === undefined) {
      problems.push(`${layer.label(name)}: unknown key; ${hintFor(table, name)}`);
      continue;
    }
    const result = setting.schema.safeParse(value);
    if (result.success) good.push([name, result.data]);
    else problems.push(`${layer.label(name)}: ${describeValue(value)} ${result.error.issues[0]?.message}`);
  }
  return Object.fromEntries(good);
}

function hintFor(table: SettingTable, key: string): string {
  const names = Object.keys(table);
  const suggestion = nearest(key, names);
  return suggestion === undefined ? `known keys: ${names.join(', ')}` : `did you mean "${suggestion}"?`;
}

function definedOnly<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function presetLayer(name: string | undefined, problems: string[]): Given {
  if (name === undefined) return {};
  const preset = findPreset(name);
  if (preset !== undefined) return preset;
  problems.push(`--preset: "${name}" must be one of ${Object.keys(PRESETS).join(', ')}`);
  return {};
}

function fileLayer(table: SettingTable, file: ConfigurationSources['file'], problems: string[]): Values {
  if (file === undefined) return {};
  const { path, values } = file;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    problems.push(`${path}: must be a mapping of settings, for example "tier: [1, 2]"`);
    return {};
  }
  return checkLayer(table, { label: (name) => `${path}: ${name}`, values: { ...values } }, problems);
}

/** More problems than this only mean that the file is not a configuration file. */
const MAX_PROBLEMS = 20;

/** The given settings and, for the rest, the defaults. */
function complete(table: SettingTable, given: Values): Values {
  const servers = Array.isArray(given.servers) ? given.servers : DEFAULTS.servers;
  const defaults = Object.entries(table).map(([name, setting]) => [name, defaultOf(setting, servers, given)]);
  return { ...definedOnly(Object.fromEntries(defaults)), ...given };
}

/** What the sources give, the last of them first in rank; problems are added to `problems`. */
function merged(table: SettingTable, sources: SettingSources, problems: string[]): Values {
  const layers: Values[] = [
    sources.base ?? {},
    presetLayer(sources.preset, problems),
    fileLayer(table, sources.file, problems),
    checkLayer(table, environmentLayer(table, sources.env), problems),
    checkLayer(
      table,
      { label: (name) => flagLabel(name, table), values: definedOnly(sources.flags) },
      problems,
    ),
  ];
  return Object.assign({}, ...layers);
}

/**
 * The sources with the settings of a short run below them; null where a preset or a command has a method of its own.
 * @param change settings that turned out otherwise than the sources say
 */
export function shortRun(sources: ConfigurationSources, change: Given = {}): ConfigurationSources | null {
  const hasMethod = sources.base !== undefined || Object.keys(presetLayer(sources.preset, [])).length > 0;
  const short = hasMethod ? null : shortRunOf({ ...merged(SETTINGS, sources, []), ...change });
  return short === null ? null : { ...sources, base: short };
}

/** @throws BenchError `E_CONFIG` with every problem as evidence, if there is any */
function demandNone(problems: readonly string[], command: string): void {
  if (problems.length === 0) return;
  throw new BenchError(
    'E_CONFIG',
    problems.length === 1 ? 'a setting is wrong' : `${problems.length} settings are wrong`,
    {
      evidence: [
        ...problems.slice(0, MAX_PROBLEMS),
        ...(problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []),
      ],
      fix: `Correct the settings listed; \`bench ${command} --help\` shows every setting.`,
    },
  );
}

/**
 * Merges and checks all sources of the settings in `table`.
 * @param command whose help the error names: `loss`
 * @throws BenchError `E_CONFIG` whose evidence lists every problem of every source.
 */
export function resolveSettings<T extends SettingTable>(
  table: T,
  sources: SettingSources,
  command: string,
): SettingsOf<T> {
  const problems: string[] = [];
  const settings = complete(table, merged(table, sources, problems));
  if (problems.length === 0) {
    problems.push(...repeatedEntries(table, settings), ...idleSettings(table, sources.flags, settings));
    if (Object.hasOwn(table, 'until')) problems.push(...untilProblems(settings as Settings));
  }
  demandNone(problems, command);
  // Every value was read by its schema.
  return settings as SettingsOf<T>;
}

/**
 * The configuration of a run: `resolveSettings` of all of its settings, and what they must be together.
 * @param command whose help the error names
 * @throws BenchError `E_CONFIG` whose evidence lists every problem of every source.
 */
export function configure(sources: ConfigurationSources, command = 'run'): RunConfiguration {
  const problems: string[] = [];
  const given = merged(SETTINGS, sources, problems);
  const settings = complete(SETTINGS, given) as Settings;
  if (problems.length === 0) {
    problems.push(...crossProblems(settings, given.baseline !== undefined));
    const { slice, duration } = settings;
    // The default, and that of a short run, is shortened to the trial.
    if (sources.flags.slice !== undefined && slice > duration)
      problems.push(`--slice: ${slice} s is longer than a trial; give --duration ${slice} or more as well`);
    if (sources.typed === true) problems.push(...idleSettings(SETTINGS, sources.flags, settings));
  }
  demandNone(problems, command);
  return configurationOf(settings);
}

/** Of settings that are checked. */
export function configurationOf(settings: Settings): RunConfiguration {
  const path = pathFor(settings);
  const baseline = baselineOf(settings.baseline, settings.servers, path);
  return {
    ...toFields(RUN_SETTINGS, { ...settings, baseline }),
    kubernetes: pickKubernetes({ ...settings, path }),
  };
}

/** The settings that lead to `configuration`, under the names that files use. */
export function settingsOf({ kubernetes, ...fields }: RunConfiguration): Settings {
  // The inverse of `configurationOf`.
  return { ...fromFields(RUN_SETTINGS, fields), ...kubernetes } as Settings;
}

/**
 * The words of a command after its name: every setting in `table` that has an effect and is not the default, wherever it came
 * from, so that they do not depend on a configuration file or on the environment.
 * @param always settings that are named even then, since their default depends on others
 */
export function wordsFor(table: SettingTable, settings: Values, always: readonly string[] = []): string[] {
  const servers = Array.isArray(settings.servers) ? settings.servers : DEFAULTS.servers;
  return Object.entries(table).flatMap(([name, setting]) => {
    const value = settings[name];
    const isDefault = isSame(value, defaultOf(setting, servers, settings)) && !always.includes(name);
    const isNamed = setting.inCommand === undefined ? !isDefault : setting.inCommand === 'always';
    if (value === undefined || !isNamed || idleReason(table, name, settings) !== null) return [];
    return typeof value === 'boolean' ? [flagName(setting)] : [flagName(setting), shownValue(setting, value)];
  });
}

/** Of two values of a setting: lists are those of their texts, records of factors have none. */
function isSame(a: unknown, b: unknown): boolean {
  const isRecord = typeof a === 'object' && a !== null && !Array.isArray(a);
  return isRecord ? JSON.stringify(a) === JSON.stringify(b) : String(a) === String(b);
}

/** The command that repeats a run. */
export function commandFor(configuration: RunConfiguration): string[] {
  const settings = settingsOf(configuration);
  const always = Object.keys(shortRunOf(settings) ?? {});
  return ['pnpm', 'bench', 'run', ...wordsFor(SETTINGS, settings, always)];
}
