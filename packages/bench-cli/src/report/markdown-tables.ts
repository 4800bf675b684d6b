/** The tables of one group of cases in the Markdown report. */
import type { CaseRecord, Delta, RunRecord, SummaryStatistic } from '../results/record.ts';
import { type DeltaDefinition, deltaFigures } from '../stats/deltas.ts';
import type { ComparedMetric } from '../stats/metrics.ts';
import { type CaseGroup, marksOf, serverTitle, shapeOf, usedOf } from './cases.ts';
import { shownOf } from './decisive.ts';
import { limitWord } from './limits.ts';
import { lookupsOf } from './lookups.ts';
import { blocks, bullets, code, plain, table } from './markdown-text.ts';
import { okTrialsByCase } from './marks.ts';
import {
  formatCount,
  formatDelta,
  formatFixed,
  formatMebibytes,
  formatMicroseconds,
  formatQps,
  formatSeconds,
  formatShare,
} from './numbers.ts';
import { hasPercentiles, percentileOf, SHOWN_PERCENTILES } from './percentiles.ts';
import { PUBLISHED_COLUMNS, publishedNotes, publishedRow } from './published-table.ts';
import { formatThrottled, throttledShareOf } from './throttling.ts';
import { workloadOf } from './workloads.ts';

const NOTHING = '–';

/** Above this number of trials, a list of all of them is not useful. */
const MAX_LISTED_TRIALS = 30;

function rowTitle(record: RunRecord, item: CaseRecord): string {
  return plain(serverTitle(record, item.server));
}

/** `41,536 [40,112, 42,960]` */
function figure(statistic: SummaryStatistic | null, format: (value: number) => string): string {
  if (statistic === null) return NOTHING;
  const { median, low, high } = statistic;
  if (low === null || high === null) return format(median);
  return `${format(median)} [${format(low)}, ${format(high)}]`;
}

/** `+32.05% [+30.10%, +34.00%]` */
function deltaFigure(delta: Delta | null | undefined, definition: DeltaDefinition): string {
  if (delta === null || delta === undefined) return NOTHING;
  const { value, low, high } = deltaFigures(delta, definition);
  if (low === null || high === null) return formatDelta(value);
  return `${formatDelta(value)} [${formatDelta(low)}, ${formatDelta(high)}]`;
}

function verdictOf(record: RunRecord, item: CaseRecord, metric: ComparedMetric): string {
  const shown = shownOf(item, record, metric);
  if (shown === null) return NOTHING;
  return shown.delta.low === null ? 'one trial, no interval' : shown.verdict;
}

function publishedForm(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): string {
  const rows = cases.map((item) => {
    const { comparison } = item;
    const latency = comparison?.latencySeconds ?? null;
    return publishedRow(rowTitle(record, item), item, {
      qps: comparison === null ? null : deltaFigures(comparison.qps, definition).value,
      latencySeconds: latency === null ? null : deltaFigures(latency, definition).value,
    });
  });
  return blocks(table(PUBLISHED_COLUMNS, rows), ...publishedNotes(record, cases).map(plain));
}

function uncertainty(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): string {
  const header = ['', 'Trials', 'QPS', 'Δ QPS', 'Verdict', 'Average Latency (s)', 'Δ Latency', 'Verdict'];
  const rows = cases.map((item) => {
    const { summary, comparison, trials } = item;
    const pairs = comparison?.qps.n;
    const isPartlyPaired = pairs !== undefined && pairs < trials.ok;
    return [
      rowTitle(record, item),
      `${trials.ok} of ${trials.planned}${isPartlyPaired ? ` (${pairs} paired)` : ''}`,
      figure(summary?.qps ?? null, formatQps) + marksOf(item),
      deltaFigure(comparison?.qps, definition),
      verdictOf(record, item, 'qps'),
      figure(summary?.latencySeconds ?? null, formatSeconds),
      deltaFigure(comparison?.latencySeconds, definition),
      verdictOf(record, item, 'latencySeconds'),
    ];
  });
  return table(header, rows, [4, 7]);
}

/** Nothing where the workload is not made of lookups. */
function lookups(record: RunRecord, cases: readonly CaseRecord[]): string {
  const rows = cases.flatMap((item) => {
    const found = lookupsOf(record, item);
    if (found === null) return [];
    return [
      [
        rowTitle(record, item),
        figure(found.perSecond, formatQps),
        figure(found.latencySeconds, formatSeconds),
        formatFixed(found.queriesPerLookup, 2),
        formatShare(found.failedRatio),
      ],
    ];
  });
  if (rows.length === 0) return '';
  const header = ['', 'Lookups/s', 'Latency of a lookup (s)', 'Queries per lookup', 'Without an answer'];
  return blocks(
    '### Lookups',
    'A lookup is what an application asked; its resolver made one or several queries of it. Throughput and latency in the other tables are of queries.',
    table(header, rows),
  );
}

/** Nothing where no loader gave percentiles. */
function tail(record: RunRecord, cases: readonly CaseRecord[]): string {
  if (!hasPercentiles(cases)) return '';
  const header = ['', ...SHOWN_PERCENTILES.map((wanted) => `p${wanted} (µs)`)];
  const rows = cases.map((item) => [
    rowTitle(record, item),
    ...SHOWN_PERCENTILES.map((wanted) => figure(percentileOf(item, wanted), formatMicroseconds)),
  ]);
  return blocks('### Latency percentiles', table(header, rows));
}

function cost(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): string {
  const header = [
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
    const { summary, comparison } = item;
    const cores = summary?.cpuCores ?? null;
    const throttled = throttledShareOf(trials.get(item.key) ?? []);
    return [
      rowTitle(record, item),
      shapeOf(record, item).replace(' vCPU', ''),
      cores === null ? NOTHING : usedOf(record, item, cores.median),
      throttled === null ? NOTHING : formatThrottled(throttled),
      figure(summary?.cpuSecondsPerQuery ?? null, formatMicroseconds),
      deltaFigure(comparison?.cpuSecondsPerQuery, definition),
      verdictOf(record, item, 'cpuSecondsPerQuery'),
      figure(summary?.memoryBytes ?? null, formatMebibytes),
      deltaFigure(comparison?.memoryBytes, definition),
      verdictOf(record, item, 'memoryBytes'),
      summary === null ? NOTHING : limitWord(item, trials.get(item.key) ?? []),
    ];
  });
  return table(header, rows, [6, 9, 10]);
}

function responseCodes(record: RunRecord, cases: readonly CaseRecord[]): string {
  const codes = [...new Set(cases.flatMap(({ totals }) => Object.keys(totals.responseCodes)))].sort();
  if (codes.length === 0) return '';
  const rows = cases.map((item) => {
    const counts = item.totals.responseCodes;
    const answers = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const cells = codes.map((name) => {
      const count = counts[name] ?? 0;
      return answers === 0 ? NOTHING : `${formatCount(count)} (${formatShare(count / answers)})`;
    });
    return [rowTitle(record, item), ...cells];
  });
  const workload = workloadOf(record, cases);
  const predicted =
    workload === undefined || record.configuration.answers === 'stable'
      ? ''
      : `The workload predicts ${formatShare(workload.existingRatio)} of answers with records; for the other names NXDOMAIN and REFUSED are both right, depending on the server.`;
  return blocks(`Response codes. ${predicted}`, table(['', ...codes.map(plain)], rows));
}

function trialList(record: RunRecord, item: CaseRecord): string {
  const trials = record.trials
    .filter(({ caseKey }) => caseKey === item.key)
    .toSorted((a, b) => a.round - b.round);
  const title = rowTitle(record, item);
  if (trials.length === 0) return `${title}: none yet`;
  const shown = trials
    .slice(0, MAX_LISTED_TRIALS)
    .map((trial) =>
      trial.status === 'ok' ? formatQps(trial.metrics.qps) : `failed (${code(trial.failure.code)})`,
    );
  if (trials.length <= MAX_LISTED_TRIALS) return `${title}: ${shown.join(' · ')}`;
  const figures = trials.flatMap((trial) => (trial.status === 'ok' ? trial.metrics.qps : []));
  const extremes =
    figures.length === 0
      ? ''
      : `, from ${formatQps(figures.reduce((a, b) => Math.min(a, b)))} to ${formatQps(figures.reduce((a, b) => Math.max(a, b)))}`;
  return `${title}: ${formatCount(trials.length)} trials${extremes}; the first are ${shown.join(' · ')}`;
}

/** Everything about one group of cases, under a heading of its own. */
export function groupSection(record: RunRecord, group: CaseGroup, definition: DeltaDefinition): string {
  const { cases } = group;
  return blocks(
    `## ${plain(group.title)}`,
    publishedForm(record, cases, definition),
    '### Uncertainty',
    uncertainty(record, cases, definition),
    lookups(record, cases),
    tail(record, cases),
    '### Cost',
    cost(record, cases, definition),
    responseCodes(record, cases),
    '### Each trial',
    'Queries per second in the order of the rounds.',
    bullets(cases.map((item) => trialList(record, item))),
  );
}
