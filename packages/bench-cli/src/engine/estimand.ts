/** Figures of a trial that are compared. */
import type { EstimandFacts } from '../report/estimand.ts';

export {
  directionOf,
  type EstimandFacts,
  estimandSchema,
  isSize,
  showFigure,
} from '../report/estimand.ts';

/** A figure that something other than the subject kept from being better: the load generator, a rate. */
export interface Bound {
  readonly bound: number;
}

export interface Estimand<Evidence> extends EstimandFacts {
  /** Base units; null where the trial has no such figure. */
  of(evidence: Evidence): number | Bound | null;
}
