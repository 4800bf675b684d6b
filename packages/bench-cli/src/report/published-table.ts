/**
 * The table of the published DinoDNS benchmark, with its columns and number formats. It has no intervals; the report's
 * other tables do.
 */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { type DeltaDefinition, deltaOf } from '../stats/deltas.ts';
import { explainMarks, marksOf, serverTitle, shapeOf } from './cases.ts';
import { blocks, plain, table } from './markdown-text.ts';
import { formatCount, formatDelta, formatQps, formatSeconds, formatShare } from './numbers.ts';

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

const NOTHING = '–';

/** What a row is compared with, in the asked definition; null where it is the baseline or has none. */
export interface RowDeltas {
  readonly qps: number | null;
  readonly latencySeconds: number | null;
}

function withDelta(figure: string, delta: number | null): string {
  return delta === null ? figure : `${figure} (${formatDelta(delta)})`;
}

/**
 * Cells of one case: counts are sums over its ok trials, throughput and latency medians of them. The success
 * rate is completed ÷ sent, as dnsperf has it, so that queries in flight at the end count as not successful.
 */
export function publishedRow(title: string, item: CaseRecord, deltas: RowDeltas): string[] {
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

/** Deltas of medians between any two cases, paired or not. */
function deltasBetween(item: CaseRecord, baseline: CaseRecord, definition: DeltaDefinition): RowDeltas {
  if (item.key === baseline.key || item.summary === null || baseline.summary === null) {
    return { qps: null, latencySeconds: null };
  }
  const { qps, latencySeconds } = item.summary;
  const reference = baseline.summary;
  return {
    qps: deltaOf(qps.median, reference.qps.median, definition),
    latencySeconds:
      latencySeconds === null || reference.latencySeconds === null
        ? null
        : deltaOf(latencySeconds.median, reference.latencySeconds.median, definition),
  };
}

/** How many trials the figures come from. */
function trialNotes(cases: readonly CaseRecord[]): string[] {
  const trials = Math.max(0, ...cases.map((item) => item.trials.ok));
  if (trials === 0) return [];
  if (trials === 1) return ['One trial each: no interval, no verdict.'];
  const isPartlyPaired = cases.some(({ comparison }) => comparison !== null && comparison.qps.n < trials);
  return [
    'Counts are sums over the successful trials, QPS and latency are medians of them.',
    ...(isPartlyPaired
      ? ['Where trials are missing, deltas use only the rounds in which both servers succeeded.']
      : []),
  ];
}

/** The notes under a published table: the sums, the queries left in flight, the marks. */
export function publishedNotes(record: RunRecord, cases: readonly CaseRecord[]): string[] {
  const interrupted = cases.reduce((sum, { totals }) => sum + totals.queriesInterrupted, 0);
  return [
    ...trialNotes(cases),
    ...(interrupted === 0
      ? []
      : [
          `${formatCount(interrupted)} queries were still in flight when the load ended; they count as sent, but as neither ` +
            'completed nor lost.',
        ]),
    ...explainMarks(record, cases),
  ];
}

export interface PublishedTableOptions {
  /** Of one tier, workload, transport and rate; in both modes. */
  readonly cases: readonly CaseRecord[];
  /** Key of the case that the others are compared with; in the published tables CoreDNS in `multi` mode. */
  readonly baselineCaseKey: string;
  readonly delta: DeltaDefinition;
}

/**
 * These cases in one table, over both modes, as published: `CoreDNS (multi, 1 × 2 vCPU)` and
 * `CoreDNS (single, 2 × 1 vCPU)` compared with one baseline. Deltas are of medians and are not paired.
 */
export function publishedTable(record: RunRecord, options: PublishedTableOptions): string {
  const { cases } = options;
  const baseline = cases.find(({ key }) => key === options.baselineCaseKey);
  const rows = cases.map((item) => {
    const title = plain(`${serverTitle(record, item.server)} (${item.mode}, ${shapeOf(record, item)})`);
    const none = { qps: null, latencySeconds: null };
    return publishedRow(title, item, baseline ? deltasBetween(item, baseline, options.delta) : none);
  });
  return blocks(table(PUBLISHED_COLUMNS, rows), ...publishedNotes(record, cases).map(plain));
}
