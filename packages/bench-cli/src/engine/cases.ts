/** From trials to cases: summaries, and comparisons with the baseline. Pure: what the record has is enough. */
import type { Delta, SummaryStatistic } from '../results/record.ts';
import { decideFamily } from '../stats/comparisons.ts';
import { mayBeSaid } from '../stats/decisive.ts';
import type { TestOptions } from '../stats/sample-test.ts';
import { type Pair, summarize, type UndecidedDelta } from '../stats/summarize.ts';
import type { UntilView, Width } from '../stats/until.ts';
import { directionOf, type EstimandFacts } from './estimand.ts';
import type { MeasuredCase } from './plan.ts';
import { type EngineCase, type EngineRecord, type OkTrial, okTrials } from './record.ts';

type Parts = Pick<EngineRecord<unknown>, 'id' | 'baseline' | 'estimands' | 'trials'>;
type Figures = Pick<OkTrial<unknown>, 'round' | 'figures' | 'bounds'>;

function summaryOf({ name, unit }: EstimandFacts, trials: readonly Figures[]): SummaryStatistic | null {
  const values = trials.flatMap(({ figures }) => figures[name] ?? []);
  return values.length === 0 ? null : summarize(values, unit === 'ratio' ? { highest: 1 } : {});
}

function boundsOf(name: string, trials: readonly Figures[]): number {
  return trials.filter(({ bounds }) => bounds.includes(name)).length;
}

/** The figures of the rounds that both have. */
function pairsOf(name: string, trials: readonly Figures[], baseline: readonly Figures[]): Pair[] {
  const byRound = new Map(baseline.map(({ round, figures }) => [round, figures[name]]));
  return trials.flatMap(({ round, figures }) => {
    const [value, reference] = [figures[name], byRound.get(round)];
    return value == null || reference == null ? [] : [{ value, baseline: reference }];
  });
}

function mayBeClaimed(
  estimand: EstimandFacts,
  delta: UndecidedDelta,
  own: readonly Figures[],
  baseline: readonly Figures[],
): boolean {
  const isBetter = estimand.better === 'more' ? delta.relative > 0 : delta.relative < 0;
  return mayBeSaid(isBetter, {
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

/** All comparisons by one estimand are a family, corrected for their number. */
function deltasOf(estimand: EstimandFacts, compared: readonly Compared[], options: TestOptions) {
  if (estimand.compared === 'no') return compared.map(() => null);
  const members = compared.map(({ key, own, reference }) => ({
    pairs: pairsOf(estimand.name, own, reference),
    seed: `${options.seed ?? ''}/${key}/${estimand.name}`,
  }));
  return decideFamily(members, directionOf(estimand), options, (delta, index) => {
    const item = compared[index];
    return item !== undefined && mayBeClaimed(estimand, delta, item.own, item.reference);
  });
}

type Comparisons = Map<string, EngineCase['comparison']>;

function comparisonsOf(
  compared: readonly Compared[],
  { estimands }: Parts,
  options: TestOptions,
): Comparisons {
  const families = estimands.map((estimand) => deltasOf(estimand, compared, options));
  return new Map(
    compared.map(({ key, baseline }, index) => {
      const deltas = estimands.map(({ name }, place): readonly [string, Delta | null] => [
        name,
        families[place]?.[index] ?? null,
      ]);
      return [key, { baseline, deltas: Object.fromEntries(deltas) }];
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
      summary: each((estimand) => summaryOf(estimand, ok)),
      bounds: each(({ name }) => boundsOf(name, ok)),
      comparison: comparisons.get(key) ?? null,
    };
  });
}

const widthOf = (low: number | null, high: number | null, unit: number) =>
  low === null || high === null ? Number.POSITIVE_INFINITY : (high - low) / unit;

/** For `--until`. Only figures that are compared count. */
export function untilView({
  cases,
  estimands,
}: Pick<EngineRecord<unknown>, 'cases' | 'estimands'>): UntilView {
  const names = estimands.flatMap(({ name, compared }) => (compared === 'no' ? [] : [name]));
  const differences = cases.flatMap(({ key, comparison, aa }) =>
    aa || comparison === null
      ? []
      : names.flatMap((metric) => {
          const delta = comparison.deltas[metric];
          return delta == null ? [] : [{ caseKey: key, metric, delta }];
        }),
  );
  const width = ({ caseKey, metric, delta }: (typeof differences)[number]): Width => ({
    caseKey,
    metric,
    width: widthOf(delta.low, delta.high, 1),
  });
  const figures = cases.flatMap(({ key, summary }) =>
    names.flatMap((metric): Width[] => {
      const figure = summary[metric];
      return figure == null || figure.median === 0
        ? []
        : [{ caseKey: key, metric, width: widthOf(figure.low, figure.high, figure.median) }];
    }),
  );
  return {
    widths: differences.length > 0 ? differences.map(width) : figures,
    undecided: differences.filter(({ delta }) => delta.verdict === 'no difference shown').map(width),
    hasComparisons: differences.length > 0,
  };
}
