/**
 * What a run showed, in one sentence and one picture, for a reader who knows no statistics. Only for a run of one point, in
 * which one sentence says it all. Pure.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import { type DecisiveMetric, decisiveOf, isLowerBound, isUndecidable } from '../stats/decisive.ts';
import { listed } from '../text.ts';
import { groupCases, serverTitle } from './cases.ts';
import type { DocumentLead } from './document/document.ts';
import { formatFixed, formatQps, formatTime } from './numbers.ts';
import { MULTIPLE_FROM, SIZE_WORDS, sizeText } from './size.ts';

export interface Lead extends DocumentLead {
  /** The figures of each server; empty where they would be too many for a sentence. */
  readonly figures: string;
  readonly metric: DecisiveMetric;
}

const CAPTIONS: Readonly<Record<DecisiveMetric, string>> = {
  qps: 'queries per second (more is better)',
  cpuSecondsPerQuery: 'CPU time per query (less is better)',
};

function sizeOf({ relative, low, high, verdict }: Delta, metric: DecisiveMetric): string {
  if (verdict === 'no difference shown') return 'shows no difference';
  if (metric === 'qps' && relative >= MULTIPLE_FROM)
    return `answers ${formatFixed(1 + relative, 1)} times as many queries per second`;
  const ends = { relative, low: low ?? relative, high: high ?? relative };
  const { size } = sizeText(ends, SIZE_WORDS[metric], false);
  return metric === 'qps' ? `answers ${size} queries per second` : `needs ${size} CPU per query`;
}

function barsOf(
  record: RunRecord,
  cases: readonly CaseRecord[],
  metric: DecisiveMetric,
): DocumentLead['bars'] {
  const measured = cases.flatMap((item) => {
    const value = item.summary?.[metric]?.median;
    return value === undefined ? [] : [{ item, value }];
  });
  const largest = Math.max(...measured.map(({ value }) => value));
  return measured.map(({ item, value }) => ({
    series: item.server,
    title: serverTitle(record, item.server),
    share: largest > 0 ? value / largest : 0,
    value:
      metric === 'qps' ? `${isLowerBound(item) ? 'at least ' : ''}${formatQps(value)}` : formatTime(value),
  }));
}

/** So many servers still fit into a sentence. */
const MOST_IN_SENTENCE = 4;

/** `CoreDNS answered 69,717 queries per second with 14.0 µs of CPU each, DinoDNS at least 287,242 with 2.26 µs`. */
function figuresText(record: RunRecord, cases: readonly CaseRecord[]): string {
  const told = cases.flatMap((item, index) => {
    if (item.summary === null) return [];
    const { qps, cpuSecondsPerQuery } = item.summary;
    const rate = `${isLowerBound(item) ? 'at least ' : ''}${formatQps(qps.median)}`;
    const cost = cpuSecondsPerQuery === null ? '' : ` with ${formatTime(cpuSecondsPerQuery.median)}`;
    const [verb, unit, of] =
      index === 0 ? [' answered', ' queries per second', ' of CPU each'] : ['', '', ''];
    return [`${serverTitle(record, item.server)}${verb} ${rate}${unit}${cost}${cost === '' ? '' : of}`];
  });
  return told.length === 0 || told.length > MOST_IN_SENTENCE ? '' : `${listed(told)}.`;
}

/** Null where nothing was compared, or at several points. */
export function leadOf(record: RunRecord): Lead | null {
  const [group, ...others] = groupCases(record);
  if (group === undefined || others.length > 0) return null;
  const decisive = group.cases.flatMap((item) => {
    const found = decisiveOf(item, record);
    return found === null || found.delta.low === null || isUndecidable(found) ? [] : [{ item, ...found }];
  });
  if (decisive.length === 0) return null;
  const compared = decisive.map(
    ({ item, delta, metric }) => `${serverTitle(record, item.server)} ${sizeOf(delta, metric)}`,
  );
  const metric = decisive.some((found) => found.metric === 'cpuSecondsPerQuery')
    ? 'cpuSecondsPerQuery'
    : 'qps';
  const told = figuresText(record, group.cases);
  const sentence = `Compared with ${serverTitle(record, record.baseline)}, ${listed(compared)}.`;
  return {
    text: `${told} ${sentence}`.trim(),
    figures: told,
    metric,
    caption: CAPTIONS[metric],
    bars: barsOf(record, group.cases, metric),
  };
}
