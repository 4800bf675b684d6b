/** What a histogram says, in seconds. */
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

/** Statistics and the histogram they are of. */
export interface Distribution extends Statistics {
  /** HdrHistogram V2, deflated, base64; values in nanoseconds, three significant digits. */
  readonly histogram: string;
}

/** Statistics of a histogram, percentiles by nearest rank; null where nothing was recorded. */
export function statisticsOf(histogram: Histogram): Statistics | null {
  if (histogram.total === 0) return null;
  const at = (percentile: number) => histogram.percentile(percentile) / 1e9;
  return {
    count: histogram.total,
    min: histogram.min / 1e9,
    mean: histogram.mean / 1e9,
    standardDeviation: histogram.standardDeviation / 1e9,
    max: histogram.max / 1e9,
    p50: at(50),
    p75: at(75),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    'p99.5': at(99.5),
    'p99.9': at(99.9),
    'p99.95': at(99.95),
    'p99.99': at(99.99),
  };
}

/** As `statisticsOf`, with the histogram itself. */
export function distributionOf(histogram: Histogram): Distribution | null {
  const statistics = statisticsOf(histogram);
  return statistics === null ? null : { ...statistics, histogram: encodeHistogram(histogram) };
}
