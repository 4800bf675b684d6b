/** Trials of the same round, as pairs. Pure. */
import { type Pair, pairOf } from '../stats/summarize.ts';
import { type EstimandFacts, isSize } from './estimand.ts';
import type { OkTrial } from './record.ts';

export type Figures = Pick<OkTrial<unknown>, 'round' | 'figures' | 'bounds' | 'taken'>;

/** The figures of the rounds that both have. */
export function pairsOf(
  { name, unit }: EstimandFacts,
  trials: readonly Figures[],
  baseline: readonly Figures[],
): Pair[] {
  const byRound = new Map(baseline.map((trial) => [trial.round, trial]));
  return trials.flatMap(({ round, figures, taken }): Pair[] => {
    const other = byRound.get(round);
    const [value, reference] = [figures[name], other?.figures[name]];
    if (value == null || reference == null) return [];
    const exposed = (figure: number, cores: number | undefined) => ({
      ...{ value: figure, taken: isSize(unit) ? undefined : cores },
    });
    return [pairOf(exposed(value, taken), exposed(reference, other?.taken))];
  });
}
