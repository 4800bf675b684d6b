/** Which trials a run has, and in which order. Pure. */
import { BenchError, internalError } from '../errors.ts';
import { blocksOf, interleaved, MAX_CASES } from '../plan/plan.ts';
import type { ExperimentPlan, PlannedCase, PlannedTrial } from './experiment.ts';

/** A case, or the baseline's twin of `--aa`, which is measured like any other. */
export interface MeasuredCase extends PlannedCase {
  readonly aa: boolean;
}

const pointOf = ({ point }: PlannedCase) => JSON.stringify(point);

/** @throws BenchError `E_CONFIG` for too many cases, `E_INTERNAL` for two of the same key */
export function casesOf(
  planned: readonly PlannedCase[],
  { aa, baseline }: { readonly aa: boolean; readonly baseline: string | null },
): MeasuredCase[] {
  if (planned.length > MAX_CASES) {
    throw new BenchError('E_CONFIG', `${planned.length.toLocaleString('en')} cases are too many`, {
      fix: `Measure at most ${MAX_CASES.toLocaleString('en')} in a run: shorten a list, or make several runs.`,
    });
  }
  const hasTwins = planned.some((item) => item.aa === true);
  const twins = planned
    .filter(({ subject }) => aa && !hasTwins && subject === baseline)
    .map((item) => ({ ...item, key: `${item.key}(aa)`, aa: true }));
  const all = [...planned.map((item) => ({ ...item, aa: item.aa === true })), ...twins];
  if (new Set(all.map(({ key }) => key)).size < all.length) {
    throw internalError('two cases have the same key');
  }
  return all;
}

/** See `interleaved`; the order of a round is that of the plan, where it has one. */
export function planTrials(
  cases: readonly MeasuredCase[],
  rounds: number,
  { order }: Pick<ExperimentPlan<unknown>, 'order'>,
): readonly PlannedTrial[] {
  return interleaved(cases, rounds, pointOf, order);
}

/** The trials of each point in each round, which are compared with each other. */
export function pointsOf<T extends PlannedTrial>(trials: readonly T[]): T[][] {
  return blocksOf(trials, pointOf);
}

/** What these trials take. */
export function expectedSeconds(trials: readonly PlannedTrial[]): number {
  return trials.reduce((sum, planned) => sum + planned.case.expectedSeconds, 0);
}
