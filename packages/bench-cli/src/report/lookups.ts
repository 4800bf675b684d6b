/** What reports say of lookups, where the workload is made of them. Pure. */
import type { CaseRecord, RunRecord, SummaryStatistic } from '../results/record.ts';
import { formatCount, formatFixed } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';

/** What the applications saw of one case. */
export interface CaseLookups {
  readonly perSecond: SummaryStatistic;
  readonly latencySeconds: SummaryStatistic | null;
  /** Over the ok trials. */
  readonly queriesPerLookup: number;
  /** Lookups that ended without an answer ÷ those that ended, over the ok trials. */
  readonly failedRatio: number;
}

/** Null where the case has no lookups. */
export function lookupsOf(record: RunRecord, item: CaseRecord): CaseLookups | null {
  const { summary } = item;
  if (summary === null || summary.lookupsPerSecond === null) return null;
  const loads = okTrialsOf(record, item).map(({ load }) => load);
  const sum = (pick: (load: (typeof loads)[number]) => number) =>
    loads.reduce((total, load) => total + pick(load), 0);
  const ended = sum(({ lookups }) => (lookups?.found ?? 0) + (lookups?.failed ?? 0));
  return {
    perSecond: summary.lookupsPerSecond,
    latencySeconds: summary.lookupLatencySeconds,
    queriesPerLookup: sum(({ queriesSent }) => queriesSent) / sum(({ lookups }) => lookups?.count ?? 0),
    failedRatio: ended === 0 ? 0 : sum(({ lookups }) => lookups?.failed ?? 0) / ended,
  };
}

/** `865 lookups/s of 5.0 queries` */
export function lookupRateText({ perSecond, queriesPerLookup }: CaseLookups): string {
  return `${formatCount(Math.round(perSecond.median))} lookups/s of ${formatFixed(queriesPerLookup, 1)} queries`;
}
