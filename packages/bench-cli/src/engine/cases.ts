/** From trials to cases: summaries, and comparisons with the baseline. Pure: what the record has is enough. */

import {
  directionOf,
  type EstimandFacts,
  figuresOf,
  isBetter,
  pairsOf,
  resolutionOf,
  summaryOfFigure,
  valuesOf,
} from '../report/estimand.ts';
import { decideFamily, decideRatios } from '../stats/comparisons.ts';
import { mayBeSaid } from '../stats/decisive.ts';
import { sizeOf } from '../stats/deltas.ts';
import type { TestOptions } from '../stats/sample-test.ts';
import {
  compareDifferences,
  compareSamples,
  type UndecidedDelta,
  type UndecidedDifference,
} from '../stats/summarize.ts';
import { type ComparedWidth, type UntilView, type Width, widthOf } from '../stats/until.ts';
import type { MeasuredCase } from './plan.ts';
import { type EngineCase, type EngineRecord, type OkTrial, okTrials } from './record.ts';

type Parts = Pick<EngineRecord<unknown>, 'id' | 'baseline' | 'estimands' | 'trials'>;
type Figures = OkTrial<unknown>;

function boundsOf(name: string, trials: readonly Figures[]): number {
  return trials.filter(({ bounds }) => bounds.includes(name)).length;
}

function mayBeClaimed(
  estimand: EstimandFacts,
  size: number,
  own: readonly Figures[],
  baseline: readonly Figures[],
): boolean {
  return mayBeSaid(isBetter(estimand, size), {
    own: boundsOf(estimand.name, own) > 0,
    baseline: boundsOf(estimand.name, baseline) > 0,
  });
}

interface Compared {
  readonly key: string;
  readonly baseline: string;
  readonly own: readonly Figures[];
  readonly reference: readonly Figures[];
}

type Comparisons = Map<string, EngineCase['comparison']>;
type Deltas = NonNullable<EngineCase['comparison']>['deltas'];

/** All comparisons by the estimands of one family, corrected for their number. */
function deltasOf(
  family: readonly EstimandFacts[],
  compared: readonly Compared[],
  options: TestOptions,
): { readonly key: string; readonly name: string; readonly delta: Deltas[string] }[] {
  const [first] = family;
  if (first === undefined) return [];
  const members = family.flatMap((estimand) =>
    compared.map(({ key, baseline, own, reference }) => {
      const [values, others] = [valuesOf(own, estimand.name), valuesOf(reference, estimand.name)];
      const pairs = pairsOf(estimand, own, reference);
      return {
        ...{ key, own, reference, estimand, name: estimand.name, values, others, pairs },
        ...(estimand.isPaired === false
          ? {
              trials: Math.min(values.length, others.length),
              resolution: resolutionOf(estimand, [...values, ...others]),
            }
          : { trials: pairs.length, resolution: resolutionOf(estimand, figuresOf(pairs)) }),
        seed: `${options.seed ?? ''}/${key}/${estimand.name}`,
        baseline: `${baseline}/${estimand.name}`,
      };
    }),
  );
  type Member = (typeof members)[number];
  const mayBeSaid = ({ estimand, own, reference }: Member, delta: Parameters<typeof sizeOf>[0]) =>
    mayBeClaimed(estimand, sizeOf(delta), own, reference);
  const direction = directionOf(first);
  const decideBy = <D extends UndecidedDelta | UndecidedDifference>(
    compare: (member: Member, each: TestOptions) => D | null,
  ) =>
    decideFamily(
      members.map((member) => ({ member, trials: member.trials, seed: member.seed })),
      direction,
      options,
      ({ member }, each) => {
        const delta = compare(member, each);
        return delta !== null && mayBeSaid(member, delta) ? delta : null;
      },
    );
  const decided = () => {
    if (first.compared === 'difference')
      return decideBy(({ pairs }, each) => compareDifferences(pairs, each));
    if (first.isPaired !== false) return decideRatios(members, direction, options, mayBeSaid);
    return decideBy(({ values, others, resolution }, each) =>
      compareSamples(values, others, { ...each, resolution }),
    );
  };
  const deltas = first.compared === 'no' ? [] : decided();
  return members.map(({ key, name }, index) => ({ key, name, delta: deltas[index] ?? null }));
}

function comparisonsOf(
  compared: readonly Compared[],
  { estimands }: Parts,
  options: TestOptions,
): Comparisons {
  const families = Map.groupBy(estimands, ({ name, family = name, compared: how }) => `${how} ${family}`);
  const all = [...families.values()].flatMap((family) => deltasOf(family, compared, options));
  return new Map(
    compared.map(({ key, baseline }) => {
      const own = all.filter((each) => each.key === key).map(({ name, delta }) => [name, delta] as const);
      return [key, { baseline, deltas: Object.fromEntries(own) }];
    }),
  );
}

/** The cases of the trials so far, in the plan's order. The twin of `--aa` stands alone: it is no claim. */
export function summarizeCases(
  planned: readonly MeasuredCase[],
  rounds: number,
  record: Parts,
  options: TestOptions = {},
): EngineCase[] {
  const seeded = { ...options, seed: record.id };
  const okOf = new Map(planned.map(({ key }) => [key, okTrials(record, key)]));
  const compared = planned.flatMap((item): (Compared & Pick<MeasuredCase, 'aa'>)[] => {
    const other = planned.find(
      ({ subject, aa, point }) =>
        subject === record.baseline && !aa && JSON.stringify(point) === JSON.stringify(item.point),
    );
    if (other === undefined || other.key === item.key) return [];
    const [own, reference] = [okOf.get(item.key) ?? [], okOf.get(other.key) ?? []];
    return [{ key: item.key, baseline: other.key, own, reference, aa: item.aa }];
  });
  const claims = compared.filter(({ aa }) => !aa);
  const twins = compared.filter(({ aa }) => aa);
  const comparisons: Comparisons = new Map([
    ...comparisonsOf(claims, record, seeded),
    ...twins.flatMap((twin) => [...comparisonsOf([twin], record, seeded)]),
  ]);
  return planned.map(({ key, subject, point, aa }) => {
    const ok = okOf.get(key) ?? [];
    const attempted = record.trials.filter((trial) => trial.case === key).length;
    const each = <T>(value: (estimand: EstimandFacts) => T) =>
      Object.fromEntries(record.estimands.map((estimand) => [estimand.name, value(estimand)]));
    return {
      key,
      subject,
      point: { ...point },
      aa,
      trials: { planned: rounds, ok: ok.length, failed: attempted - ok.length },
      summary: each((estimand) => summaryOfFigure(estimand, ok)),
      bounds: each(({ name }) => boundsOf(name, ok)),
      comparison: comparisons.get(key) ?? null,
    };
  });
}

/** For `--until`. Only figures that are compared and awaited count; differences relative to the baseline's median. */
export function untilView({
  cases,
  estimands,
}: Pick<EngineRecord<unknown>, 'cases' | 'estimands'>): UntilView {
  const awaited = estimands.filter(({ compared, awaited = true }) => compared !== 'no' && awaited);
  const medianOf = (key: string, metric: string) =>
    Math.abs(cases.find((item) => item.key === key)?.summary[metric]?.median ?? 0);
  const differences = cases.flatMap(({ key, comparison, aa }) =>
    aa || comparison === null
      ? []
      : awaited.flatMap(({ name: metric }): ComparedWidth[] => {
          const delta = comparison.deltas[metric];
          if (delta == null) return [];
          // Where a baseline of nothing is no measure, such as of losses, the other figure is.
          const unit =
            'difference' in delta ? medianOf(comparison.baseline, metric) || medianOf(key, metric) : 1;
          if (unit === 0) return [];
          return [
            {
              caseKey: key,
              metric,
              estimand: metric,
              width: widthOf(delta, unit),
              isDecided: delta.verdict !== 'no difference shown',
            },
          ];
        }),
  );
  const figures = cases.flatMap(({ key, summary }) =>
    awaited.flatMap(({ name: metric }): Width[] => {
      const figure = summary[metric];
      return figure == null || figure.median === 0
        ? []
        : [{ caseKey: key, metric, width: widthOf(figure, figure.median) }];
    }),
  );
  return {
    widths: differences.length > 0 ? differences : figures,
    compared: differences,
  };
}
