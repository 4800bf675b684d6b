/** The figures of series of runs beside a neighbour: pure functions of their lines. */
import { compareRuns } from '../../src/history/compare.ts';
import { COMPARED_ESTIMANDS, type Entry, type EntryCase } from '../../src/history/entry.ts';
import { type Gate, gate } from '../../src/history/gate.ts';
import type { Selected } from '../../src/history/select.ts';
import type { Delta } from '../../src/results/record.ts';
import { median, sum } from '../../src/stats/intervals.ts';
import { LEVEL } from '../../src/stats/sample-test.ts';
import { type Cause, ofServers, type SeriesRun, type SeriesTrial, type ServerName } from './runs.ts';

/** What is compared; latency mirrors throughput in a closed loop. */
export const FIGURES = ['qps', 'cpu'] as const;
export type Figure = (typeof FIGURES)[number];

/** Regression that the gates tolerate: the "2 % gate" of the published 45 % of alarms. */
const TOLERANCE = 0.02;

const estimandOf = (figure: Figure) => COMPARED_ESTIMANDS.filter(({ name }) => name === figure);

/** Consecutive rounds of a run. A rest is left out. */
function groupsOf(run: SeriesRun, rounds: number): SeriesRun[] {
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
  return { id: 'pooled', share: runs[0]?.share ?? 0, seconds: 0, trials: ofServers(all) };
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

function gateOf(run: SeriesRun, [baseline, server]: Compared, figure: Figure): Gate {
  const limits = estimandOf(figure).map((estimand) => ({ estimand, maxRegression: TOLERANCE }));
  return gate(selected(run, baseline), selected(run, server), { limits, interval: 'auto', normalize: null });
}

type Interval = Pick<Delta, 'low' | 'high'>;
/** Without and with an allowance for what others took. */
export const WAYS: readonly (readonly [string, (delta: Delta) => Interval])[] = [
  ['plain', (delta) => delta.allowance?.plain ?? delta],
  ['adjusted', (delta) => delta],
];

/** Of what is not known. */
const EVERYTHING: Interval = { low: null, high: null };
const EQUAL: Interval = { low: 0, high: 0 };
/** Whether they have nothing in common: what is true is itself known only as well as its interval says. */
const excludes = ({ low, high }: Interval, truth: Interval) =>
  (low ?? Number.NEGATIVE_INFINITY) > (truth.high ?? Number.POSITIVE_INFINITY) ||
  (high ?? Number.POSITIVE_INFINITY) < (truth.low ?? Number.NEGATIVE_INFINITY);
/** In logarithms, as intervals of ratios are symmetric there. */
const halfWidth = ({ low, high }: Interval) =>
  low === null || high === null ? Number.NaN : (Math.log1p(high) - Math.log1p(low)) / 2;

const medianWidth = (intervals: readonly Interval[]) =>
  median(intervals.map(halfWidth).filter(Number.isFinite));

const percent = (share: number, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |\n`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
  `${row(head)}${row(head.map(() => '---'))}${rows.map(row).join('')}\n`;
const share = (count: number, of: number) => `${count} of ${of} (${percent(count / of)})`;

const TITLES: Readonly<Record<ServerName, string>> = {
  coredns1: 'CoreDNS',
  coredns2: 'CoreDNS again',
  slower: 'CoreDNS with templates',
  nsd1: 'NSD',
  nsd2: 'NSD again',
};
const SERVERS = Object.keys(TITLES) as ServerName[];

/** The same server twice. */
const TWINS: readonly Compared[] = [
  ['coredns1', 'coredns2'],
  ['nsd1', 'nsd2'],
];
const PLANTED: Compared = ['coredns1', 'slower'];
export const DIFFERENT: Compared = ['coredns1', 'nsd1'];

/** Rounds of a comparison, by the seconds of a trial: all of a run, and parts of it. */
const ROUNDS: Readonly<Record<number, readonly number[]>> = { 1: [3, 6, 12], 2.5: [7] };

const groupsIn = (runs: readonly SeriesRun[], rounds: number) => runs.flatMap((run) => groupsOf(run, rounds));
const deltasOf = (groups: readonly SeriesRun[], pairs: readonly Compared[], figure: Figure) =>
  groups.flatMap((group) => pairs.flatMap((pair) => deltaOf(group, pair, figure) ?? []));
const alarmsOf = (groups: readonly SeriesRun[], figure: Figure) =>
  groups.flatMap((group) =>
    TWINS.filter(([server]) => group.trials[server].length > 0).map(
      (pair) => gateOf(group, pair, figure).outcome,
    ),
  );

/** How often, and how wide: a line for each number of rounds and figure. */
function comparisonsTable(
  runs: readonly SeriesRun[],
  pairs: readonly Compared[],
  rounds: readonly number[],
  truthOf: (figure: Figure) => Interval,
): string {
  const rows = rounds.flatMap((each) => {
    const groups = groupsIn(runs, each);
    return FIGURES.map((figure) => {
      const deltas = deltasOf(groups, pairs, figure);
      const ofWays = WAYS.flatMap(([, pick]) => {
        const intervals = deltas.map(pick);
        const wrong = intervals.filter((interval) => excludes(interval, truthOf(figure))).length;
        const told = intervals.filter((interval) => excludes(interval, EQUAL)).length;
        return [
          share(wrong, deltas.length),
          share(told, deltas.length),
          `±${percent(medianWidth(intervals))}`,
        ];
      });
      const [plain = 1, adjusted = 1] = WAYS.map(([, pick]) => medianWidth(deltas.map(pick)));
      return [each, figure, ...ofWays, (adjusted / plain).toFixed(2)];
    });
  });
  const head = WAYS.flatMap(([way]) => [`${way}: without the truth`, 'told apart', 'half-width']);
  return table(['rounds', 'figure', ...head, 'ratio of widths'], rows);
}

/** The logarithm of the figure, then the causes, as deviations from their means within a server and run; and how many are free. */
function deviations(
  runs: readonly SeriesRun[],
  servers: readonly ServerName[],
  figure: Figure,
  causes: readonly Cause[],
) {
  const groups = runs.flatMap(({ trials }) =>
    servers.flatMap((server) => {
      const rows = trials[server].flatMap(({ figures, causes: told }) =>
        figures[figure] == null ? [] : [[Math.log(figures[figure]), ...causes.map((cause) => told[cause])]],
      );
      const means = (rows[0] ?? []).map((_, at) => sum(rows.map((each) => each[at] ?? 0)) / rows.length);
      return rows.length === 0 ? [] : [rows.map((each) => each.map((value, at) => value - (means[at] ?? 0)))];
    }),
  );
  const points = groups.flat();
  const columns = [0, ...causes.map((_, at) => at + 1)].map((at) => points.map((point) => point[at] ?? 0));
  return { columns, free: points.length - groups.length };
}

const dot = (a: readonly number[], b: readonly number[]) => sum(a.map((value, at) => value * (b[at] ?? 0)));

/** Adjusted share of the variance within servers and runs that a regression on the causes explains. */
function explained(runs: readonly SeriesRun[], figure: Figure, causes: readonly Cause[]): number {
  const { columns, free } = deviations(runs, SERVERS, figure, causes);
  const [target = [], ...others] = columns;
  // Gram–Schmidt: each cause without what those before it explain.
  const basis: number[][] = [];
  const residual = (column: readonly number[]) =>
    basis.reduce<number[]>(
      (left, axis) => {
        const along = dot(left, axis) / dot(axis, axis);
        return left.map((value, at) => value - along * (axis[at] ?? 0));
      },
      [...column],
    );
  for (const column of others) basis.push(residual(column));
  const left = residual(target);
  return 1 - dot(left, left) / (free - causes.length) / (dot(target, target) / free);
}

/** Change of the logarithm for each CPU taken, by least squares, with its standard error; scatter before and after. */
function slopeText(runs: readonly SeriesRun[], server: ServerName, figure: Figure): string {
  const { columns, free } = deviations(runs, [server], figure, ['taken']);
  const [log = [], taken = []] = columns;
  if (free < 2) return '–';
  const [squares, total] = [dot(taken, taken), dot(log, log)];
  const slope = dot(log, taken) / squares;
  const left = Math.max(0, total - slope ** 2 * squares) / (free - 1);
  const scatter = [total / free, left].map((variance) => percent(Math.sqrt(variance), 0));
  return `${slope.toFixed(2)} ± ${Math.sqrt(left / squares).toFixed(2)}; ${scatter.join(' → ')}`;
}

/** In words, for the page. */
const SUMMARISED = [
  ['cpu', 'CPU per query'],
  ['qps', 'queries per second'],
] as const;

const CAUSES: readonly (readonly [string, readonly Cause[]])[] = [
  ['CPU that others took', ['taken']],
  ['waits for a CPU', ['waiting']],
  ["CPU time of the probe's work", ['probe']],
  ["time of the probe's work", ['probeTook']],
  ['CPU taken, and waits', ['taken', 'waiting']],
  ['CPU taken, and CPU time of the probe', ['taken', 'probe']],
  ['CPU taken, and time of the probe', ['taken', 'probeTook']],
];

function gatesTable(runs: readonly SeriesRun[], rounds: readonly number[]): string {
  return table(
    ['rounds', 'figure', 'alarms', 'passed', 'not enough trials'],
    rounds.flatMap((each) => {
      const groups = groupsIn(runs, each);
      return FIGURES.map((figure) => {
        const outcomes = alarmsOf(groups, figure);
        const count = (outcome: Gate['outcome']) => outcomes.filter((own) => own === outcome).length;
        return [
          each,
          figure,
          share(count('failed'), outcomes.length),
          count('passed'),
          count('not enough trials'),
        ];
      });
    }),
  );
}

/** For docs/method.md: what came out beside the neighbour. */
export function summaryOf(runs: readonly SeriesRun[]): string {
  const rows = lengthsOf(runs).flatMap((seconds) => {
    const beside = runs.filter((run) => run.share > 0 && run.seconds === seconds);
    return (ROUNDS[seconds] ?? []).flatMap((each) => {
      const groups = groupsIn(beside, each);
      const told = (deltas: readonly Delta[]) =>
        WAYS.map(([, pick]) =>
          percent(deltas.filter((delta) => excludes(pick(delta), EQUAL)).length / deltas.length),
        );
      return SUMMARISED.map(([figure, title]) => {
        const twins = deltasOf(groups, TWINS, figure);
        const widths = WAYS.map(([, pick]) => `±${percent(medianWidth(twins.map(pick)))}`);
        const gates = alarmsOf(groups, figure);
        const alarms = gates.filter((outcome) => outcome === 'failed').length;
        return [
          ...[`${each} of ${seconds} s`, title, twins.length, told(twins).join(' · ')],
          ...[
            widths.join(' · '),
            told(deltasOf(groups, [PLANTED], figure)).join(' · '),
            percent(alarms / gates.length),
          ],
        ];
      });
    });
  });
  const head = [
    'trials',
    'figure',
    'comparisons',
    'equal servers told apart: plain · adjusted',
    'half-width: plain · adjusted',
    'slowdown found: plain · adjusted',
    'false alarms of gates',
  ];
  return table(head, rows);
}

const lengthsOf = (runs: readonly SeriesRun[]) =>
  [...new Set(runs.map(({ seconds }) => seconds))].toSorted((a, b) => a - b);

function sizeOf(runs: readonly SeriesRun[]): string {
  const all = runs.flatMap(({ trials }) => Object.values(trials).flat());
  const taken = sum(all.map(({ causes }) => causes.taken)) / all.length;
  return `${runs.length} runs, ${all.length} trials, ${taken.toFixed(2)} CPUs taken on average`;
}

function sectionsOf(
  runs: readonly SeriesRun[],
  truthOf: (pair: Compared, figure: Figure) => Interval,
): string {
  const rounds = ROUNDS[runs[0]?.seconds ?? 1] ?? [];
  const shown = SERVERS.filter((server) => runs.some(({ trials }) => trials[server].length > 0));
  const others = shown.includes('nsd1') ? [DIFFERENT] : [];
  return [
    `### Equal servers\n\n${comparisonsTable(runs, TWINS, rounds, () => EQUAL)}`,
    ...[PLANTED, ...others].map(
      (pair) =>
        `### ${TITLES[pair[1]]} against ${TITLES[pair[0]]}\n\n${comparisonsTable(runs, [pair], rounds, (figure) => truthOf(pair, figure))}`,
    ),
    `### Gates of equal servers that tolerate ${percent(TOLERANCE, 0)}\n\n${gatesTable(runs, rounds)}`,
    `### How much they depend on what others took\n\nChange of the logarithm for each CPU taken ± standard error; scatter between trials before → after.\n\n${table(
      ['server', ...FIGURES],
      shown.map((server) => [TITLES[server], ...FIGURES.map((figure) => slopeText(runs, server, figure))]),
    )}`,
    `### What explains the scatter\n\n${table(
      ['cause', ...FIGURES],
      CAUSES.map(([title, causes]) => [
        title,
        ...FIGURES.map((figure) => percent(explained(runs, figure, causes), 0)),
      ]),
    )}`,
  ].join('');
}

export function reportOf(runs: readonly SeriesRun[]): string {
  const alone = pooled(runs.filter(({ share: own }) => own === 0));
  const truthOf = (pair: Compared, figure: Figure) => deltaOf(alone, pair, figure);
  const truths = [PLANTED, DIFFERENT].flatMap((pair) =>
    FIGURES.map((figure) => {
      const { relative = Number.NaN, low, high } = truthOf(pair, figure) ?? {};
      const ends = [low ?? Number.NaN, high ?? Number.NaN].map((end) => percent(end)).join(', ');
      return [`${TITLES[pair[1]]} against ${TITLES[pair[0]]}`, figure, `${percent(relative)} [${ends}]`];
    }),
  );
  const parts = lengthsOf(runs).flatMap((seconds) =>
    [true, false].flatMap((isBeside) => {
      const own = runs.filter((run) => run.seconds === seconds && run.share > 0 === isBeside);
      const title = `Trials of ${seconds} s, ${isBeside ? 'beside the neighbour' : 'without it'}`;
      return own.length === 0
        ? []
        : [
            `## ${title}: ${sizeOf(own)}\n\n${sectionsOf(own, (pair, figure) => truthOf(pair, figure) ?? EVERYTHING)}`,
          ];
    }),
  );
  return `# Verdicts on a machine that others use\n\n## All runs without a neighbour\n\n${table(['servers', 'figure', 'difference [95 %]'], truths)}${parts.join('')}`
    .trimEnd()
    .concat('\n');
}
