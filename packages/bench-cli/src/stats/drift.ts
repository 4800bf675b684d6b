/**
 * Did the machine become faster or slower during the run? Each trial is taken relative to the median of its case, so
 * that all servers can be pooled. Kendall's rank correlation with time tests for a trend (Mann–Kendall), and the
 * median of the slopes between all pairs of trials (Theil–Sen) measures it. Pairing protects comparisons from drift,
 * but the absolute figures of a run that drifts average over different states of the machine.
 *
 * References:
 * - H. B. Mann: Nonparametric tests against trend. Econometrica 13 (1945), 245–259.
 * - M. G. Kendall: Rank Correlation Methods, 4th ed. (1975).
 * - P. K. Sen: Estimates of the regression coefficient based on Kendall's tau. Journal of the American Statistical
 *   Association 63 (1968), 1379–1389.
 */
import type { Drift, OkTrial } from '../results/record.ts';
import { median } from './intervals.ts';
import { COMPARED_METRICS, type ComparedMetric } from './metrics.ts';
import { normalUpperTail } from './normal.ts';
import { LEVEL } from './sample-test.ts';

/** With fewer trials, the test's normal approximation is poor, and nothing would show. */
export const MIN_FOR_DRIFT = 10;
/** Cases with fewer trials say too little about time. */
const MIN_PER_CASE = 3;
/** All pairs of this many trials are a million slopes; longer runs are thinned evenly. */
const MAX_TRIALS = 1500;
const NORMAL_QUANTILE = 1.959963984540054;

export interface Point {
  readonly time: number;
  readonly value: number;
}

export interface Trend {
  /** Change of the value per unit of time. */
  readonly slope: number;
  /** 95 % interval of the slope. */
  readonly low: number;
  readonly high: number;
  /** Two-sided. */
  readonly pValue: number;
}

/** Σ t (t − 1) (2 t + 5) over groups of equal values. */
function tieTerm(values: readonly number[]): number {
  const groups = Map.groupBy(values, (value) => value);
  return [...groups.values()].reduce((sum, { length: t }) => sum + t * (t - 1) * (2 * t + 5), 0);
}

/** Mann–Kendall test and Theil–Sen slope with Sen's interval. Null for fewer than three points in time. */
export function trendOf(points: readonly Point[]): Trend | null {
  const n = points.length;
  const slopes: number[] = [];
  /** Kendall's S: rising pairs minus falling pairs. */
  let score = 0;
  for (const [index, a] of points.entries()) {
    for (let other = index + 1; other < n; other++) {
      const b = points[other];
      if (b === undefined || b.time === a.time) continue;
      const slope = (b.value - a.value) / (b.time - a.time);
      score += Math.sign(slope);
      slopes.push(slope);
    }
  }
  if (slopes.length < 3) return null;
  const ties = tieTerm(points.map(({ value }) => value)) + tieTerm(points.map(({ time }) => time));
  const deviation = Math.sqrt(Math.max(0, (n * (n - 1) * (2 * n + 5) - ties) / 18));
  const sorted = Float64Array.from(slopes).sort();
  const reach = (NORMAL_QUANTILE * deviation) / 2;
  const at = (index: number) => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] ?? Number.NaN;
  const middle = sorted.length / 2;
  return {
    slope: median(slopes),
    low: at(Math.floor(middle - reach) - 1),
    high: at(Math.ceil(middle + reach)),
    // With continuity correction.
    pValue:
      deviation === 0 ? 1 : Math.min(1, 2 * normalUpperTail(Math.max(0, Math.abs(score) - 1) / deviation)),
  };
}

/** Logarithms relative to the median of the case, over the run's time from 0 to 1. */
function residuals(trials: readonly OkTrial[], metric: ComparedMetric): Point[] {
  const measured = trials.flatMap((trial) => {
    const value = trial.metrics[metric];
    return value === null || value <= 0
      ? []
      : [{ caseKey: trial.caseKey, time: Date.parse(trial.startedAt), log: Math.log(value) }];
  });
  const cases = Map.groupBy(measured, ({ caseKey }) => caseKey);
  const points = [...cases.values()].flatMap((list) => {
    if (list.length < MIN_PER_CASE) return [];
    const centre = median(list.map(({ log }) => log));
    return list.map(({ time, log }) => ({ time, value: log - centre }));
  });
  points.sort((a, b) => a.time - b.time);
  const [first, last] = [points[0]?.time ?? 0, points.at(-1)?.time ?? 0];
  const span = Math.max(last - first, 1);
  const step = Math.ceil(points.length / MAX_TRIALS);
  return points
    .filter((_, index) => index % step === 0)
    .map(({ time, value }) => ({ time: (time - first) / span, value }));
}

/** One entry for each metric that can be examined; null where none can. */
export function examineDrift(trials: readonly OkTrial[]): Drift[] | null {
  const drifts = COMPARED_METRICS.flatMap((metric): Drift[] => {
    const points = residuals(trials, metric);
    const trend = points.length < MIN_FOR_DRIFT ? null : trendOf(points);
    if (trend === null) return [];
    const isShown = trend.pValue <= LEVEL && (trend.low > 0 || trend.high < 0);
    return [
      {
        metric,
        relativeChange: Math.expm1(trend.slope),
        low: Math.expm1(trend.low),
        high: Math.expm1(trend.high),
        pValue: trend.pValue,
        verdict: isShown ? 'drift' : 'no drift shown',
      },
    ];
  });
  return drifts.length === 0 ? null : drifts;
}
