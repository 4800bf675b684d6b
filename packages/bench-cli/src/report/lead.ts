/**
 * What a run showed, in one sentence and one picture, for a reader who knows no statistics. Only for a run of one point, in
 * which one sentence says it all. Pure.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';
import { groupCases, serverTitle } from './cases.ts';
import { type DecisiveMetric, decisiveDelta, isLowerBound, isUndecidable } from './decisive.ts';
import { formatFixed, formatQps, formatTime } from './numbers.ts';

export interface LeadBar {
  readonly server: string;
  readonly title: string;
  /** Of the longest bar, from 0 to 1. */
  readonly share: number;
  /** "16.1 µs", "at least 42,009". */
  readonly value: string;
}

export interface Lead {
  readonly sentence: string;
  /** "CPU time per query (less is better)". */
  readonly caption: string;
  readonly bars: readonly LeadBar[];
}

const CAPTIONS: Readonly<Record<DecisiveMetric, string>> = {
  qps: 'queries per second (more is better)',
  cpuSecondsPerQuery: 'CPU time per query (less is better)',
};

/** From here on, a multiple is easier to grasp than a percentage. */
const MULTIPLE_FROM = 0.5;

function sizeOf({ relative, verdict }: Delta, metric: DecisiveMetric): string {
  if (verdict === 'no difference shown') return 'shows no difference';
  const size = `${formatFixed(Math.abs(relative) * 100, 0)} %`;
  if (metric === 'cpuSecondsPerQuery') return `needs ${size} ${relative < 0 ? 'less' : 'more'} CPU per query`;
  return relative >= MULTIPLE_FROM
    ? `answers ${formatFixed(1 + relative, 1)} times as many queries per second`
    : `answers ${size} ${relative < 0 ? 'fewer' : 'more'} queries per second`;
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')}, and ${last}`;
}

function barsOf(record: RunRecord, cases: readonly CaseRecord[], metric: DecisiveMetric): LeadBar[] {
  const measured = cases.flatMap((item) => {
    const value = item.summary?.[metric]?.median;
    return value === undefined ? [] : [{ item, value }];
  });
  const largest = Math.max(...measured.map(({ value }) => value));
  return measured.map(({ item, value }) => ({
    server: item.server,
    title: serverTitle(record, item.server),
    share: largest > 0 ? value / largest : 0,
    value:
      metric === 'qps' ? `${isLowerBound(item) ? 'at least ' : ''}${formatQps(value)}` : formatTime(value),
  }));
}

/** Null where nothing was compared, or at several points. */
export function leadOf(record: RunRecord): Lead | null {
  const [group, ...others] = groupCases(record);
  if (group === undefined || others.length > 0) return null;
  const decisive = group.cases.flatMap((item) => {
    const found = decisiveDelta(item, record);
    return found === null || found.delta.low === null || isUndecidable(found) ? [] : [{ item, ...found }];
  });
  if (decisive.length === 0) return null;
  const told = decisive.map(
    ({ item, delta, metric }) => `${serverTitle(record, item.server)} ${sizeOf(delta, metric)}`,
  );
  const metric = decisive.some((found) => found.metric === 'cpuSecondsPerQuery')
    ? 'cpuSecondsPerQuery'
    : 'qps';
  return {
    sentence: `Compared with ${serverTitle(record, record.baseline)}, ${listed(told)}.`,
    caption: CAPTIONS[metric],
    bars: barsOf(record, group.cases, metric),
  };
}
