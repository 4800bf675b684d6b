/** What a post says of a comparison: what was shown, how it was measured, and what to keep in mind. Pure. */

import { type CaseRecord, isCaptureName, type RunRecord } from '../../results/record.ts';
import { NOT_COMPARED, shownOf } from '../../stats/decisive.ts';
import type { DeltaDefinition } from '../../stats/deltas.ts';
import type { ComparedMetric } from '../../stats/metrics.ts';
import { groupAcrossModes, marksOf, serverTitle, titleWithVersion } from '../cases.ts';
import { deltaLine, deltaTexts, endsOfAll } from '../delta-texts.ts';
import { type Block, type Cell, heading, list, text } from '../document/document.ts';
import { isBeyondLoopback } from '../marks.ts';
import { formatBytes, formatQps, formatTime } from '../numbers.ts';
import { comparedServers, overallSentence, reservations } from '../overall.ts';
import { verdictSentences } from '../verdict-sentence.ts';
import { versionSteps } from '../version-steps.ts';
import { NOTHING, numberTable, toneOf } from './cells.ts';
import { publishedTable, titleAcrossModes } from './published-tables.ts';

/** "CoreDNS 1.15.0, DinoDNS 0.0.13": each with its version once. */
export function contestants(record: RunRecord): string[] {
  return [...new Set(record.cases.map(({ server }) => server))].map((name) => {
    const server = record.servers.find((candidate) => candidate.name === name);
    return server === undefined ? serverTitle(record, name) : titleWithVersion(server);
  });
}

/** Then all servers answer as many queries, and what these cost is the result. */
export function isAtFixedRate({ cases }: RunRecord): boolean {
  return cases.length > 0 && cases.every(({ ratePerSecond }) => ratePerSecond !== null);
}

/**
 * What was shown: a sentence for each server, about throughput where that was the server's own, else about what a query cost it; where
 * there are no intervals, what single trials say.
 */
export function verdicts(record: RunRecord): string[] {
  const steps = versionSteps(record);
  if (steps !== null) return steps.map(({ sentence }) => sentence);
  const metrics: readonly ComparedMetric[] = isAtFixedRate(record)
    ? ['cpuSecondsPerQuery', 'qps']
    : ['qps', 'cpuSecondsPerQuery'];
  const overall = comparedServers(record).flatMap(
    (server) =>
      metrics
        .map((metric) => overallSentence(record, server, metric))
        .find((sentence) => sentence !== null) ?? [],
  );
  if (overall.length > 0) return overall;
  return verdictSentences(record).map(({ group, sentence }) => `${group}: ${sentence}`);
}

/** The rest of what was shown. */
function furtherVerdicts(record: RunRecord): string[] {
  const told = verdicts(record);
  const metrics: readonly ComparedMetric[] = ['qps', 'cpuSecondsPerQuery', 'latencySeconds', 'memoryBytes'];
  const all = metrics
    .slice(isAtFixedRate(record) ? 1 : 0)
    .flatMap((metric) =>
      comparedServers(record).flatMap((server) => overallSentence(record, server, metric) ?? []),
    );
  return all.filter((sentence) => !told.includes(sentence));
}

function placeText(record: RunRecord): string {
  if (record.target !== 'local')
    return 'The figures are of this cluster on this day: another one may rank the servers differently.';
  return isBeyondLoopback(record)
    ? 'The load went to an address outside the loopback interface: the network on the way is part of the latency, and may have been the limit.'
    : 'Servers and load generator shared one machine and its loopback interface: no network card was involved, and another machine may rank the servers differently.';
}

function loadText(record: RunRecord): string {
  if (isAtFixedRate(record))
    return 'The rate was fixed: how many queries per second they can answer at most was not measured.';
  if (record.configuration.objective === 'max-rate')
    return 'Each server was measured at the highest rate that it held, in an open loop: queries left on schedule, whether or not answers arrived.';
  const captures = record.workloads.filter(({ name }) => isCaptureName(name)).length;
  if (captures === record.workloads.length)
    return 'The load was a capture, replayed with its own timing: how many queries per second they can answer at most was not measured.';
  const where = [
    ...(record.cases.some(({ ratePerSecond }) => ratePerSecond !== null) ? [' where no rate is given'] : []),
    ...(captures === 0 ? [] : [' except for captures, which have their own timing']),
  ].join(',');
  return `The load was a closed loop${where}: ${record.loader.kind} sends its next query when an answer arrives, so a faster server shows a lower latency.`;
}

/** What limits the result: what matters most comes first. */
export function caveats(record: RunRecord): string[] {
  const servers = record.cases.map(({ server }) => server);
  return [
    ...reservations(record),
    placeText(record),
    ...(servers.some((server) => /^dinodns\b/.test(server))
      ? ['The authors of dinodns-bench also maintain DinoDNS: distrust us, and rerun it.']
      : []),
    loadText(record),
  ];
}

interface Measure {
  readonly title: string;
  readonly metric: ComparedMetric;
  readonly format: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  { title: 'QPS', metric: 'qps', format: formatQps },
  { title: 'CPU per query', metric: 'cpuSecondsPerQuery', format: formatTime },
  { title: 'Average latency', metric: 'latencySeconds', format: formatTime },
  { title: 'Memory', metric: 'memoryBytes', format: formatBytes },
];

/** `+19.7 % [+17.6, +22.6]`, in bold where it is a verdict. */
function differenceCell(
  record: RunRecord,
  item: CaseRecord,
  metric: ComparedMetric,
  definition: DeltaDefinition,
): Cell | string {
  const shown = item.server === record.baseline ? null : shownOf(item, record, metric);
  if (shown === null) return NOTHING;
  const { verdict, isAtLeast, delta } = shown;
  if (verdict === NOT_COMPARED) return verdict;
  const line = deltaLine(deltaTexts(record, item, metric, shown, definition), ', one trial');
  if (delta.low === null) return line;
  const size = `${isAtLeast ? 'at least ' : ''}${line}`;
  return verdict === 'no difference shown'
    ? `${size}, no difference shown`
    : { text: size, tone: toneOf(verdict) };
}

/** Medians, and how they differ from the baseline of the same mode, from paired trials. */
function figureTable(record: RunRecord, cases: readonly CaseRecord[], definition: DeltaDefinition): Block {
  const first: ComparedMetric = isAtFixedRate(record) ? 'cpuSecondsPerQuery' : 'qps';
  const ordered = MEASURES.toSorted((a, b) => Number(b.metric === first) - Number(a.metric === first));
  const measures = ordered.filter(({ metric }) => cases.some(({ summary }) => summary?.[metric]));
  const rows = cases.map((item) => [
    titleAcrossModes(record, item),
    ...measures.flatMap(({ metric, format }) => {
      const median = item.summary?.[metric]?.median;
      const mark = metric === 'qps' ? marksOf(item) : '';
      return [
        median === undefined ? NOTHING : format(median) + mark,
        differenceCell(record, item, metric, definition),
      ];
    }),
  ]);
  const titles = measures.flatMap(({ title, metric }) => [
    title,
    endsOfAll(record, cases, () => metric) === 'pairs' ? 'Δ of both pairs' : 'Δ [95 %]',
  ]);
  return numberTable('Figures', ['', ...titles], rows);
}

/** The tables of a post: both modes in one, and the same in the form of the published benchmark. */
export function postFigures(record: RunRecord, definition: DeltaDefinition): Block[] {
  const form =
    definition === 'relative'
      ? 'relative: (value − baseline) ÷ baseline'
      : 'symmetric: (value − baseline) ÷ mean of both';
  return [
    list(furtherVerdicts(record)),
    ...groupAcrossModes(record).flatMap(({ title, cases, baseline }) => [
      heading(title),
      figureTable(record, cases, definition),
      text(
        baseline === undefined
          ? 'There is no case to compare with.'
          : `In the form of the published DinoDNS tables: differences of medians, against ${serverTitle(record, record.baseline)} in ${baseline.mode} mode (${form}).`,
      ),
      ...publishedTable(record, cases, baseline, definition),
    ]),
  ];
}
