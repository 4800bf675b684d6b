/**
 * Every setting of a run, once: its schema, default, flag and environment variable. The command line, the
 * environment, configuration files, the help text and the documentation are all made from this table.
 */
import { z } from 'zod';
import { KUBERNETES_DEFAULTS, KUBERNETES_DESCRIPTIONS, kubernetesShape } from './kubernetes-settings.ts';
import {
  booleanFromText,
  choice,
  coresFromText,
  list,
  number,
  ratioFromText,
  seconds,
  text,
  wholeNumber,
} from './value-schemas.ts';

export { percentText, ratioFromText } from './value-schemas.ts';

/** Half of dnsperf's own limit; one setting must not be able to exhaust the ports of the machine. */
const MAX_CLIENTS = 32_768;
/** dnsperf numbers outstanding queries with 16 bits. */
const MAX_OUTSTANDING = 65_536;
/** Enough for any machine of today, small enough to catch a slip of the finger. */
const MAX_TIER = 1024;

const tierMessage = `must be a list of vCPU counts, each from 0.1 to ${MAX_TIER}, for example 1,2,4 or 0.5`;
const tier = z.preprocess(
  coresFromText,
  z.number(tierMessage).min(0.1, tierMessage).max(MAX_TIER, tierMessage),
);

const untilMessage = 'must be a percentage of at least 0.01%, with its sign: 2%';

const lostMessage = 'must be a percentage with its sign, for example 0.1%';

/** What a user may write, in files under the same names; every key is optional. */
export const settingsSchema = z.strictObject({
  servers: list(text, 'must be a list of server names, for example coredns,dinodns'),
  tier: list(tier, tierMessage),
  mode: choice(['single', 'multi', 'both']),
  baseline: text,
  duration: seconds(1, 'must be a duration of at least 1 second, for example 10, 90s or 10m'),
  warmup: seconds(0, 'must be a duration, for example 2 or 5s; 0 switches the warm-up off'),
  trials: wholeNumber(1, 1000),
  until: z.preprocess(ratioFromText, z.number(untilMessage).min(0.0001, untilMessage).max(10, untilMessage)),
  maxTrials: wholeNumber(2, 1000),
  maxTime: seconds(1, 'must be a duration, for example 30m or 2h'),
  aa: z.preprocess(booleanFromText, z.boolean('must be true or false')),
  interval: choice(['auto', 'bootstrap']),
  rate: number(
    z
      .number('must be queries per second, for example 20000')
      .positive('must be more than 0; leave it away for no limit')
      .max(1e9, 'must be queries per second, at most 1e9'),
  ),
  objective: choice(['throughput', 'max-rate']),
  maxLost: z.preprocess(ratioFromText, z.number(lostMessage).min(0, lostMessage).max(1, lostMessage)),
  maxP99: seconds(0.000001, 'must be a duration, for example 0.005 (seconds)'),
  loader: choice(['auto', 'dnsperf', 'builtin']),
  openLoop: z.preprocess(booleanFromText, z.boolean('must be true or false')),
  clients: wholeNumber(1, MAX_CLIENTS),
  outstanding: wholeNumber(1, MAX_OUTSTANDING),
  threads: wholeNumber(1, 1024),
  timeout: seconds(0.01, 'must be a duration of at least 0.01 seconds'),
  transport: choice(['udp', 'tcp']),
  zones: wholeNumber(1, 10_000_000),
  workload: text,
  cpu: choice(['quota', 'pin']),
  corednsVersion: z
    .string('must be a version, for example 1.15.0')
    .transform((value) => value.replace(/^v/, ''))
    .refine((value) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(value), 'must be a version, for example 1.15.0'),
  delta: choice(['relative', 'symmetric']),
  out: text,
  provision: z.preprocess(booleanFromText, z.boolean('must be true or false')),
  ...kubernetesShape,
});

export type Settings = z.output<typeof settingsSchema>;
export type SettingName = keyof Settings;

/** The current stable release when this version of bench was made; `--coredns-version` takes any other. */
export const DEFAULT_COREDNS_VERSION = '1.15.0';

/**
 * Defaults that answer in about three minutes.
 *
 * `outstanding` is dnsperf's own default. Linux's default socket receive buffer (212,992 bytes) holds about
 * 200 small datagrams, so 100 queries in flight always fit, even if all of them arrive at once: a lost query
 * then means that the server failed, not that the loader overran its buffer. See docs/method.md.
 */
export const DEFAULTS = {
  servers: ['coredns', 'dinodns-stock', 'dinodns'],
  tier: [1],
  mode: 'single',
  duration: 10,
  warmup: 2,
  trials: 3,
  maxTrials: 30,
  aa: false,
  interval: 'auto',
  objective: 'throughput',
  maxLost: 0.001,
  loader: 'auto',
  openLoop: false,
  clients: 20,
  outstanding: 100,
  threads: 1,
  timeout: 5,
  transport: 'udp',
  zones: 100,
  workload: 'half',
  cpu: 'quota',
  corednsVersion: DEFAULT_COREDNS_VERSION,
  delta: 'relative',
  out: 'results',
  provision: true,
  ...KUBERNETES_DEFAULTS,
} as const satisfies Partial<Settings>;

export const PRESETS = {
  /** The defaults. */
  quick: {},
  /** The published method: ten minutes for each trial, the whole matrix, dnsperf's limit far above any server. */
  blog: { duration: 600, tier: [1, 2, 4], mode: 'both', rate: 1_000_000 },
} as const satisfies Record<string, Partial<Settings>>;

export type PresetName = keyof typeof PRESETS;

export interface SettingDescription {
  /** As commander reads it. */
  readonly flag: string;
  readonly description: string;
}

/** Flags in the order of the help text. The environment variable follows from the name: see `variableOf`. */
export const SETTING_DESCRIPTIONS: Readonly<Record<SettingName, SettingDescription>> = {
  servers: { flag: '--servers <list>', description: 'servers to compare; see `bench servers`' },
  tier: { flag: '--tier <list>', description: 'vCPUs in total, fractions allowed: 1 or 500m,1,2' },
  mode: {
    flag: '--mode <mode>',
    description: 'single: one-vCPU instances; multi: one instance with all vCPUs; or both',
  },
  baseline: {
    flag: '--baseline <server>',
    description: 'what the others are compared with (default: coredns, else the first server)',
  },
  duration: { flag: '--duration <time>', description: 'measured time of a trial: 10, 90s, 10m' },
  warmup: { flag: '--warmup <time>', description: 'load before each trial that does not count' },
  trials: { flag: '--trials <n>', description: 'trials of each case, interleaved with the others' },
  until: {
    flag: '--until <width>',
    description: 'go on until the 95 % interval of every difference is narrower: 2%',
  },
  maxTrials: { flag: '--max-trials <n>', description: 'trials of each case at most, with --until' },
  maxTime: { flag: '--max-time <time>', description: 'measure no longer than this, with --until' },
  aa: { flag: '--aa', description: "the baseline against itself: this machine's noise floor" },
  interval: {
    flag: '--interval <method>',
    description: 'of differences: auto (rank test or t), or bootstrap from 8 trials on',
  },
  rate: { flag: '--rate <qps>', description: 'queries per second for each case (default: no limit)' },
  objective: {
    flag: '--objective <name>',
    description: 'throughput; or max-rate: the highest rate within --max-lost and --max-p99 (builtin loader)',
  },
  maxLost: { flag: '--max-lost <share>', description: 'share of queries that max-rate may lose' },
  maxP99: {
    flag: '--max-p99 <time>',
    description: '99th percentile that max-rate allows, in seconds (default: no limit)',
  },
  loader: {
    flag: '--loader <name>',
    description: 'dnsperf; builtin (dnscannon: percentiles, open loop); auto: dnsperf where it can be had',
  },
  openLoop: {
    flag: '--open-loop',
    description: 'with --rate and the builtin loader: send on schedule, whether answers come or not',
  },
  clients: { flag: '--clients <n>', description: 'sockets that a loader sends from' },
  outstanding: { flag: '--outstanding <n>', description: 'queries in flight for each loader' },
  threads: { flag: '--threads <n>', description: 'threads of each loader' },
  timeout: { flag: '--timeout <time>', description: 'a query unanswered for so long is lost' },
  transport: { flag: '--transport <name>', description: 'udp or tcp' },
  zones: { flag: '--zones <n>', description: 'number of zones: example1.com, example3.com, …' },
  workload: {
    flag: '--workload <name>',
    description: 'names asked: half (exist), existing, missing, or a query file',
  },
  cpu: { flag: '--cpu <how>', description: 'CPU limits by quota, or pin to CPUs' },
  corednsVersion: { flag: '--coredns-version <version>', description: 'CoreDNS release to compare with' },
  delta: {
    flag: '--delta <definition>',
    description: 'relative to the baseline, or symmetric as in the published tables',
  },
  out: { flag: '--out <directory>', description: 'where the folders of runs lie' },
  provision: { flag: '--no-provision', description: 'use installed tools only, get nothing' },
  ...KUBERNETES_DESCRIPTIONS,
};

/** The environment variable of a setting: `corednsVersion` → `DINODNS_BENCH_COREDNS_VERSION`. */
export function variableOf(name: SettingName): string {
  return `DINODNS_BENCH_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

export function settingNames(): SettingName[] {
  return Object.keys(SETTING_DESCRIPTIONS) as SettingName[];
}
