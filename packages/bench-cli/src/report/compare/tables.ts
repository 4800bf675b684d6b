/** The tables of a comparison, with all its digits: those of `report.md`, and the form of the published DinoDNS benchmark. Pure. */

import type {
  CaseRecord,
  CaseSummary,
  OkTrial,
  RunRecord,
  SummaryStatistic,
  TrialMetrics,
} from '../../results/record.ts';
import { isServersOwn } from '../../stats/decisive.ts';
import { type DeltaDefinition, deltaFigures, deltaOf } from '../../stats/deltas.ts';
import type { ComparedMetric } from '../../stats/metrics.ts';
import {
  type CaseGroup,
  explainMarks,
  groupAcrossModes,
  marksOf,
  serverTitle,
  shapeOf,
  usedOf,
} from '../cases.ts';
import { NOT_COMPARED, shownOf } from '../decisive.ts';
import { bothPairs } from '../delta-texts.ts';
import { type Block, type Cell, heading, list, note, table, text } from '../document/document.ts';
import { limitWord } from '../limits.ts';
import { lookupsOf } from '../lookups.ts';
import { okTrialsByCase } from '../marks.ts';
import {
  formatCount,
  formatDelta,
  formatFixed,
  formatMebibytes,
  formatMicroseconds,
  formatQps,
  formatSeconds,
  formatShare,
} from '../numbers.ts';
import { percentileOf, SHOWN_PERCENTILES, trialPercentile } from '../percentiles.ts';
import { formatThrottled, throttledShareOf } from '../throttling.ts';
import { workloadOf } from '../workloads.ts';

export const NOTHING = '–';

/** Above this number of trials, a list of all of them is not useful. */
const MAX_LISTED_TRIALS = 30;

type Row = readonly (Cell | string)[];

/** Of numbers, but for the first column and those that `words` names. */
export function numberTable(
  title: string,
  titles: readonly string[],
  rows: readonly Row[],
  words: readonly string[] = [],
): Block {
  return table(
    title,
    titles.map((name, index) => ({ title: name, isNumber: index > 0 && !words.includes(name) })),
    rows,
  );
}

/** What the trials of a case measured, in the order of the rounds. */
function measured(record: RunRecord, item: CaseRecord, pick: (trial: OkTrial) => number | null): number[] {
  const trials = okTrialsByCase(record).get(item.key) ?? [];
  return trials.toSorted((a, b) => a.round - b.round).flatMap((trial) => pick(trial) ?? []);
}

/** `40,112`, `42,960` as the ends of a figure's interval; both values of two trials, whose interval would say nothing. */
export function endsOf(
  record: RunRecord,
  item: CaseRecord,
  { low, high, n }: SummaryStatistic,
  pick: (trial: OkTrial) => number | null,
): { readonly ends: readonly [number, number]; readonly isInterval: boolean } | null {
  const [first, second] = measured(record, item, pick);
  if (n === 2 && first !== undefined && second !== undefined)
    return { ends: [first, second], isInterval: false };
  return low === null || high === null ? null : { ends: [low, high], isInterval: true };
}

/** `41,536 [40,112, 42,960]`; of two trials `41,000 and 42,072`. */
function statisticText(
  record: RunRecord,
  item: CaseRecord,
  statistic: SummaryStatistic | null,
  pick: (trial: OkTrial) => number | null,
  format: (value: number) => string,
): string {
  if (statistic === null) return NOTHING;
  const found = endsOf(record, item, statistic, pick);
  if (found === null) return format(statistic.median);
  const [low, high] = found.ends.map(format);
  return found.isInterval ? `${format(statistic.median)} [${low}, ${high}]` : `${low} and ${high}`;
}

type FigureName = keyof TrialMetrics & keyof CaseSummary;

function figure(
  record: RunRecord,
  item: CaseRecord,
  name: FigureName,
  format: (value: number) => string,
): string {
  return statisticText(record, item, item.summary?.[name] ?? null, ({ metrics }) => metrics[name], format);
}

/** `+32.05% [+30.10%, +34.00%]`; of two pairs `+31.10% and +33.00%` */
function deltaFigure(
  record: RunRecord,
  item: CaseRecord,
  metric: ComparedMetric,
  definition: DeltaDefinition,
): string {
  const delta = item.comparison?.[metric];
  if (delta === null || delta === undefined) return NOTHING;
  const { value, low, high } = deltaFigures(delta, definition);
  const both = bothPairs(record, item, metric, definition);
  if (both !== null) return both.map(formatDelta).join(' and ');
  if (low === null || high === null) return formatDelta(value);
  return `${formatDelta(value)} [${formatDelta(low)}, ${formatDelta(high)}]`;
}

const TONES = {
  faster: 'good',
  slower: 'bad',
  less: 'good',
  more: 'bad',
  'no difference shown': 'even',
  [NOT_COMPARED]: 'even',
} as const;

/** How a reader should feel about a verdict. */
export function toneOf(verdict: keyof typeof TONES): (typeof TONES)[keyof typeof TONES] {
  return TONES[verdict];
}

function verdictCell(record: RunRecord, item: CaseRecord, metric: ComparedMetric): Cell | string {
  const shown = shownOf(item, record, metric);
  if (shown === null) return NOTHING;
  if (shown.delta.low === null) return 'one trial, no interval';
  return { text: shown.isAtLeast ? 'at least this much' : shown.verdict, tone: toneOf(shown.verdict) };
}

/** The columns of the published tables. */
export const PUBLISHED_COLUMNS = [
  '',
  'Queries Sent',
  'Queries Completed',
  'Queries Lost',
  'QPS',
  'Average Latency (s)',
  'Success Rate (%)',
  'Failure Rate (%)',
] as const;

/** What a row is compared with, in the asked definition; null where it is the baseline, has none, or is not compared. */
type RowDeltas = Readonly<Record<'qps' | 'latencySeconds', number | null>>;

const withDelta = (figureText: string, delta: number | null) =>
  delta === null ? figureText : `${figureText} (${formatDelta(delta)})`;

/**
 * Cells of one case: counts are sums over its ok trials, throughput and latency medians of them. The success
 * rate is completed ÷ sent, as dnsperf has it, so that queries in flight at the end count as not successful.
 */
function publishedRow(title: string, item: CaseRecord, deltas: RowDeltas): string[] {
  const { summary, totals } = item;
  if (summary === null) return [title, ...Array.from({ length: 7 }, () => NOTHING)];
  const { queriesSent, queriesCompleted, queriesLost } = totals;
  const success = queriesSent === 0 ? null : queriesCompleted / queriesSent;
  const latency = summary.latencySeconds;
  return [
    title,
    formatCount(queriesSent),
    formatCount(queriesCompleted),
    formatCount(queriesLost),
    withDelta(`${formatQps(summary.qps.median)}${marksOf(item)}`, deltas.qps),
    latency === null ? NOTHING : withDelta(formatSeconds(latency.median), deltas.latencySeconds),
    success === null ? NOTHING : formatShare(success),
    success === null ? NOTHING : formatShare(1 - success),
  ];
}

/** Of paired trials. */
function pairedDeltas(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): RowDeltas {
  const value = (metric: 'qps' | 'latencySeconds') => {
    const shown = shownOf(item, record, metric);
    return shown === null || shown.verdict === NOT_COMPARED || shown.isAtLeast
      ? null
      : deltaFigures(shown.delta, definition).value;
  };
  return { qps: value('qps'), latencySeconds: value('latencySeconds') };
}

/** Of medians, between any two cases, paired or not. */
function deltasBetween(
  item: CaseRecord,
  baseline: CaseRecord | undefined,
  definition: DeltaDefinition,
): RowDeltas {
  const value = (metric: 'qps' | 'latencySeconds') => {
    const [own, reference] = [item.summary?.[metric], baseline?.summary?.[metric]];
    return baseline === undefined ||
      item.key === baseline.key ||
      own == null ||
      reference == null ||
      !isServersOwn(metric, [item.limitedBy, baseline.limitedBy])
      ? null
      : deltaOf(own.median, reference.median, definition);
  };
  return { qps: value('qps'), latencySeconds: value('latencySeconds') };
}

/** Under a published table: the sums, the queries left in flight, the marks. */
function publishedNotes(record: RunRecord, cases: readonly CaseRecord[]): Block[] {
  const trials = Math.max(0, ...cases.map((item) => item.trials.ok));
  const interrupted = cases.reduce((sum, { totals }) => sum + totals.queriesInterrupted, 0);
  const isPartlyPaired = cases.some(({ comparison }) => comparison !== null && comparison.qps.n < trials);
  return [
    ...(trials === 1 ? ['One trial each: no interval, no verdict.'] : []),
    ...(trials > 1
      ? ['Counts are sums over the successful trials, QPS and latency are medians of them.']
      : []),
    ...(trials > 1 && isPartlyPaired
      ? ['Where trials are missing, deltas use only the rounds in which both servers succeeded.']
      : []),
    ...(interrupted === 0
      ? []
      : [
          `${formatCount(interrupted)} queries were still in flight when the load ended; they count as sent, but as neither ` +
            'completed nor lost.',
        ]),
    ...explainMarks(record, cases),
  ].map(note);
}

/** `CoreDNS (multi, 1 × 2 vCPU)` */
export function titleAcrossModes(record: RunRecord, item: CaseRecord): string {
  return `${serverTitle(record, item.server)} (${item.mode}, ${shapeOf(record, item)})`;
}

/**
 * Cases of one tier, workload, transport and rate in one table, over both modes, as published. Deltas are of medians and are
 * not paired; `baseline` is CoreDNS in `multi` mode in the published tables.
 */
export function publishedTable(
  record: RunRecord,
  cases: readonly CaseRecord[],
  baseline: CaseRecord | undefined,
  definition: DeltaDefinition,
): Block[] {
  const rows = cases.map((item) =>
    publishedRow(titleAcrossModes(record, item), item, deltasBetween(item, baseline, definition)),
  );
  return [
    numberTable('In the form of the published tables', PUBLISHED_COLUMNS, rows),
    ...publishedNotes(record, cases),
  ];
}

/** One such table for each tier, workload, transport and rate, if the run has both modes. */
export function acrossModes(record: RunRecord, definition: DeltaDefinition): Block[] {
  const tables = groupAcrossModes(record).flatMap(({ title, cases, baseline }) => {
    const hasBoth = baseline?.mode === 'multi' && cases.some(({ mode }) => mode === 'single');
    return hasBoth ? [heading(title), ...publishedTable(record, cases, baseline, definition)] : [];
  });
  if (tables.length === 0) return [];
  const baseline = serverTitle(record, record.baseline);
  return [
    text(
      `In the format of the published tables: both modes against ${baseline} in multi mode. These deltas are of medians, without an interval.`,
    ),
    ...tables,
  ];
}

function uncertainty(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): Block {
  const titles = ['', 'Trials', 'QPS', 'Δ QPS', 'Verdict', 'Average Latency (s)', 'Δ Latency', 'Verdict'];
  const rows = cases.map((item) => {
    const { comparison, trials } = item;
    const pairs = comparison?.qps.n;
    const isPartlyPaired = pairs !== undefined && pairs < trials.ok;
    return [
      serverTitle(record, item.server),
      `${trials.ok} of ${trials.planned}${isPartlyPaired ? ` (${pairs} paired)` : ''}`,
      figure(record, item, 'qps', formatQps) + marksOf(item),
      deltaFigure(record, item, 'qps', definition),
      verdictCell(record, item, 'qps'),
      figure(record, item, 'latencySeconds', formatSeconds),
      deltaFigure(record, item, 'latencySeconds', definition),
      verdictCell(record, item, 'latencySeconds'),
    ];
  });
  return numberTable('Uncertainty', titles, rows, ['Verdict']);
}

/** Nothing where the workload is not made of lookups. */
function lookups(record: RunRecord, cases: readonly CaseRecord[]): Block[] {
  const rows = cases.flatMap((item) => {
    const found = lookupsOf(record, item);
    if (found === null) return [];
    return [
      [
        serverTitle(record, item.server),
        figure(record, item, 'lookupsPerSecond', formatQps),
        figure(record, item, 'lookupLatencySeconds', formatSeconds),
        formatFixed(found.queriesPerLookup, 2),
        formatShare(found.failedRatio),
      ],
    ];
  });
  if (rows.length === 0) return [];
  const titles = ['', 'Lookups/s', 'Latency of a lookup (s)', 'Queries per lookup', 'Without an answer'];
  return [
    heading('Lookups'),
    text(
      'A lookup is what an application asked; its resolver made one or several queries of it. Throughput and latency in the other tables are of queries.',
    ),
    numberTable('Lookups', titles, rows),
  ];
}

/** No rows where no loader gave percentiles. */
function tail(record: RunRecord, cases: readonly CaseRecord[]): Block {
  const rows = cases.map((item) => [
    serverTitle(record, item.server),
    ...SHOWN_PERCENTILES.map((wanted) =>
      statisticText(
        record,
        item,
        percentileOf(item, wanted),
        (trial) => trialPercentile(trial, wanted),
        formatMicroseconds,
      ),
    ),
  ]);
  const hasAny = rows.some((row) => row.slice(1).some((cell) => cell !== NOTHING));
  const titles = ['', ...SHOWN_PERCENTILES.map((wanted) => `p${wanted} (µs)`)];
  return numberTable('Latency percentiles', titles, hasAny ? rows : []);
}

function cost(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): Block {
  const titles = [
    '',
    'vCPU',
    'CPU used (cores)',
    'Throttled',
    'CPU per query (µs)',
    'Δ CPU per query',
    'Verdict',
    'Memory (MiB)',
    'Δ Memory',
    'Verdict',
    'Limited by',
  ];
  const trials = okTrialsByCase(record);
  const rows = cases.map((item) => {
    const { summary } = item;
    const cores = summary?.cpuCores ?? null;
    const throttled = throttledShareOf(trials.get(item.key) ?? []);
    return [
      serverTitle(record, item.server),
      shapeOf(record, item).replace(' vCPU', ''),
      cores === null ? NOTHING : usedOf(record, item, cores.median),
      throttled === null ? NOTHING : formatThrottled(throttled),
      figure(record, item, 'cpuSecondsPerQuery', formatMicroseconds),
      deltaFigure(record, item, 'cpuSecondsPerQuery', definition),
      verdictCell(record, item, 'cpuSecondsPerQuery'),
      figure(record, item, 'memoryBytes', formatMebibytes),
      deltaFigure(record, item, 'memoryBytes', definition),
      verdictCell(record, item, 'memoryBytes'),
      summary === null ? NOTHING : limitWord(item, trials.get(item.key) ?? []),
    ];
  });
  return numberTable('Cost', titles, rows, ['Verdict', 'Limited by']);
}

function responseCodes(record: RunRecord, cases: readonly CaseRecord[]): Block[] {
  const codes = [...new Set(cases.flatMap(({ totals }) => Object.keys(totals.responseCodes)))].sort();
  if (codes.length === 0) return [];
  const rows = cases.map((item) => {
    const counts = item.totals.responseCodes;
    const answers = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const cells = codes.map((name) => {
      const count = counts[name] ?? 0;
      return answers === 0 ? NOTHING : `${formatCount(count)} (${formatShare(count / answers)})`;
    });
    return [serverTitle(record, item.server), ...cells];
  });
  const workload = workloadOf(record, cases);
  const predicted =
    workload === undefined || record.configuration.answers === 'stable'
      ? ''
      : ` The workload predicts ${formatShare(workload.existingRatio)} of answers with records; for the other names NXDOMAIN and REFUSED are both right, depending on the server.`;
  return [text(`Response codes.${predicted}`), numberTable('Response codes', ['', ...codes], rows)];
}

function trialList(record: RunRecord, item: CaseRecord): string {
  const trials = record.trials
    .filter(({ caseKey }) => caseKey === item.key)
    .toSorted((a, b) => a.round - b.round);
  const title = serverTitle(record, item.server);
  if (trials.length === 0) return `${title}: none yet`;
  const shown = trials
    .slice(0, MAX_LISTED_TRIALS)
    .map((trial) =>
      trial.status === 'ok' ? formatQps(trial.metrics.qps) : `failed (${trial.failure.code})`,
    );
  if (trials.length <= MAX_LISTED_TRIALS) return `${title}: ${shown.join(' · ')}`;
  const figures = trials.flatMap((trial) => (trial.status === 'ok' ? trial.metrics.qps : []));
  const [least, most] = [Math.min, Math.max].map((end) =>
    figures.reduce((a, b) => end(a, b), figures[0] ?? 0),
  );
  const extremes = figures.length === 0 ? '' : `, from ${formatQps(least ?? 0)} to ${formatQps(most ?? 0)}`;
  return `${title}: ${formatCount(trials.length)} trials${extremes}; the first are ${shown.join(' · ')}`;
}

/** Everything about one group of cases. */
export function groupTables(record: RunRecord, { cases }: CaseGroup, definition: DeltaDefinition): Block[] {
  const published = cases.map((item) =>
    publishedRow(serverTitle(record, item.server), item, pairedDeltas(record, item, definition)),
  );
  return [
    numberTable('In the form of the published tables', PUBLISHED_COLUMNS, published),
    ...publishedNotes(record, cases),
    heading('Uncertainty'),
    uncertainty(record, cases, definition),
    ...lookups(record, cases),
    heading('Latency percentiles'),
    tail(record, cases),
    heading('Cost'),
    cost(record, cases, definition),
    ...responseCodes(record, cases),
    heading('Each trial'),
    text('Queries per second in the order of the rounds.'),
    list(cases.map((item) => trialList(record, item))),
  ];
}
