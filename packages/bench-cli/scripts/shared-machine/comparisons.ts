/** Comparisons and gates of two servers of a run of a series, as `bench compare` and `bench gate` make them. */
import { compareRuns } from '../../src/history/compare.ts';
import { COMPARED_ESTIMANDS, type Entry, type EntryCase } from '../../src/history/entry.ts';
import { type Gate, gate } from '../../src/history/gate.ts';
import type { Selected } from '../../src/history/select.ts';
import type { Delta } from '../../src/results/record.ts';
import { median } from '../../src/stats/intervals.ts';
import { LEVEL } from '../../src/stats/sample-test.ts';
import { ofServers, type SeriesRun, type SeriesTrial, type ServerName } from './runs.ts';

/** What is compared; latency mirrors throughput in a closed loop. */
export const FIGURES = ['qps', 'cpu'] as const;
export type Figure = (typeof FIGURES)[number];

/** Regression that the gates tolerate: the "2 % gate" of the published 45 % of alarms. */
export const TOLERANCE = 0.02;

const estimandOf = (figure: Figure) => COMPARED_ESTIMANDS.filter(({ name }) => name === figure);

/** Consecutive rounds of a run. A rest is left out. */
export function groupsOf(run: SeriesRun, rounds: number): SeriesRun[] {
  const last = Math.max(
    0,
    ...Object.values(run.trials).flatMap((trials) => trials.map(({ round }) => round)),
  );
  return Array.from({ length: Math.floor((last + 1) / rounds) }, (_, index) => {
    const isIn = ({ round }: SeriesTrial) => Math.floor(round / rounds) === index;
    return {
      ...run,
      id: `${run.id}/${rounds}/${index}`,
      trials: ofServers((server) => run.trials[server].filter(isIn)),
    };
  });
}

/** Runs as one, whose rounds follow each other. */
export function pooled(runs: readonly SeriesRun[]): SeriesRun {
  const all = (server: ServerName) =>
    runs.flatMap(({ trials }, run) =>
      trials[server].map((trial) => ({ ...trial, round: run * 1000 + trial.round })),
    );
  return {
    id: runs.map(({ id }) => id).join('+'),
    share: runs[0]?.share ?? 0,
    seconds: 0,
    trials: ofServers(all),
  };
}

/** `RUN:server=NAME` */
function selected({ id, trials }: SeriesRun, server: ServerName): Selected {
  const item: EntryCase = {
    ...{ key: server, subject: server, point: {}, isBaseline: false, bounds: [], foreign: [] },
    ...{ contended: false, trials: trials[server], failedTrials: 0 },
  };
  const entry: Entry = {
    ...{ id, kind: 'run', experiment: 'run', status: 'complete', startedAt: '', git: null, environment: {} },
    ...{
      machine: '',
      isDuet: false,
      level: LEVEL,
      servers: [],
      summary: null,
      estimands: COMPARED_ESTIMANDS,
    },
    cases: [item],
  };
  return { entry, selector: { server }, cases: [item] };
}

/** Two servers of a run: the baseline, and what is compared with it. */
export type Compared = readonly [ServerName, ServerName];

/** Several tables say something of the same comparison. */
const compared = new Map<string, Delta | null>();

export function deltaOf(run: SeriesRun, pair: Compared, figure: Figure): Delta | null {
  const key = `${run.id} ${pair} ${figure}`;
  const known = compared.get(key);
  if (known !== undefined) return known;
  const delta = compareOf(run, pair, figure);
  compared.set(key, delta);
  return delta;
}

function compareOf(run: SeriesRun, [baseline, server]: Compared, figure: Figure): Delta | null {
  const options = { estimands: estimandOf(figure), interval: 'auto', normalize: null } as const;
  const { cases } = compareRuns(selected(run, baseline), selected(run, server), options);
  const delta = cases[0]?.figures[0]?.delta ?? null;
  return delta !== null && 'relative' in delta ? delta : null;
}

export function gateOf(run: SeriesRun, [baseline, server]: Compared, figure: Figure): Gate {
  const limits = estimandOf(figure).map((estimand) => ({ estimand, maxRegression: TOLERANCE }));
  return gate(selected(run, baseline), selected(run, server), { limits, interval: 'auto', normalize: null });
}

export type Interval = Pick<Delta, 'low' | 'high'>;
/** Without and with an allowance for what others took. */
export const WAYS: readonly (readonly [string, (delta: Delta) => Interval])[] = [
  ['plain', (delta) => delta.allowance?.plain ?? delta],
  ['adjusted', (delta) => delta],
];

/** Of what is not known. */
export const EVERYTHING: Interval = { low: null, high: null };
export const EQUAL: Interval = { low: 0, high: 0 };
/** Whether they have nothing in common: what is true is itself known only as well as its interval says. */
export const excludes = ({ low, high }: Interval, truth: Interval) =>
  (low ?? Number.NEGATIVE_INFINITY) > (truth.high ?? Number.POSITIVE_INFINITY) ||
  (high ?? Number.POSITIVE_INFINITY) < (truth.low ?? Number.NEGATIVE_INFINITY);
/** In logarithms, as intervals of ratios are symmetric there. */
const halfWidth = ({ low, high }: Interval) =>
  low === null || high === null ? Number.NaN : (Math.log1p(high) - Math.log1p(low)) / 2;

export const medianWidth = (intervals: readonly Interval[]) =>
  median(intervals.map(halfWidth).filter(Number.isFinite));
