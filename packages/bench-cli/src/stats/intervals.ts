/**
 * 95 % confidence intervals for the median of a few repeated measurements. Those of differences are made in
 * `sample-test.ts`.
 *
 * The method is chosen by the number of values, because no single one is correct for all:
 *
 * - **2 to 5 values: Student's t**, on the logarithms where all values are positive (throughput, latency and
 *   CPU per query are ratios of positive quantities whose noise multiplies), else on the values themselves.
 *   Distribution-free methods cannot work here: the range from the least to the largest of n values covers
 *   the median with probability 1 − 2^(1−n), which is 75 % for 3 values and 93.75 % for 5; a percentile
 *   bootstrap never leaves that range, so that it cannot do better.
 * - **6 values and more: interpolated order statistics** (Hettmansperger and Sheather). It assumes no shape of
 *   the noise, and one disturbed trial among ten does not spoil it. It is what a bootstrap of the median
 *   converges to, without its random resampling: the same values always give the same interval.
 *
 * `test/stats-coverage.test.ts` simulates both and checks that they cover the truth in 93–97 % of 2,000 runs.
 *
 * References:
 * - T. P. Hettmansperger, S. J. Sheather: Confidence intervals based on interpolated order statistics.
 *   Statistics & Probability Letters 4 (1986), 75–79.
 * - J. Nyblom: Note on interpolated order statistics. Statistics & Probability Letters 14 (1992), 129–131.
 * - B. Efron, R. J. Tibshirani: An Introduction to the Bootstrap (1993), chapters 13 and 14, on the
 *   percentile interval's poor coverage in small samples.
 */
import { studentQuantile } from './student-t.ts';

export interface Interval {
  readonly low: number;
  readonly high: number;
}

export const CONFIDENCE = 0.95;

/** From this many values on, order statistics can reach 95 %: 1 − 2 · 0.5⁶ = 96.9 %, but 93.8 % for 5. */
export const MIN_FOR_ORDER_STATISTICS = 6;

/** The methods in words, for reports: every interval in a record was made like this. */
export const INTERVAL_METHOD =
  'Intervals are 95 % confidence intervals. Of a median: interpolated order statistics from ' +
  `${MIN_FOR_ORDER_STATISTICS} trials on, Student's t on logarithms with fewer. Of a difference: from the ` +
  'ratios of trials of the same round, by the signed-rank test (Hodges and Lehmann), which assumes nothing about the ' +
  "distribution of the noise, where there are enough trials for it, otherwise by Student's t on logarithms; widened where " +
  'it would exclude the difference of the medians. A winner is named if the interval excludes zero and the p ' +
  'value of the same method, after correction for the number of comparisons (Holm), is at most 5 %.';

/** Numbers are sorted many times as fast without a function that compares them. */
export function ascending(values: readonly number[]): Float64Array {
  return new Float64Array(values).sort();
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Not a number for no values. */
export const mean = (values: readonly number[]) => sum(values) / values.length;

/** The middle value, or the mean of the two in the middle. Throws a `RangeError` for no values. */
export function median(values: readonly number[]): number {
  return medianOfSorted(ascending(values));
}

/** The same of values in ascending order. */
export function medianOfSorted(sorted: Float64Array): number {
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('median of no values');
  return lower === upper ? upper : lower / 2 + upper / 2;
}

export interface Moments {
  readonly n: number;
  readonly mean: number;
  /** With n − 1. */
  readonly variance: number;
}

/** Mean and variance; of equal values the variance is exactly zero. */
export function momentsOf(values: readonly number[]): Moments {
  const n = values.length;
  const [first = Number.NaN] = values;
  if (values.every((value) => value === first)) return { n, mean: first, variance: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  return { n, mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1) };
}

/** Student's t interval for the centre of at least two values. */
export function studentInterval(values: readonly number[]): Interval {
  const { n, mean, variance } = momentsOf(values);
  const half = studentQuantile(1 - (1 - CONFIDENCE) / 2, n - 1) * Math.sqrt(variance / n);
  return { low: mean - half, high: mean + half };
}

/**
 * How deep the interval's ends lie in the sorted values: `depth` values (counted from 1) from either end is
 * the narrowest pair that covers the median with at least 95 %, `share` how far to go on to the next pair.
 */
function orderStatisticDepth(n: number): { depth: number; share: number } {
  const tail = (1 - CONFIDENCE) / 2;
  // `below` is P(B ≤ depth − 1) for B binomial(n, ½): the probability that the median lies outside on one side.
  let logTerm = -n * Math.LN2;
  let below = Math.exp(logTerm);
  let depth = 1;
  for (;;) {
    logTerm += Math.log((n - depth + 1) / depth);
    const next = below + Math.exp(logTerm);
    if (next > tail) {
      const fraction = (tail - below) / (next - below);
      return { depth, share: ((n - depth) * fraction) / (depth + (n - 2 * depth) * fraction) };
    }
    below = next;
    depth++;
  }
}

/** Hettmansperger–Sheather interval for the median of at least `MIN_FOR_ORDER_STATISTICS` values. */
export function orderStatisticInterval(values: readonly number[]): Interval {
  const n = values.length;
  if (n < MIN_FOR_ORDER_STATISTICS) throw new RangeError(`orderStatisticInterval: only ${n} values`);
  const sorted = ascending(values);
  const { depth, share } = orderStatisticDepth(n);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const between = (outer: number, inner: number) => outer + share * (inner - outer);
  return {
    low: between(at(depth - 1), at(depth)),
    high: between(at(n - depth), at(n - depth - 1)),
  };
}

/**
 * 95 % interval for the median of `values`, by the method for their number; null for fewer than two values. Equal
 * values give an interval without width.
 */
export function medianInterval(values: readonly number[]): Interval | null {
  if (values.length < 2) return null;
  // Rounding in the sum must not give equal values a width.
  const [first] = values;
  if (first !== undefined && values.every((value) => value === first)) return { low: first, high: first };
  const inLogarithms = values.every((value) => value > 0);
  const scaled = inLogarithms ? values.map(Math.log) : values;
  const interval =
    values.length < MIN_FOR_ORDER_STATISTICS ? studentInterval(scaled) : orderStatisticInterval(scaled);
  return inLogarithms ? { low: Math.exp(interval.low), high: Math.exp(interval.high) } : interval;
}

/** The smallest interval that holds both the given one and `value`. */
export function including(interval: Interval, value: number): Interval {
  return { low: Math.min(interval.low, value), high: Math.max(interval.high, value) };
}
