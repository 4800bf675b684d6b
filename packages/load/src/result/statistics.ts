/** Statistics of a histogram, in seconds. */
import { encodeHistogram } from '../histogram/encoding.ts';
import type { Histogram } from '../histogram/histogram.ts';

/** The percentiles of every result. */
export const PERCENTILES = [50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99] as const;
export type PercentileKey = `p${(typeof PERCENTILES)[number]}`;

/** What tables, CSV and thresholds call a statistic. */
export const titleOf = (key: string): string => (key === 'standardDeviation' ? 'sd' : key);

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
  const percentiles = histogram
    .percentiles(PERCENTILES)
    .map((nanoseconds, index) => [`p${PERCENTILES[index]}`, nanoseconds / 1e9]);
  return {
    count: histogram.total,
    min: histogram.min / 1e9,
    mean: histogram.mean / 1e9,
    standardDeviation: histogram.standardDeviation / 1e9,
    max: histogram.max / 1e9,
    ...(Object.fromEntries(percentiles) as Record<PercentileKey, number>),
  };
}

/** As `statisticsOf`, with the histogram itself. */
export function distributionOf(histogram: Histogram): Distribution | null {
  const statistics = statisticsOf(histogram);
  return statistics === null ? null : { ...statistics, histogram: encodeHistogram(histogram) };
}
