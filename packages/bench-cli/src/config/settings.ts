/**
 * Every setting of a run, once: see `Setting`. The command line, the environment, configuration files, the help
 * text, `docs/settings.md` and the type of a configuration are all made from these tables.
 */
import { QUERY_TYPES } from '@dinodns-bench/zones';
import { z } from 'zod';
import { type Mode, TRANSPORTS } from '../results/record.ts';
import { type CaseFilter, caseFilters, caseFilterText } from './case-filter.ts';
import { KUBERNETES_SETTINGS } from './kubernetes-settings.ts';
import { canonicalServerName, caseNameOf } from './server-name.ts';
import { defaultsOf, type Setting, type SettingsOf, type SettingTable } from './setting.ts';
import {
  booleanFromText,
  choice,
  coresFromText,
  list,
  number,
  numberFromText,
  percentText,
  ratioFromText,
  seconds,
  text,
  wholeNumber,
} from './value-schemas.ts';

/** Half of dnsperf's own limit; one setting must not be able to exhaust the ports of the machine. */
const MAX_CLIENTS = 32_768;
/** dnsperf numbers outstanding queries with 16 bits. */
const MAX_OUTSTANDING = 65_536;
/** Pods at most; more than that is another kind of test. */
const MAX_LOADERS = 100;
/** Enough for any machine today, small enough to catch a typing error. */
const MAX_TIER = 1024;

const tierMessage = `must be a list of vCPU counts, each from 0.1 to ${MAX_TIER}, for example 1,2,4 or 0.5`;
const tier = z.preprocess(
  coresFromText,
  z.number(tierMessage).min(0.1, tierMessage).max(MAX_TIER, tierMessage),
);

/** `--rate max`: as fast as the servers answer. */
const NO_LIMIT = 'max';
const rateMessage = 'must be a list of queries per second, each above 0 and at most 1e9, or max for no limit';
const rate = z.preprocess(
  numberFromText,
  z.literal(NO_LIMIT, rateMessage).or(z.number(rateMessage).positive(rateMessage).max(1e9, rateMessage)),
);

/** As dnsperf and dnscannon know them. */
const queryType = z
  .string('must be a query type')
  .transform((value) => value.trim().toUpperCase())
  .refine((value) => QUERY_TYPES.includes(value), 'must be a query type, for example A');

const zipfMessage = 'must be a number from 0.1 to 5';
const speedMessage = 'must be a factor from 0.001 to 1000';

/** The width that the interval of every difference must fall below, as a ratio. */
const untilMessage = 'must be a percentage of at least 0.01%, with its sign: 2%; or verdict, or verdict:2%';

/** `verdict` without a width. Differences below ±3 % rarely matter, and take long to show. */
const VERDICT_WIDTH = 0.06;

const untilWidth = z.number(untilMessage).min(0.0001, untilMessage).max(10, untilMessage);

/** Turns `verdict` and `verdict:2%` into `{ verdict: width }`; all else is a width. */
function untilFromText(value: unknown): unknown {
  const match = typeof value === 'string' ? /^\s*verdict(?::(.+))?$/.exec(value) : null;
  if (match === null) return ratioFromText(value);
  const [, width] = match;
  return { verdict: width === undefined ? VERDICT_WIDTH : ratioFromText(width) };
}

const lostMessage = 'must be a percentage with its sign, for example 0.1%';

/** The settings of a run on any target, in the order of the help text. */
export const RUN_SETTINGS = {
  servers: {
    flag: '--servers <list>',
    description:
      'servers to compare: coredns, coredns@1.13.1+file (see `bench servers`), or yours: at=ADDRESS, NAME=FILE',
    schema: list(
      text.transform(canonicalServerName),
      'must be a list of server names, for example coredns,dinodns',
    ),
    default: ['coredns', 'dinodns-stock', 'dinodns'],
    distinct: true,
    identityOf: (entry) => caseNameOf(String(entry)),
  },
  tier: {
    flag: '--tier <list>',
    description: 'vCPUs in total, fractions allowed: 1 or 500m,1,2',
    schema: list(tier, tierMessage),
    default: [1],
    // vCPUs in total.
    field: 'tiers',
    distinct: true,
  },
  mode: {
    flag: '--mode <mode>',
    description: 'single: one-vCPU instances; multi: one instance with all vCPUs; or both',
    schema: choice(['single', 'multi', 'both']),
    default: 'single',
    field: 'modes',
    toField: (mode: Mode | 'both'): readonly Mode[] => (mode === 'both' ? ['single', 'multi'] : [mode]),
    fromField: (modes: readonly Mode[]) => (modes.length > 1 ? 'both' : modes[0]),
  },
  baseline: {
    flag: '--baseline <server>',
    description: 'server to compare the others with (default: coredns, else the first server)',
    schema: text.transform(caseNameOf),
    defaultFor: (servers) => (servers.includes('coredns') ? 'coredns' : caseNameOf(servers[0] ?? 'coredns')),
  },
  duration: {
    flag: '--duration <time>',
    description: 'measured time of a trial: 10, 90s, 10m',
    schema: seconds(1, 'must be a duration of at least 1 second, for example 10, 90s or 10m'),
    default: 10,
    field: 'durationSeconds',
  },
  warmup: {
    flag: '--warmup <time>',
    description: 'load before each trial that is not measured',
    schema: seconds(0, 'must be a duration, for example 2 or 5s; 0 switches the warm-up off'),
    default: 2,
    field: 'warmupSeconds',
  },
  duet: {
    flag: '--duet [when]',
    description:
      'all servers of a round up at once, load to one after another in slices: on, off, auto (on one machine)',
    // Without a value: on.
    schema: z.preprocess(
      (value) => (value === true || value === 'true' ? 'on' : value),
      choice(['on', 'off', 'auto']),
    ),
    default: 'off',
  },
  slice: {
    flag: '--slice <time>',
    description: 'with --duet: how long the load stays with one server',
    schema: seconds(0.1, 'must be a duration of at least 0.1 seconds'),
    default: 1,
    field: 'sliceSeconds',
  },
  trials: {
    flag: '--trials <n>',
    description: 'trials of each case, interleaved with the others',
    schema: wholeNumber(1, 1000),
    // With `until`, the minimum.
    default: 3,
  },
  until: {
    flag: '--until <goal>',
    description:
      'continue until the 95 % interval of every difference is narrower: 2%; or until each comparison has a verdict or is narrower: verdict, verdict:2%',
    schema: z.preprocess(
      untilFromText,
      z.union([untilWidth, z.object({ verdict: untilWidth }, untilMessage)], untilMessage),
    ),
    show: (goal: number | { readonly verdict: number }) =>
      typeof goal === 'number' ? percentText(goal) : `verdict:${percentText(goal.verdict)}`,
  },
  maxTrials: {
    flag: '--max-trials <n>',
    description: 'maximum trials of each case, with --until',
    schema: wholeNumber(2, 1000),
    default: 30,
  },
  maxTime: {
    flag: '--max-time <time>',
    description: 'measure no longer than this, with --until',
    schema: seconds(1, 'must be a duration, for example 30m or 2h'),
    field: 'maxTimeSeconds',
  },
  aa: {
    flag: '--aa',
    description: "the baseline against itself: this machine's noise floor",
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
  },
  interval: {
    flag: '--interval <method>',
    description: 'for differences: auto (rank test or t), or bootstrap (from 8 trials)',
    schema: choice(['auto', 'bootstrap']),
    default: 'auto',
  },
  rate: {
    flag: '--rate <list>',
    description: 'queries per second for each case: 2000, or 2000,20000,max (no limit)',
    schema: list(rate, rateMessage),
    default: [NO_LIMIT],
    // Over all instances of a case; null for no limit.
    field: 'ratesPerSecond',
    toField: (rates: readonly (number | typeof NO_LIMIT)[]): readonly (number | null)[] =>
      rates.map((value) => (value === NO_LIMIT ? null : value)),
    fromField: (rates: readonly (number | null)[]) => rates.map((value) => value ?? NO_LIMIT),
    distinct: true,
  },
  objective: {
    flag: '--objective <name>',
    description: 'throughput; or max-rate: the highest rate within --max-lost and --max-p99 (builtin loader)',
    schema: choice(['throughput', 'max-rate']),
    default: 'throughput',
  },
  maxLost: {
    flag: '--max-lost <share>',
    description: 'share of queries that max-rate may lose',
    schema: z.preprocess(ratioFromText, z.number(lostMessage).min(0, lostMessage).max(1, lostMessage)),
    default: 0.001,
    field: 'maxLostRatio',
    show: (ratio: number) => percentText(ratio),
  },
  maxP99: {
    flag: '--max-p99 <time>',
    description: '99th percentile that max-rate allows, in seconds (default: no limit)',
    schema: seconds(0.000001, 'must be a duration, for example 0.005 (seconds)'),
    field: 'maxP99Seconds',
  },
  loader: {
    flag: '--loader <name>',
    description: 'dnsperf; builtin (dnscannon: percentiles, open loop); auto: dnsperf if available',
    schema: choice(['auto', 'dnsperf', 'builtin']),
    default: 'auto',
  },
  calibrate: {
    flag: '--no-calibrate',
    description: 'do not try before the first trial which load generator can saturate the servers',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: true,
  },
  saturate: {
    flag: '--saturate',
    description: 'lower the tiers of all servers together until each server is the limit',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
  },
  loaders: {
    flag: '--loaders <n>',
    description: 'load generators at once, which start together and share the rate; on a cluster, a pod each',
    schema: wholeNumber(1, MAX_LOADERS),
    // For each endpoint of a case.
    default: 1,
  },
  openLoop: {
    flag: '--open-loop',
    description: 'with --rate and the builtin loader: send on schedule, whether or not answers arrive',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
  },
  clients: {
    flag: '--clients <n>',
    description: 'sockets that a loader sends from',
    schema: wholeNumber(1, MAX_CLIENTS),
    default: 20,
  },
  outstanding: {
    flag: '--outstanding <n>',
    description: 'queries in flight for each loader',
    schema: wholeNumber(1, MAX_OUTSTANDING),
    /**
     * dnsperf's own default. Linux's default socket receive buffer (212,992 bytes) holds about 200 small datagrams,
     * so 100 queries in flight always fit, even if all of them arrive at once: a lost query then means that the
     * server failed, not that the loader overran its buffer. See docs/method.md.
     */
    default: 100,
  },
  threads: {
    flag: '--threads <n>',
    description: 'threads of each loader',
    schema: wholeNumber(1, 1024),
    default: 1,
  },
  timeout: {
    flag: '--timeout <time>',
    description: 'a query unanswered for this long is lost',
    schema: seconds(0.01, 'must be a duration of at least 0.01 seconds'),
    default: 5,
    field: 'timeoutSeconds',
  },
  transport: {
    flag: '--transport <list>',
    description: `${TRANSPORTS.join(', ')}, or several of them`,
    schema: list(choice(TRANSPORTS), `must be a list of ${TRANSPORTS.join(', ')}`),
    default: ['udp'],
    field: 'transports',
    distinct: true,
  },
  zones: {
    flag: '--zones <n>',
    description: 'number of zones: example1.com, example3.com, …',
    schema: wholeNumber(1, 10_000_000),
    default: 100,
  },
  workload: {
    flag: '--workload <list>',
    description:
      'names to query: half (exist), existing, missing, lookup, internal, external, lookup-internal, lookup-external, a query file or a capture; or several',
    schema: list(text, 'must be a list of workloads, for example existing,missing'),
    default: ['half'],
    // The cluster's own DNS does not serve the names of the zone set.
    defaultFor: (servers) => (servers.includes('cluster-dns') ? ['service'] : undefined),
    field: 'workloads',
    distinct: true,
  },
  answers: {
    flag: '--answers <check>',
    description:
      'zones: answers must be those of the zone set; stable: whatever a server answers before the load it must answer under load',
    schema: choice(['zones', 'stable']),
    default: 'zones',
  },
  exclude: {
    flag: '--exclude <cases>',
    description: 'cases to omit: server=knot,transport=tcp;tier=4 (a case that fits any of them)',
    schema: caseFilters,
    default: [],
    show: (filters: readonly CaseFilter[]) => filters.map(caseFilterText).join(';'),
  },
  types: {
    flag: '--types <list>',
    description: 'types to query of every name of a workload: A,AAAA (zones then have both)',
    schema: list(queryType, 'must be a list of query types, for example A,AAAA'),
    default: ['A'],
    distinct: true,
  },
  order: {
    flag: '--order <order>',
    description: 'names in sequence, at random (uniform), or by popularity (zipf)',
    schema: choice(['sequence', 'uniform', 'zipf']),
    default: 'sequence',
  },
  zipfExponent: {
    flag: '--zipf-exponent <number>',
    description: 'with --order zipf: the name of rank k is queried 1/k^number as often as the first',
    schema: number(z.number(zipfMessage).min(0.1, zipfMessage).max(5, zipfMessage)),
    // Of names at resolvers: Jung, Sit, Balakrishnan and Morris, "DNS Performance and the Effectiveness of Caching", 2002.
    default: 0.9,
  },
  search: {
    flag: '--search <list>',
    description: "with --workload lookup: the node's own search domains, after the cluster's three",
    schema: list(text, 'must be a list of domains'),
    // One, as on most clouds: an external name then costs five queries of each type.
    default: ['internal'],
    distinct: true,
  },
  ndots: {
    flag: '--ndots <n>',
    description: 'with --workload lookup: names with fewer dots are searched for first',
    schema: wholeNumber(0, 15),
    // Of `dnsPolicy: ClusterFirst`.
    default: 5,
  },
  dnssec: {
    flag: '--dnssec',
    description: 'signed zones, and queries with the DO bit (servers that read zone files)',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
  },
  captureSpeed: {
    flag: '--capture-speed <factor>',
    description: 'replay a capture faster or slower than it was captured',
    schema: number(z.number(speedMessage).min(0.001, speedMessage).max(1000, speedMessage)),
    default: 1,
  },
  ip: {
    flag: '--ip <version>',
    description: 'on one machine, servers listen on 127.0.0.1 (4) or ::1 (6)',
    schema: z.preprocess(numberFromText, z.literal([4, 6], 'must be 4 or 6')),
    default: 4,
  },
  allowRemote: {
    flag: '--allow-remote',
    description: 'load may leave this machine: the servers of at=ADDRESS are mine to load',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: false,
  },
  cpu: {
    flag: '--cpu <how>',
    description: 'CPU limits by quota, or pin to CPUs',
    schema: choice(['quota', 'pin']),
    default: 'quota',
  },
  corednsVersion: {
    flag: '--coredns-version <version>',
    description: 'CoreDNS release to compare with',
    schema: z
      .string('must be a version, for example 1.15.0')
      .transform((value) => value.replace(/^v/, ''))
      .refine((value) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(value), 'must be a version, for example 1.15.0'),
    // The stable release when this version of bench was made.
    default: '1.15.0',
    // The default changes from release to release.
    inCommand: 'always',
  },
  delta: {
    flag: '--delta <definition>',
    description: 'relative to the baseline, or symmetric as in the published tables',
    schema: choice(['relative', 'symmetric']),
    default: 'relative',
  },
  out: {
    flag: '--out <directory>',
    description: 'directory of the runs',
    schema: text,
    default: 'results',
    inCommand: 'never',
  },
  provision: {
    flag: '--no-provision',
    description: 'use only installed tools, install nothing',
    schema: z.preprocess(booleanFromText, z.boolean('must be true or false')),
    default: true,
  },
} as const satisfies SettingTable;

/** All settings. */
export const SETTINGS = { ...RUN_SETTINGS, ...KUBERNETES_SETTINGS } as const;

export type SettingName = keyof typeof SETTINGS;
/** Checked values of all settings. */
export type Settings = SettingsOf<typeof SETTINGS>;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Defaults that give a result in about three minutes. */
export const DEFAULTS = defaultsOf(SETTINGS);

/** The setting of this name; undefined if there is none. */
export function findSetting(name: string): Setting | undefined {
  return Object.hasOwn(SETTINGS, name) ? SETTINGS[name as SettingName] : undefined;
}

/** The environment variable of a setting: `corednsVersion` → `DINODNS_BENCH_COREDNS_VERSION`. */
export function variableOf(name: string): string {
  return `DINODNS_BENCH_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
