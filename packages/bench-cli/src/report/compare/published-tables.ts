/** The tables of a comparison in the form of the published DinoDNS benchmark. Pure. */
import type { CaseRecord, RunRecord } from '../../results/record.ts';
import { isServersOwn, NOT_COMPARED, shownOf } from '../../stats/decisive.ts';
import { type DeltaDefinition, deltaFigures, deltaOf } from '../../stats/deltas.ts';
import { explainMarks, groupAcrossModes, marksOf, serverTitle, shapeOf } from '../cases.ts';
import { type Block, heading, note, text } from '../document/document.ts';
import { formatCount, formatDelta, formatQps, formatSeconds, formatShare } from '../numbers.ts';
import { NOTHING, numberTable } from './cells.ts';

/** The columns of the published tables. */
const PUBLISHED_COLUMNS = [
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

const rowDeltas = (value: (metric: keyof RowDeltas) => number | null): RowDeltas => ({
  qps: value('qps'),
  latencySeconds: value('latencySeconds'),
});

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
  return rowDeltas((metric) => {
    const shown = shownOf(item, record, metric);
    return shown === null || shown.verdict === NOT_COMPARED || shown.isAtLeast
      ? null
      : deltaFigures(shown.delta, definition).value;
  });
}

/** Of medians, between any two cases, paired or not. */
function deltasBetween(
  item: CaseRecord,
  baseline: CaseRecord | undefined,
  definition: DeltaDefinition,
): RowDeltas {
  return rowDeltas((metric) => {
    const [own, reference] = [item.summary?.[metric], baseline?.summary?.[metric]];
    return baseline === undefined ||
      item.key === baseline.key ||
      own == null ||
      reference == null ||
      !isServersOwn(metric, [item.limitedBy, baseline.limitedBy])
      ? null
      : deltaOf(own.median, reference.median, definition);
  });
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

const tableOf = (record: RunRecord, cases: readonly CaseRecord[], rows: readonly string[][]): Block[] => [
  numberTable('In the form of the published tables', PUBLISHED_COLUMNS, rows),
  ...publishedNotes(record, cases),
];

/** Cases of one group, each against its baseline, with deltas of paired trials. */
export function pairedTable(
  record: RunRecord,
  cases: readonly CaseRecord[],
  definition: DeltaDefinition,
): Block[] {
  const rows = cases.map((item) =>
    publishedRow(serverTitle(record, item.server), item, pairedDeltas(record, item, definition)),
  );
  return tableOf(record, cases, rows);
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
  return tableOf(record, cases, rows);
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
