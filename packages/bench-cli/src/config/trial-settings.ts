/** The settings of what is compared, and by which trials; part of the one table in `settings.ts`. */
import { z } from 'zod';
import type { Mode, Until } from '../results/record.ts';
import { canonicalServerName, caseNameOf } from './server-name.ts';
import type { Setting, SettingTable } from './setting.ts';
import {
  choice,
  coresFromText,
  list,
  percentText,
  ratioFromText,
  seconds,
  text,
  wholeNumber,
  within,
  yesOrNo,
} from './value-schemas.ts';

/** Enough for any machine today, small enough to catch a typing error. */
const MAX_TIER = 1024;

const tierMessage = `must be a list of vCPU counts, each from 0.1 to ${MAX_TIER}, for example 1,2,4 or 0.5`;
const tier = z.preprocess(coresFromText, within(0.1, MAX_TIER, tierMessage));

/** The width that the interval of every difference must fall below, as a ratio. */
const untilMessage =
  'must be a percentage of at least 0.01%, with its sign: 2%; or verdict, verdict:2%, or gate:5%';

/** `verdict` without a width. Differences below ±3 % rarely matter, and take long to show. */
const VERDICT_WIDTH = 0.06;

const untilWidth = within(0.0001, 10, untilMessage);

/** Turns `verdict` and `verdict:2%` into `{ verdict: width }`, `gate:5%` into `{ gate: tolerance }`; all else is a width. */
function untilFromText(value: unknown): unknown {
  const match = typeof value === 'string' ? /^\s*(?:gate:(.+)|verdict(?::(.+))?)$/.exec(value) : null;
  if (match === null) return ratioFromText(value);
  const [, tolerance, width] = match;
  if (tolerance !== undefined) return { gate: ratioFromText(tolerance) };
  return { verdict: width === undefined ? VERDICT_WIDTH : ratioFromText(width) };
}

type UntilSetting = number | { readonly verdict: number } | { readonly gate: number };

/** What is waited for, and how narrow or how little worse, as a ratio. */
export function goalOf(until: UntilSetting): Pick<Until, 'goal' | 'width'> {
  if (typeof until === 'number') return { goal: 'width', width: until };
  return 'gate' in until ? { goal: 'gate', width: until.gate } : { goal: 'verdict', width: until.verdict };
}

/** Of the settings that limit it. */
const UNTIL: Setting['needs'] = { give: '--until 5%', met: ({ until }) => until !== undefined };

/** In the order of the help text. */
export const SERVER_SETTINGS = {
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
    description:
      'server to compare the others with (default: coredns if it takes part, otherwise the first server)',
    schema: text.transform(caseNameOf),
    defaultFor: (servers) => (servers.includes('coredns') ? 'coredns' : caseNameOf(servers[0] ?? 'coredns')),
  },
} as const satisfies SettingTable;

/** In the order of the help text. */
export const TRIAL_SETTINGS = {
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
    rare: true,
    description: 'with --duet: how long the load stays with one server',
    schema: seconds(0.1, 'must be a duration of at least 0.1 seconds'),
    default: 1,
    field: 'sliceSeconds',
    needs: { give: '--duet', met: ({ duet }) => duet !== 'off' },
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
      'continue until the 95 % interval of every difference is narrower: 2%; until each comparison has a verdict or is narrower: verdict, verdict:2%; or until each is shown to be worse than tolerated, or not to be: gate:5%',
    schema: z.preprocess(
      untilFromText,
      z.union(
        [untilWidth, z.strictObject({ verdict: untilWidth }), z.strictObject({ gate: untilWidth })],
        untilMessage,
      ),
    ),
    show: (until: UntilSetting) => {
      const { goal, width } = goalOf(until);
      return goal === 'width' ? percentText(width) : `${goal}:${percentText(width)}`;
    },
  },
  maxTrials: {
    flag: '--max-trials <n>',
    description: 'maximum trials of each case, with --until',
    schema: wholeNumber(2, 1000),
    default: 30,
    needs: UNTIL,
  },
  maxTime: {
    flag: '--max-time <time>',
    rare: true,
    description: 'measure no longer than this, with --until',
    schema: seconds(1, 'must be a duration, for example 30m or 2h'),
    field: 'maxTimeSeconds',
    needs: UNTIL,
  },
  aa: {
    flag: '--aa',
    description: "the baseline against itself: this machine's noise floor",
    schema: yesOrNo,
    default: false,
  },
  interval: {
    flag: '--interval <method>',
    rare: true,
    description: 'for differences: auto (rank test or t), or bootstrap (from 8 trials)',
    schema: choice(['auto', 'bootstrap']),
    default: 'auto',
  },
} as const satisfies SettingTable;
