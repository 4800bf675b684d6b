/** Medians and tails of propagation, and the ratios between cases. Pure. */
import type { Delta, SummaryStatistic } from '../../../results/record.ts';
import { holmAdjusted } from '../../../stats/holm.ts';
import { median } from '../../../stats/intervals.ts';
import { percentileOf } from '../../../stats/percentile.ts';
import { comparePairs, decide, summarize } from '../../../stats/summarize.ts';
import type { OkPropagationTrial, PropagationCase, PropagationResult } from './propagation-record.ts';

export interface PropagationSummary {
  /** Of the trials' medians, and of their 95th percentiles. */
  readonly median: SummaryStatistic;
  readonly p95: SummaryStatistic;
  readonly largest: number;
  /** Median of all. */
  readonly resolution: number;
  /** Median of all, of what the API server took to confirm it; null where that was not seen. */
  readonly creation: number | null;
  readonly resolved: number;
  readonly heldChurnPerSecond: number;
}

/** The trials of a case that have a delay. */
function resolvedTrials({ trials }: PropagationResult, key: string): OkPropagationTrial[] {
  return trials.filter(
    (trial): trial is OkPropagationTrial =>
      trial.case === key && trial.status === 'ok' && trial.delaysSeconds.length > 0,
  );
}

export function unresolvedOf({ trials }: PropagationResult, key: string): number {
  return trials.reduce(
    (sum, trial) => sum + (trial.case === key && trial.status === 'ok' ? trial.unresolved : 0),
    0,
  );
}

/** Null where no Service resolved. */
export function propagationSummary(result: PropagationResult, key: string): PropagationSummary | null {
  const trials = resolvedTrials(result, key);
  if (trials.length === 0) return null;
  const delays = trials.flatMap(({ delaysSeconds }) => delaysSeconds);
  const creations = trials.flatMap(({ creationSeconds }) => creationSeconds ?? []);
  return {
    median: summarize(trials.map(({ delaysSeconds }) => median(delaysSeconds))),
    p95: summarize(trials.map(({ delaysSeconds }) => percentileOf(delaysSeconds, 95))),
    largest: Math.max(...delays),
    resolution: median(trials.flatMap(({ resolutionsSeconds }) => resolutionsSeconds)),
    creation: creations.length === 0 ? null : median(creations),
    resolved: delays.length,
    heldChurnPerSecond: median(trials.map(({ heldChurnPerSecond }) => heldChurnPerSecond)),
  };
}

export interface PropagationComparison {
  readonly item: PropagationCase;
  readonly baseline: PropagationCase;
  /** Which of the two axes differs. */
  readonly by: 'objects' | 'churnPerSecond';
  readonly delta: Delta;
}

const AXES = ['objects', 'churnPerSecond'] as const;

/** The same case with the smallest number of objects, or with the least churn; null for that case itself. */
function baselineOf(
  cases: readonly PropagationCase[],
  item: PropagationCase,
  by: PropagationComparison['by'],
): PropagationCase | null {
  const other = by === 'objects' ? 'churnPerSecond' : 'objects';
  const [least] = cases
    .filter(
      ({ server, configuration, [other]: same }) =>
        server === item.server && configuration === item.configuration && same === item[other],
    )
    .toSorted((a, b) => a[by] - b[by]);
  return least === undefined || least.key === item.key ? null : least;
}

/** Each case beside the one with fewest objects, and beside the one with least churn: medians of trials of the same round. */
export function propagationComparisons(result: PropagationResult): PropagationComparison[] {
  const compared = AXES.flatMap((by) =>
    result.cases.flatMap((item) => {
      const baseline = baselineOf(result.cases, item, by);
      if (baseline === null) return [];
      const before = new Map(resolvedTrials(result, baseline.key).map((trial) => [trial.round, trial]));
      const pairs = resolvedTrials(result, item.key).flatMap(({ round, delaysSeconds }) => {
        const same = before.get(round);
        return same === undefined
          ? []
          : [{ value: median(delaysSeconds), baseline: median(same.delaysSeconds) }];
      });
      const delta = comparePairs(pairs);
      return delta === null ? [] : [{ item, baseline, by, delta }];
    }),
  );
  const adjusted = holmAdjusted(compared.map(({ delta }) => delta.pValue ?? 1));
  const direction = { goal: 'lower', better: 'faster', worse: 'slower' } as const;
  return compared.map(({ delta, ...rest }, index) => ({
    ...rest,
    delta: decide(delta, direction, delta.pValue === null ? null : (adjusted[index] ?? 1), compared.length),
  }));
}
