/** The settings of the load; part of the one table in `settings.ts`. */
import { z } from 'zod';
import { TRANSPORTS } from '../results/record.ts';
import type { Setting, SettingTable } from './setting.ts';
import {
  choice,
  list,
  numberFromText,
  percentText,
  ratioFromText,
  seconds,
  wholeNumber,
  within,
  yesOrNo,
} from './value-schemas.ts';

/** Half of dnsperf's own limit; one setting must not be able to exhaust the ports of the machine. */
export const MAX_CLIENTS = 32_768;
/** dnsperf numbers outstanding queries with 16 bits. */
const MAX_OUTSTANDING = 65_536;
/** Pods at most; more than that is another kind of test. */
const MAX_LOADERS = 100;

/** `--rate max`: as fast as the servers answer. */
const NO_LIMIT = 'max';
const rateMessage = 'must be a list of queries per second, each from 1 to 1e9, or max for no limit';
const rate = z.preprocess(
  numberFromText,
  z.union([z.literal(NO_LIMIT), within(1, 1e9, rateMessage)], rateMessage),
);

const lostMessage = 'must be a percentage with its sign, for example 0.1%';

/** Of the settings that limit the search. */
const MAX_RATE: Setting['needs'] = {
  give: '--objective max-rate',
  met: ({ objective }) => objective === 'max-rate',
};

/** In the order of the help text. */
export const LOAD_SETTINGS = {
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
    rare: true,
    description: 'share of queries that max-rate may lose',
    schema: z.preprocess(ratioFromText, within(0, 1, lostMessage)),
    default: 0.001,
    field: 'maxLostRatio',
    needs: MAX_RATE,
    show: (ratio: number) => percentText(ratio),
  },
  maxP99: {
    flag: '--max-p99 <time>',
    rare: true,
    description: '99th percentile that max-rate allows, in seconds (default: no limit)',
    schema: seconds(0.000001, 'must be a duration, for example 0.005 or 5ms'),
    field: 'maxP99Seconds',
    needs: MAX_RATE,
  },
  loader: {
    flag: '--loader <name>',
    description: 'dnsperf; builtin (dnscannon: percentiles, open loop); auto: dnsperf if available',
    schema: choice(['auto', 'dnsperf', 'builtin']),
    default: 'auto',
  },
  calibrate: {
    flag: '--no-calibrate',
    rare: true,
    description: 'do not try before the first trial which load generator can saturate the servers',
    schema: yesOrNo,
    default: true,
  },
  saturate: {
    flag: '--saturate',
    rare: true,
    description: 'lower the tiers of all servers together until each server is the limit',
    schema: yesOrNo,
    default: false,
  },
  loaders: {
    flag: '--loaders <n>',
    rare: true,
    description: 'load generators at once, which start together and share the rate; on a cluster, a pod each',
    schema: wholeNumber(1, MAX_LOADERS),
    // For each endpoint of a case.
    default: 1,
  },
  openLoop: {
    flag: '--open-loop',
    rare: true,
    description: 'with --rate and the builtin loader: send on schedule, whether or not answers arrive',
    schema: yesOrNo,
    default: false,
  },
  clients: {
    flag: '--clients <n>',
    rare: true,
    description: 'sockets that a loader sends from',
    schema: wholeNumber(1, MAX_CLIENTS),
    default: 20,
  },
  outstanding: {
    flag: '--outstanding <n>',
    rare: true,
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
    rare: true,
    description: 'threads of each loader',
    schema: wholeNumber(1, 1024),
    default: 1,
  },
  timeout: {
    flag: '--timeout <time>',
    rare: true,
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
} as const satisfies SettingTable;
