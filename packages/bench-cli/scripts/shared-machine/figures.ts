/** What series of runs beside a neighbour say, as tables: pure functions of their lines. */
import type { Gate } from '../../src/history/gate.ts';
import type { Delta } from '../../src/results/record.ts';
import { sum } from '../../src/stats/intervals.ts';
import {
  type Compared,
  deltaOf,
  EQUAL,
  EVERYTHING,
  excludes,
  FIGURES,
  type Figure,
  gateOf,
  groupsOf,
  type Interval,
  medianWidth,
  pooled,
  TOLERANCE,
  WAYS,
} from './comparisons.ts';
import type { Cause, SeriesRun, ServerName } from './runs.ts';
import { explained, slopeOf } from './scatter.ts';

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

function slopeText(runs: readonly SeriesRun[], server: ServerName, figure: Figure): string {
  const found = slopeOf(runs, server, figure);
  if (found === null) return '–';
  const scatter = found.scatter.map((each) => percent(each, 0)).join(' → ');
  return `${found.slope.toFixed(2)} ± ${found.standardError.toFixed(2)}; ${scatter}`;
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
        ...FIGURES.map((figure) => percent(explained(runs, SERVERS, figure, causes), 0)),
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
