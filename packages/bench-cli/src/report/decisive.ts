/** The figure that a comparison of a run is about: see `stats/decisive.ts`. */
import type { CaseRecord, Delta, RunRecord, Verdict } from '../results/record.ts';
import { claimOf, type Decisive, decisiveOf } from '../stats/decisive.ts';
import type { ComparedMetric } from '../stats/metrics.ts';

export {
  type Decisive,
  type DecisiveMetric,
  type DecisiveReason,
  isLowerBound,
  isUndecidable,
} from '../stats/decisive.ts';

/** Null for what is not compared. */
export function decisiveDelta(item: CaseRecord, record: Pick<RunRecord, 'cases'>): Decisive | null {
  return decisiveOf(item, record.cases);
}

/** What stands in place of a verdict about a figure that something other than the servers limited. */
export const NOT_COMPARED = 'not compared';

/** A case's difference from the baseline, with the verdict that may be shown of it. */
export interface Shown {
  readonly delta: Delta;
  readonly verdict: Verdict | typeof NOT_COMPARED;
  /** The difference is a lower bound: see `claimOf`. */
  readonly isAtLeast: boolean;
}

/** Null for what has no baseline. */
export function shownOf(
  item: CaseRecord,
  record: Pick<RunRecord, 'cases'>,
  metric: ComparedMetric,
): Shown | null {
  const { comparison } = item;
  const delta = comparison?.[metric] ?? null;
  if (comparison === null || delta === null) return null;
  const baseline = record.cases.find(({ key }) => key === comparison.baseline);
  const claim = claimOf(metric, delta, [item.limitedBy, baseline?.limitedBy ?? null]);
  return {
    delta,
    verdict: claim === 'not compared' ? NOT_COMPARED : delta.verdict,
    isAtLeast: claim === 'at least',
  };
}
