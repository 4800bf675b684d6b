/** The figure that a comparison of a run is about: see `stats/decisive.ts`. */
import type { CaseRecord, RunRecord } from '../results/record.ts';
import { type Decisive, decisiveOf } from '../stats/decisive.ts';

export { type Decisive, type DecisiveMetric, type DecisiveReason, isLowerBound } from '../stats/decisive.ts';

/** Null for what is not compared. */
export function decisiveDelta(item: CaseRecord, record: Pick<RunRecord, 'cases'>): Decisive | null {
  return decisiveOf(item, record.cases);
}
