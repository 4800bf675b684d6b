/** Latency percentiles for tables: where a loader gave any. */
import type { CaseRecord, SummaryStatistic, Trial } from '../results/record.ts';

/** What tables have room for; charts show all. */
export const SHOWN_PERCENTILES = [50, 90, 99, 99.9] as const;

/** The percentile of a case over its trials; null where its loader does not give it. */
export function percentileOf({ summary }: CaseRecord, wanted: number): SummaryStatistic | null {
  return summary?.latencyPercentiles?.find(({ percentile }) => percentile === wanted)?.seconds ?? null;
}

/** The percentile of one trial, in seconds. */
export function trialPercentile(trial: Trial, wanted: number): number | null {
  if (trial.status !== 'ok') return null;
  return trial.load.latencyPercentiles?.find(({ percentile }) => percentile === wanted)?.seconds ?? null;
}
