/**
 * Was a server still warming up in a duet? Its slices are too few for the change points of `steady-state.ts`, but every round
 * has a first slice and later ones, so that the rounds are a paired comparison of the two. Pure.
 */
import type { OkTrial } from '../results/record.ts';
import { type Interval, mean, studentInterval } from './intervals.ts';
import { MIN_CHANGE } from './steady-state.ts';

/** Fewer rounds show a trend only if it is large. */
const MIN_ROUNDS = 4;

export interface SliceTrend {
  readonly caseKey: string;
  /** What was compared: CPU per query, or where that is not known of each slice, as on a cluster, the time per query. */
  readonly figure: 'CPU' | 'time';
  /** First slices relative to the later ones: 0.08 for 8 % more. */
  readonly relativeChange: number;
  readonly interval: Interval;
}

function hasCpu({ duet }: OkTrial): boolean {
  return (duet?.slices ?? []).every(({ cpuSecondsPerQuery }) => cpuSecondsPerQuery !== null);
}

/** The logarithm of first ÷ later; null where a slice lacks the figure. */
function trendOf({ duet }: OkTrial, figure: SliceTrend['figure']): number | null {
  const costs = (duet?.slices ?? []).map(({ cpuSecondsPerQuery, qps }) =>
    Math.log(figure === 'CPU' ? (cpuSecondsPerQuery ?? Number.NaN) : 1 / qps),
  );
  const [first, ...later] = costs;
  if (first === undefined || later.length === 0 || costs.some((cost) => !Number.isFinite(cost))) return null;
  return first - mean(later);
}

/** The cases whose first slices cost more, or less, than the later ones, by `MIN_CHANGE` and more than chance. */
export function examineSliceTrends(trials: readonly OkTrial[]): SliceTrend[] {
  const byCase = [...Map.groupBy(trials, ({ caseKey }) => caseKey)];
  return byCase.flatMap(([caseKey, own]) => {
    const figure = own.every(hasCpu) ? 'CPU' : 'time';
    const logs = own.flatMap((trial) => trendOf(trial, figure) ?? []);
    if (logs.length < MIN_ROUNDS) return [];
    const { low, high } = studentInterval(logs);
    const relativeChange = Math.expm1(mean(logs));
    const isTrend = (low > 0 || high < 0) && Math.abs(relativeChange) >= MIN_CHANGE;
    const interval = { low: Math.expm1(low), high: Math.expm1(high) };
    return isTrend ? [{ caseKey, figure, relativeChange, interval }] : [];
  });
}
