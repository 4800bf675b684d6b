/** Statistics of a histogram, in seconds. */
import { encodeHistogram } from '../histogram/encoding.ts';
import type { Histogram } from '../histogram/histogram.ts';

/** The percentiles of every result. */
export const PERCENTILES = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99] as const;
export type PercentileKey = `p${(typeof PERCENTILES)[number]}`;

/** Statistics of the recorded values, seconds. */
export interface Statistics extends Record<PercentileKey, number> {
  /** Number of values. */
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly standardDeviation: number;
  readonly max: number;
}

/** Statistics with their histogram. */
export interface Distribution extends Statistics {
  /** HdrHistogram V2, deflated, base64; values in nanoseconds, three significant digits. */
  readonly histogram: string;
}

/** Statistics of a histogram, percentiles by nearest rank; null where nothing was recorded. */
export function statisticsOf(histogram: Histogram): Statistics | null {
  if (histogram.total === 0) return null;
  const values = histogram.percentiles(PERCENTILES).map((nanoseconds) => nanoseconds / 1e9);
  const [p50 = 0, p75 = 0, p90 = 0, p95 = 0, p99 = 0, p995 = 0, p999 = 0, p9995 = 0, p9999 = 0] = values;
  return {
    count: histogram.total,
    min: histogram.min / 1e9,
    mean: histogram.mean / 1e9,
    standardDeviation: histogram.standardDeviation / 1e9,
    max: histogram.max / 1e9,
    p50,
    p75,
    p90,
    p95,
    p99,
    'p99.5': p995,
    'p99.9': p999,
    'p99.95': p9995,
    'p99.99': p9999,
  };
}

/** As `statisticsOf`, with the histogram itself. */
export function distributionOf(histogram: Histogram): Distribution | null {
  const statistics = statisticsOf(histogram);
  return statistics === null ? null : { ...statistics, histogram: encodeHistogram(histogram) };
}
