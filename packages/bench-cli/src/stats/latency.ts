/** Latency percentiles and histograms of a case, from those of its trials. */
import type { CaseSummary, LatencyHistogram, OkTrial } from '../results/record.ts';
import { summarize } from './summarize.ts';

/**
 * Each percentile that every trial has, summarized over the trials like any other figure: the median trial's
 * 99th percentile, not the 99th percentile of all queries. Null without trials or where one has none.
 */
export function summarizePercentiles(trials: readonly OkTrial[]): CaseSummary['latencyPercentiles'] {
  const curves = trials.map(
    ({ load }) =>
      load.latencyPercentiles?.map(({ percentile, seconds }) => [percentile, seconds] as const) ?? [],
  );
  const [first = []] = curves;
  const maps = curves.map((curve) => new Map(curve));
  const common = first.flatMap(([percentile]) => {
    const values = maps.flatMap((map) => map.get(percentile) ?? []);
    return values.length === trials.length ? { percentile, seconds: summarize(values) } : [];
  });
  return common.length === 0 ? null : common;
}

/** The counts of all trials added up, bin by bin; null without trials or where one has no histogram. */
export function mergeHistograms(trials: readonly OkTrial[]): LatencyHistogram | null {
  const histograms = trials.flatMap(({ load }) =>
    load.latencyHistogram === null ? [] : [load.latencyHistogram],
  );
  if (histograms.length === 0 || histograms.length < trials.length) return null;
  const bins = new Map<string, LatencyHistogram[number]>();
  for (const bin of histograms.flat()) {
    const key = `${bin.lowSeconds}-${bin.highSeconds}`;
    bins.set(key, { ...bin, count: bin.count + (bins.get(key)?.count ?? 0) });
  }
  return [...bins.values()].sort((a, b) => a.lowSeconds - b.lowSeconds || a.highSeconds - b.highSeconds);
}
