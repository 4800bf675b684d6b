/** Figures of a trial that are compared. */
import type { EstimandFacts } from '../report/estimand.ts';

/** A figure that something other than the subject kept from being better: the load generator, a rate. */
export interface Bound {
  readonly bound: number;
}

export interface Estimand<Evidence> extends EstimandFacts {
  /** Base units; null where the trial has no such figure. */
  of(evidence: Evidence): number | Bound | null;
}

type Figure<Evidence> = (evidence: Evidence) => number | Bound | null | undefined;

const estimandOf =
  (better: EstimandFacts['better']) =>
  <Evidence>(
    name: string,
    title: string,
    unit: EstimandFacts['unit'],
    compared: EstimandFacts['compared'],
    of: Figure<Evidence>,
  ): Estimand<Evidence> => ({
    ...{ name, title, unit, better, compared },
    of: (evidence) => of(evidence) ?? null,
  });

/** A figure of which less is better. */
export const lessOf = estimandOf('less');
/** One of which more is better. */
export const moreOf = estimandOf('more');
