/** Latency percentiles for tables: where a loader gave any. */
import type { CaseRecord, SummaryStatistic, Trial } from '../results/record.ts';
import { percentileIn } from '../stats/percentile.ts';

/** What tables have room for; charts show all. */
export const SHOWN_PERCENTILES = [50, 90, 99, 99.9] as const;

/** The percentile of a case over its trials; null where its loader does not give it. */
export function percentileOf({ summary }: CaseRecord, wanted: number): SummaryStatistic | null {
  return percentileIn(summary?.latencyPercentiles, wanted);
}

/** The percentile of one trial, in seconds. */
export function trialPercentile(trial: Trial, wanted: number): number | null {
  return trial.status === 'ok' ? percentileIn(trial.load.latencyPercentiles, wanted) : null;
}
