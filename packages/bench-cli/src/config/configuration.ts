/**
 * From layers to one configuration: defaults → preset → file → environment → flags. All problems of all
 * layers are reported at once, each with the place it comes from.
 */

import { messageOf, nearest, systemErrorCode } from '@dinodns-bench/program';
import { parse as parseYaml } from 'yaml';
import { BenchError } from '../errors.ts';
import type { Mode, Transport } from '../results/record.ts';
import { type KubernetesSettings, kubernetesSettingsOf } from './kubernetes-settings.ts';
import {
  DEFAULTS,
  PRESETS,
  type PresetName,
  SETTING_DESCRIPTIONS,
  type SettingName,
  type Settings,
  settingNames,
  settingsSchema,
  variableOf,
} from './settings.ts';
import { percentText } from './value-schemas.ts';

/** What a run does, complete and checked. Durations in seconds. */
export interface RunConfiguration {
  readonly servers: readonly string[];
  readonly baseline: string;
  /** vCPUs in total. */
  readonly tiers: readonly number[];
  readonly modes: readonly Mode[];
  readonly durationSeconds: number;
  readonly warmupSeconds: number;
  /** With `until`, the fewest. */
  readonly trials: number;
  /** Width that every difference's interval is to fall below, as a ratio; null for a fixed number of trials. */
  readonly until: number | null;
  /** Trials of each case at most, and seconds of measuring, when `until` is given. */
  readonly maxTrials: number;
  readonly maxTimeSeconds: number | null;
  /** Measure the baseline's twin as well. */
  readonly aa: boolean;
  readonly interval: 'auto' | 'bootstrap';
  /** Queries per second over all instances of a case; null for no limit. */
  readonly ratePerSecond: number | null;
  /** `max-rate`: each trial is measured at the highest rate that keeps the limits. */
  readonly objective: 'throughput' | 'max-rate';
  readonly maxLostRatio: number;
  /** Null for no limit. */
  readonly maxP99Seconds: number | null;
  /** `auto`: dnsperf where it is or can be had, else the built-in loader. */
  readonly loader: 'auto' | 'dnsperf' | 'builtin';
  /** With a rate and the built-in loader: an open loop. */
  readonly openLoop: boolean;
  readonly clients: number;
  readonly outstanding: number;
  readonly threads: number;
  readonly timeoutSeconds: number;
  readonly transport: Transport;
  readonly zones: number;
  readonly workload: string;
  readonly cpu: 'quota' | 'pin';
  readonly corednsVersion: string;
  readonly delta: 'relative' | 'symmetric';
  /** As the user wrote it; relative to the working directory. */
  readonly out: string;
  readonly provision: boolean;
  /** Where servers run, and how in a cluster. */
  readonly kubernetes: KubernetesSettings;
}

/** One source of settings. `values` are unchecked. */
export interface Layer {
  /** How a problem names the source of a value: `--tier`, `DINODNS_BENCH_TIER`, `bench.yaml: tier`. */
  readonly label: (name: string) => string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface ConfigurationSources {
  /** Defaults of the command itself, below everything else: `bench matrix` has its own. */
  readonly base?: Given;
  readonly preset?: string | undefined;
  readonly file?: { readonly path: string; readonly values: unknown } | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Partial<Record<SettingName, unknown>>>;
}

/** The text of a configuration file as data. YAML, of which JSON is a part. */
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
    fix: 'Give the path of a YAML file with --config, or leave the flag away.',
    cause,
  });
}

function environmentLayer(env: ConfigurationSources['env']): Layer {
  const entries = settingNames().flatMap((name) => {
    const value = env[variableOf(name)];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return {
    label: (name) => variableOf(name as SettingName),
    values: Object.fromEntries(entries),
  };
}

function flagLabel(name: string): string {
  const { flag } = SETTING_DESCRIPTIONS[name as SettingName];
  return flag.split(' ')[0] ?? flag;
}

/** Settings that a layer gives; `undefined` is the same as absent. */
type Given = { [K in SettingName]?: Settings[K] | undefined };

function describeValue(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
}

/** Checks one layer; problems are added to `problems`, good values are returned. */
function checkLayer(layer: Layer, problems: string[]): Given {
  const result = settingsSchema.partial().safeParse(layer.values);
  if (result.success) return definedOnly(result.data);
  const bad = new Set<string>();
  for (const issue of result.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        bad.add(key);
        const suggestion = nearest(key, settingNames());
        const hint =
          suggestion === undefined
            ? `known keys: ${settingNames().join(', ')}`
            : `did you mean "${suggestion}"?`;
        problems.push(`${layer.label(key)}: unknown key; ${hint}`);
      }
      continue;
    }
    const name = String(issue.path[0]);
    if (bad.has(name)) continue;
    bad.add(name);
    problems.push(`${layer.label(name)}: ${describeValue(layer.values[name])} ${issue.message}`);
  }
  const rest = Object.fromEntries(Object.entries(layer.values).filter(([name]) => !bad.has(name)));
  const good = settingsSchema.partial().safeParse(rest);
  return good.success ? definedOnly(good.data) : {};
}

function definedOnly<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

/** Settings that are right by themselves but not together. */
function crossProblems(settings: Settings, baselineGiven: boolean): string[] {
  const problems: string[] = [];
  if (baselineGiven && !settings.servers.includes(settings.baseline)) {
    problems.push(
      `--baseline: "${settings.baseline}" is not among --servers ${settings.servers.join(',')}; add it or choose one of them`,
    );
  }
  if (settings.threads > settings.clients) {
    problems.push(
      `--threads: ${settings.threads} threads need at least as many sockets; raise --clients (now ${settings.clients})`,
    );
  }
  if (settings.threads > settings.outstanding) {
    problems.push(
      `--threads: ${settings.threads} threads share --outstanding ${settings.outstanding}; raise it to at least one each`,
    );
  }
  problems.push(...openLoopProblems(settings), ...objectiveProblems(settings), ...untilProblems(settings));
  for (const name of ['servers', 'tier'] as const) {
    const values: readonly unknown[] = settings[name];
    if (new Set(values).size !== values.length) {
      problems.push(
        `${flagLabel(name)}: ${values.join(',')} names something twice; every entry is measured once`,
      );
    }
  }
  return problems;
}

/** dnsperf has no open loop, and without a rate there is no schedule. */
function openLoopProblems({ openLoop, loader, rate }: Settings): string[] {
  if (!openLoop) return [];
  const problems: string[] = [];
  if (loader !== 'builtin')
    problems.push('--open-loop: only the built-in loader has an open loop; add --loader builtin');
  if (rate === undefined)
    problems.push('--open-loop: a schedule needs a rate; give both, for example --rate 20000');
  return problems;
}

/** The search needs open loops, which only the built-in loader has, and finds the rate itself. */
function objectiveProblems({ objective, loader, rate, maxP99 }: Settings): string[] {
  if (objective !== 'max-rate')
    return maxP99 === undefined
      ? []
      : ['--max-p99: is a limit of the search for the highest rate; add --objective max-rate'];
  const problems: string[] = [];
  if (loader === 'dnsperf')
    problems.push('--objective: max-rate needs open loops, which dnsperf has not; use --loader builtin');
  if (rate !== undefined) problems.push('--rate: max-rate finds the rate itself; leave --rate away');
  return problems;
}

/** With `--until`, `--trials` is the fewest, and `--max-trials` the most. */
function untilProblems({ until, trials, maxTrials, maxTime }: Settings): string[] {
  if (until === undefined) {
    return maxTime === undefined
      ? []
      : ['--max-time: says when --until gives up; give both, for example --until 5%'];
  }
  return trials > maxTrials
    ? [`--trials: ${trials} are more than --max-trials ${maxTrials}; raise that as well`]
    : [];
}

function presetLayer(preset: string | undefined, problems: string[]): Given {
  if (preset === undefined) return {};
  if (preset in PRESETS) return PRESETS[preset as PresetName] as Given;
  problems.push(`--preset: "${preset}" must be one of ${Object.keys(PRESETS).join(', ')}`);
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

/** More than these say no more than that the file is not what it was taken for. */
const MOST_PROBLEMS = 20;

/**
 * Merges and checks all sources.
 * @throws BenchError `E_CONFIG` whose evidence lists every problem of every source.
 */
export function configure(sources: ConfigurationSources): RunConfiguration {
  const problems: string[] = [];
  const layers: Given[] = [
    sources.base ?? {},
    presetLayer(sources.preset, problems),
    fileLayer(sources.file, problems),
    checkLayer(environmentLayer(sources.env), problems),
    checkLayer({ label: flagLabel, values: definedOnly(sources.flags) }, problems),
  ];
  const given: Given = Object.assign({}, ...layers);
  const servers = given.servers ?? [...DEFAULTS.servers];
  const fallbackBaseline = servers.includes('coredns') ? 'coredns' : (servers[0] ?? 'coredns');
  // The cluster's own DNS knows other names than the zone set's.
  const workload = servers.includes('cluster-dns') ? 'service' : DEFAULTS.workload;
  const settings = { ...DEFAULTS, baseline: fallbackBaseline, workload, ...given } as Settings;
  if (problems.length === 0) problems.push(...crossProblems(settings, given.baseline !== undefined));
  if (problems.length > 0) {
    throw new BenchError(
      'E_CONFIG',
      problems.length === 1 ? 'a setting is wrong' : `${problems.length} settings are wrong`,
      {
        evidence: [
          ...problems.slice(0, MOST_PROBLEMS),
          ...(problems.length > MOST_PROBLEMS ? [`and ${problems.length - MOST_PROBLEMS} more`] : []),
        ],
        fix: 'Correct what is listed; `bench run --help` shows every setting.',
      },
    );
  }
  return toConfiguration(settings);
}

function toConfiguration(settings: Settings): RunConfiguration {
  return {
    servers: settings.servers,
    baseline: settings.baseline,
    tiers: settings.tier,
    modes: settings.mode === 'both' ? ['single', 'multi'] : [settings.mode],
    durationSeconds: settings.duration,
    warmupSeconds: settings.warmup,
    trials: settings.trials,
    until: settings.until ?? null,
    maxTrials: settings.maxTrials,
    maxTimeSeconds: settings.maxTime ?? null,
    aa: settings.aa,
    interval: settings.interval,
    ratePerSecond: settings.rate ?? null,
    objective: settings.objective,
    maxLostRatio: settings.maxLost,
    maxP99Seconds: settings.maxP99 ?? null,
    loader: settings.loader,
    openLoop: settings.openLoop,
    clients: settings.clients,
    outstanding: settings.outstanding,
    threads: settings.threads,
    timeoutSeconds: settings.timeout,
    transport: settings.transport,
    zones: settings.zones,
    workload: settings.workload,
    cpu: settings.cpu,
    corednsVersion: settings.corednsVersion,
    delta: settings.delta,
    out: settings.out,
    provision: settings.provision,
    kubernetes: kubernetesSettingsOf(settings),
  };
}

/** The settings that lead to `configuration`, under the names that files use. For the record. */
export function settingsOf(configuration: RunConfiguration): Given {
  const [mode] = configuration.modes;
  return {
    servers: [...configuration.servers],
    baseline: configuration.baseline,
    tier: [...configuration.tiers],
    mode: configuration.modes.length > 1 ? 'both' : mode,
    duration: configuration.durationSeconds,
    warmup: configuration.warmupSeconds,
    trials: configuration.trials,
    ...(configuration.until === null ? {} : { until: configuration.until }),
    maxTrials: configuration.maxTrials,
    ...(configuration.maxTimeSeconds === null ? {} : { maxTime: configuration.maxTimeSeconds }),
    aa: configuration.aa,
    interval: configuration.interval,
    ...(configuration.ratePerSecond === null ? {} : { rate: configuration.ratePerSecond }),
    objective: configuration.objective,
    maxLost: configuration.maxLostRatio,
    ...(configuration.maxP99Seconds === null ? {} : { maxP99: configuration.maxP99Seconds }),
    loader: configuration.loader,
    openLoop: configuration.openLoop,
    clients: configuration.clients,
    outstanding: configuration.outstanding,
    threads: configuration.threads,
    timeout: configuration.timeoutSeconds,
    transport: configuration.transport,
    zones: configuration.zones,
    workload: configuration.workload,
    cpu: configuration.cpu,
    corednsVersion: configuration.corednsVersion,
    delta: configuration.delta,
    out: configuration.out,
    provision: configuration.provision,
    ...configuration.kubernetes,
  };
}

/**
 * The command that repeats a run: every setting that is not the default, wherever it came from, so that it
 * does not depend on a configuration file or on the environment. The CoreDNS version is always named,
 * because its default moves on.
 */
export function commandFor(configuration: RunConfiguration): string[] {
  const settings = settingsOf(configuration);
  const defaultBaseline = configuration.servers.includes('coredns') ? 'coredns' : configuration.servers[0];
  const words = ['pnpm', 'bench', 'run'];
  for (const name of settingNames()) {
    const value = settings[name];
    const standard: unknown =
      name === 'baseline' ? defaultBaseline : { ...DEFAULTS }[name as keyof typeof DEFAULTS];
    const isDefault = String(value) === String(standard) && name !== 'corednsVersion';
    if (value === undefined || isDefault || name === 'out') continue;
    if (typeof value === 'boolean') words.push(flagLabel(name));
    else
      words.push(
        flagLabel(name),
        name === 'until' || name === 'maxLost' ? percentText(Number(value)) : String(value),
      );
  }
  return words;
}
