/** Trials of the same round, as pairs. Pure. */
import { type EstimandFacts, isSize } from '../report/estimand.ts';
import { type Pair, pairTrials } from '../stats/summarize.ts';
import type { OkTrial } from './record.ts';

export type Figures = Pick<OkTrial<unknown>, 'round' | 'figures' | 'bounds' | 'taken'>;

/** The figures of the rounds that both have. */
export const pairsOf = (
  { name, unit }: EstimandFacts,
  trials: readonly Figures[],
  baseline: readonly Figures[],
): Pair[] =>
  pairTrials(trials, baseline, ({ figures, taken }) => ({
    ...{ value: figures[name], taken: isSize(unit) ? undefined : taken },
  }));
