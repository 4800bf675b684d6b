/**
 * From layers to one configuration: defaults → preset → file → environment → flags. All problems of all
 * layers are reported at once, each with the place it comes from.
 */
import { messageOf, nearest, systemErrorCode } from '@dinodns-bench/program';
import { parse as parseYaml } from 'yaml';
import { BenchError } from '../errors.ts';
import { crossProblems } from './cross-checks.ts';
import { KUBERNETES_SETTINGS, type KubernetesSettings } from './kubernetes-settings.ts';
import { findPreset, PRESETS } from './presets.ts';
import {
  defaultOf,
  type FieldsOf,
  flagName,
  fromFields,
  pickSettings,
  type Setting,
  shownValue,
  toFields,
} from './setting.ts';
import {
  DEFAULTS,
  findSetting,
  RUN_SETTINGS,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type Settings,
  variableOf,
} from './settings.ts';
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
}

/** The text of a configuration file as data: YAML, which includes JSON. */
export function parseConfigurationFile(path: string, text: string): unknown {
  try {
    return parseYaml(text) ?? {};
  } catch (error) {
    throw new BenchError('E_CONFIG', `${path} is not YAML: ${messageOf(error).split('\n')[0]}`, {
      fix: 'Correct the file; its keys are the long flags of `bench run`, for example "tier: [1, 2]".',
      cause: error,
    });
  }
}

/** The error for a configuration file that cannot be read. */
export function unreadableConfiguration(path: string, cause: unknown): BenchError {
  const reason = systemErrorCode(cause) === 'ENOENT' ? 'does not exist' : messageOf(cause);
  return new BenchError('E_CONFIG', `configuration file ${path}: ${reason}`, {
    fix: 'Give the path of a YAML file with --config, or omit the flag.',
    cause,
  });
}

function environmentLayer(env: ConfigurationSources['env']): Layer {
  const entries = SETTING_NAMES.flatMap((name) => {
    const value = env[variableOf(name)];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return { label: variableOf, values: Object.fromEntries(entries) };
}

/** `--loader-cpu` for the setting `loaderCpu`; the name itself for what is none. */
export function flagLabel(name: string): string {
  const setting = findSetting(name);
  return setting === undefined ? name : flagName(setting);
}

/** Settings that a layer gives; `undefined` is the same as absent. */
type Given = { [K in SettingName]?: Settings[K] | undefined };

function describeValue(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
}

/** Checks one layer; problems are added to `problems`, good values are returned. */
function checkLayer(layer: Layer, problems: string[]): Given {
  const good: [string, unknown][] = [];
  for (const [name, value] of Object.entries(layer.values)) {
    const setting = findSetting(name);
    if (setting === undefined) {
      problems.push(`${layer.label(name)}: unknown key; ${hintFor(name)}`);
      continue;
    }
    const result = setting.schema.safeParse(value);
    if (result.success) good.push([name, result.data]);
    else problems.push(`${layer.label(name)}: ${describeValue(value)} ${result.error.issues[0]?.message}`);
  }
  return Object.fromEntries(good);
}

function hintFor(key: string): string {
  const suggestion = nearest(key, SETTING_NAMES);
  return suggestion === undefined
    ? `known keys: ${SETTING_NAMES.join(', ')}`
    : `did you mean "${suggestion}"?`;
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

function fileLayer(file: ConfigurationSources['file'], problems: string[]): Given {
  if (file === undefined) return {};
  const { path, values } = file;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    problems.push(`${path}: must be a mapping of settings, for example "tier: [1, 2]"`);
    return {};
  }
  return checkLayer({ label: (name) => `${path}: ${name}`, values: { ...values } }, problems);
}

/** More problems than this only mean that the file is not a configuration file. */
const MAX_PROBLEMS = 20;

/** The given settings and, for the rest, the defaults. */
function complete(given: Given): Settings {
  const servers = given.servers ?? DEFAULTS.servers;
  const defaults = Object.entries<Setting>(SETTINGS).map(([name, setting]) => [
    name,
    defaultOf(setting, servers),
  ]);
  return { ...definedOnly(Object.fromEntries(defaults)), ...given } as Settings;
}

/** What the sources give, the last of them first in rank; problems are added to `problems`. */
function merged(sources: ConfigurationSources, problems: string[]): Given {
  const layers: Given[] = [
    sources.base ?? {},
    presetLayer(sources.preset, problems),
    fileLayer(sources.file, problems),
    checkLayer(environmentLayer(sources.env), problems),
    checkLayer({ label: flagLabel, values: definedOnly(sources.flags) }, problems),
  ];
  return Object.assign({}, ...layers);
}

/** The sources with the settings of a short run below them; null where they say how to measure. */
export function shortRun(sources: ConfigurationSources): ConfigurationSources | null {
  const short = sources.base === undefined ? shortRunOf(merged(sources, [])) : null;
  return short === null ? null : { ...sources, base: short };
}

/**
 * Merges and checks all sources.
 * @throws BenchError `E_CONFIG` whose evidence lists every problem of every source.
 */
export function configure(sources: ConfigurationSources): RunConfiguration {
  const problems: string[] = [];
  const given = merged(sources, problems);
  const settings = complete(given);
  if (problems.length === 0) problems.push(...crossProblems(settings, given.baseline !== undefined));
  if (problems.length > 0) {
    throw new BenchError(
      'E_CONFIG',
      problems.length === 1 ? 'a setting is wrong' : `${problems.length} settings are wrong`,
      {
        evidence: [
          ...problems.slice(0, MAX_PROBLEMS),
          ...(problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []),
        ],
        fix: 'Correct the settings listed; `bench run --help` shows every setting.',
      },
    );
  }
  return toConfiguration(settings);
}

function toConfiguration(settings: Settings): RunConfiguration {
  return {
    ...toFields(RUN_SETTINGS, settings),
    kubernetes: pickSettings(KUBERNETES_SETTINGS, settings),
  };
}

/** The settings that lead to `configuration`, under the names that files use. For the record. */
export function settingsOf({ kubernetes, ...fields }: RunConfiguration): Given {
  return { ...fromFields(RUN_SETTINGS, fields), ...kubernetes };
}

/**
 * The command that repeats a run: every setting that is not the default, wherever it came from, so that it
 * does not depend on a configuration file or on the environment.
 */
export function commandFor(configuration: RunConfiguration): string[] {
  const settings: Readonly<Record<string, unknown>> = settingsOf(configuration);
  const words = Object.entries<Setting>(SETTINGS).flatMap(([name, setting]) => {
    const value = settings[name];
    const isDefault = String(value) === String(defaultOf(setting, configuration.servers));
    const isNamed = setting.inCommand === undefined ? !isDefault : setting.inCommand === 'always';
    if (value === undefined || !isNamed) return [];
    return typeof value === 'boolean' ? [flagName(setting)] : [flagName(setting), shownValue(setting, value)];
  });
  return ['pnpm', 'bench', 'run', ...words];
}
