/** The tables of a comparison, with all its digits, for `report.md`. Pure. */

import type { CaseRecord, CaseSummary, RunRecord, TrialMetrics } from '../../results/record.ts';
import { NOT_COMPARED, shownOf } from '../../stats/decisive.ts';
import { type DeltaDefinition, deltaFigures } from '../../stats/deltas.ts';
import type { ComparedMetric } from '../../stats/metrics.ts';
import { type CaseGroup, marksOf, serverTitle, shapeOf, usedOf } from '../cases.ts';
import { bothPairs } from '../delta-texts.ts';
import { type Block, type Cell, heading, list, text } from '../document/document.ts';
import { limitWord } from '../limits.ts';
import { lookupsOf } from '../lookups.ts';
import {
  deltaEnds,
  formatCount,
  formatDelta,
  formatFixed,
  formatMebibytes,
  formatMicroseconds,
  formatQps,
  formatSeconds,
  formatShare,
} from '../numbers.ts';
import { okTrialsOf } from '../ok-trials.ts';
import { percentileOf, SHOWN_PERCENTILES, trialPercentile } from '../percentiles.ts';
import { formatThrottled, throttledShareOf } from '../throttling.ts';
import { NOTHING, numberTable, statisticText, toneOf } from './cells.ts';
import { pairedTable } from './published-tables.ts';

/** Above this number of trials, a list of all of them is not useful. */
const MAX_LISTED_TRIALS = 30;

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
  const shown = shownOf(item, record, metric);
  if (shown === null || shown.verdict === NOT_COMPARED) return NOTHING;
  const { value, low, high } = deltaFigures(shown.delta, definition);
  const both = bothPairs(record, item, metric, definition);
  if (both !== null) return both.map(formatDelta).join(' and ');
  if (low === null || high === null) return formatDelta(value);
  return `${formatDelta(value)} [${deltaEnds(low, high).join(', ')}]`;
}

function verdictCell(record: RunRecord, item: CaseRecord, metric: ComparedMetric): Cell | string {
  const shown = shownOf(item, record, metric);
  if (shown === null) return NOTHING;
  if (shown.delta.low === null) return 'one trial, no interval';
  return { text: shown.isAtLeast ? 'at least this much' : shown.verdict, tone: toneOf(shown.verdict) };
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
  const rows = cases.map((item) => {
    const { summary } = item;
    const cores = summary?.cpuCores ?? null;
    const throttled = throttledShareOf(okTrialsOf(record, item));
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
      summary === null ? NOTHING : limitWord(item, okTrialsOf(record, item)),
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
  // All of these cases have the same.
  const workload = record.workloads.find(({ name }) => name === cases[0]?.workload);
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
  return [
    ...pairedTable(record, cases, definition),
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
