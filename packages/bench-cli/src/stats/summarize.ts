/**
 * Summary of one quantity over the trials of a case, and its comparison with the baseline's.
 */
import type { Delta, SummaryStatistic, Verdict } from '../results/record.ts';
import { relativeDelta, symmetricDelta } from './deltas.ts';
import { including, median, medianInterval } from './intervals.ts';

/** What the quantity cannot exceed. No measured quantity of bench is negative. */
export interface Limits {
  /** Default: none. */
  readonly highest?: number;
}

/**
 * Median with its 95 % interval; `low` and `high` are null for a single value. The interval never reaches
 * below zero for values that are not negative, nor above `limits.highest`, and always holds the median.
 * Throws a `RangeError` for no values.
 */
export function summarize(values: readonly number[], limits: Limits = {}): SummaryStatistic {
  const centre = median(values);
  const interval = medianInterval(values);
  if (interval === null) return { median: centre, low: null, high: null, n: values.length };
  const { low, high } = including(interval, centre);
  const lowest = values.some((value) => value < 0) ? Number.NEGATIVE_INFINITY : 0;
  return {
    median: centre,
    low: Math.max(low, lowest),
    high: Math.min(high, limits.highest ?? Number.POSITIVE_INFINITY),
    n: values.length,
  };
}

/** One trial and the baseline's trial of the same round. */
export interface Pair {
  readonly value: number;
  readonly baseline: number;
}

export interface VerdictWords {
  readonly better: Verdict;
  readonly worse: Verdict;
}

/**
 * Compares paired trials with the baseline.
 *
 * - `relative` and `symmetric` are of the two medians, because these are the figures that a reader sees.
 * - `low` and `high` bound the relative delta: the 95 % interval (see `intervals.ts`) of the paired ratios.
 *   Pairing takes out what both trials of a round have in common, such as the machine's drift. In the rare
 *   case that it leaves out the delta of the medians it is widened to hold it, which can only make it safer.
 * - There is a verdict only if the interval excludes zero; one pair has no interval, thus no verdict.
 *
 * Null where there is nothing to compare with: no pair, or a baseline of zero (nothing was lost, say).
 */
export function compare(
  pairs: readonly Pair[],
  better: 'higher' | 'lower',
  words: VerdictWords,
): Delta | null {
  if (pairs.length === 0 || pairs.some(({ baseline }) => baseline <= 0)) return null;
  const value = median(pairs.map((pair) => pair.value));
  const baseline = median(pairs.map((pair) => pair.baseline));
  const relative = relativeDelta(value, baseline);
  const figures = {
    relative,
    symmetric: symmetricDelta(value, baseline),
    n: pairs.length,
    pValue: null,
    adjustedPValue: null,
    effectSize: null,
    belowNoiseFloor: null,
  };
  const ratios = medianInterval(pairs.map((pair) => pair.value / pair.baseline));
  if (ratios === null) return { ...figures, low: null, high: null, verdict: 'no difference shown' };
  // Quantities are not negative, so that no delta is below −100 %; Student's t on raw values does not know.
  const { low, high } = including({ low: Math.max(ratios.low, 0) - 1, high: ratios.high - 1 }, relative);
  const sign = low > 0 ? 'higher' : high < 0 ? 'lower' : null;
  const verdict = sign === null ? 'no difference shown' : sign === better ? words.better : words.worse;
  return { ...figures, low, high, verdict };
}
