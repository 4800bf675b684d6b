/** Which trials a run has, and in which order. Pure. */
import { BenchError } from '../errors.ts';
import { balancedOrder, MAX_CASES } from '../plan/plan.ts';
import type { ExperimentPlan, PlannedCase, PlannedTrial } from './experiment.ts';

/** A case, or the baseline's twin of `--aa`, which is measured like any other. */
export interface MeasuredCase extends PlannedCase {
  readonly aa: boolean;
}

export interface TrialPlan {
  readonly cases: readonly MeasuredCase[];
  /** Rounds by round; within each, points together, subjects in turns. */
  readonly trials: readonly (PlannedTrial & { readonly case: MeasuredCase })[];
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
  const twins = planned
    .filter(({ subject }) => aa && subject === baseline)
    .map((item) => ({ ...item, key: `${item.key}(aa)`, aa: true }));
  const all = [...planned.map((item) => ({ ...item, aa: false })), ...twins];
  if (new Set(all.map(({ key }) => key)).size < all.length) {
    throw new BenchError('E_INTERNAL', 'two cases have the same key', { fix: 'Report this bug.' });
  }
  return all;
}

/** See `balancedOrder`, or in the order of the plan. The points, too, run backwards every second time. */
export function planTrials(
  cases: readonly MeasuredCase[],
  rounds: number,
  { order = balancedOrder }: Pick<ExperimentPlan<unknown>, 'order'>,
): TrialPlan {
  const trials: TrialPlan['trials'][number][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const points = [...Map.groupBy(cases, pointOf).values()].map((point) => order(point, round));
    for (const item of (round % 2 === 0 ? points : points.reverse()).flat())
      trials.push({ key: `${item.key}#${round}`, case: item, round, order: trials.length });
  }
  return { cases, trials };
}

/** What these trials take. */
export function expectedSeconds(trials: readonly PlannedTrial[]): number {
  return trials.reduce((sum, planned) => sum + planned.case.expectedSeconds, 0);
}
