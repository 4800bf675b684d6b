/**
 * Summary of one quantity over the trials of a case, and its comparison with the baseline's.
 */
import type { Delta, Difference, EffectSize, SummaryStatistic, Verdict } from '../results/record.ts';
import {
  type Allowance,
  allowanceOf,
  type ExposedPair,
  type ExposedTrial,
  testAllowed,
} from './allowance.ts';
import { relativeDelta, symmetricDelta } from './deltas.ts';
import { type Interval, including, median, medianInterval } from './intervals.ts';
import { signedRankTest } from './rank-tests.ts';
import {
  type DifferenceTest,
  detectableDifference,
  LEVEL,
  type SampleTest,
  type TestOptions,
  testDifferences,
  testPaired,
  testUnpaired,
} from './sample-test.ts';

/** The upper limit of the quantity. No quantity that bench measures is negative. */
export interface Limits {
  /** Default: none. */
  readonly highest?: number;
}

/**
 * Median with its 95 % interval; `low` and `high` are null for a single value. The interval never reaches
 * below zero for values that are not negative, nor above `limits.highest`, and always holds the median.
 * Throws a `RangeError` for no values.
 */
export function summarize(values: readonly number[], limits: Limits = {}): SummaryStatistic {
  const centre = median(values);
  const interval = medianInterval(values);
  if (interval === null) return { median: centre, low: null, high: null, n: values.length };
  const { low, high } = including(interval, centre);
  const lowest = values.some((value) => value < 0) ? Number.NEGATIVE_INFINITY : 0;
  return {
    median: centre,
    low: Math.max(low, lowest),
    high: Math.min(high, Math.max(limits.highest ?? Number.POSITIVE_INFINITY, ...values)),
    n: values.length,
  };
}

/** The same; null for no values. */
export function summaryOf(values: readonly number[], limits?: Limits): SummaryStatistic | null {
  return values.length === 0 ? null : summarize(values, limits);
}

/** One trial and the baseline's trial of the same round. */
export interface Pair {
  readonly value: number;
  readonly baseline: number;
  /** CPUs that the hypervisor and other programs took during either trial. Omitted where nobody watched. */
  readonly taken?: { readonly value: number; readonly baseline: number } | undefined;
}

/** Trials of the same round of which both have a sample. */
export function pairTrials<T extends { readonly round: number | null }>(
  trials: readonly T[],
  baseline: readonly T[],
  sampleOf: (trial: T) => { readonly value: number | null | undefined; readonly taken?: number | undefined },
): Pair[] {
  const byRound = new Map(baseline.map((trial) => [trial.round, sampleOf(trial)]));
  return trials.flatMap((trial) => {
    const [own, other] = [sampleOf(trial), byRound.get(trial.round)];
    if (trial.round === null || own.value == null || other?.value == null) return [];
    // What others took counts only where both trials were watched.
    const isWatched = own.taken !== undefined && other.taken !== undefined;
    return [
      {
        ...{ value: own.value, baseline: other.value },
        taken: isWatched ? { value: own.taken, baseline: other.taken } : undefined,
      },
    ];
  });
}

/** Which direction is better, and the words for it. */
export interface Direction {
  readonly goal: 'higher' | 'lower';
  readonly better: Verdict;
  readonly worse: Verdict;
}

/** What `decide` adds. */
type Decided = Pick<Delta, 'adjustedPValue' | 'comparisons' | 'verdict' | 'undecided'>;

/** A delta whose verdict waits for the correction: see `decide`. */
export type UndecidedDelta = Omit<Delta, keyof Decided>;
export type UndecidedDifference = Omit<Difference, keyof Decided>;

/** The usual words for Cliff's delta (Romano et al. 2006), and for its paired equivalent, the rank-biserial correlation. */
function magnitudeOf(effect: number): string {
  const size = Math.abs(effect);
  if (size < 0.147) return 'negligible';
  if (size < 0.33) return 'small';
  return size < 0.474 ? 'medium' : 'large';
}

/** Effect size of a rank test. */
export function effectSizeOf(effect: number, measure: 'rank-biserial' | 'cliffs-delta'): EffectSize {
  return { measure, value: effect, magnitude: magnitudeOf(effect) };
}

/** The interval of a ratio as that of a relative delta, which cannot be below −100 %. */
function asDelta({ low, high }: Interval): Interval {
  return { low: Math.max(low, 0) - 1, high: high - 1 };
}

/**
 * A delta from the medians of both sides and the test of their ratio.
 *
 * - `relative` and `symmetric` are of the two medians, because these are the figures that a reader sees.
 * - `low` and `high` bound the relative delta. In the rare case that the test's interval excludes the delta of the
 *   medians, it is widened to include it, which can only make it more conservative.
 */
export function deltaFrom(
  medians: { readonly value: number; readonly baseline: number },
  n: number,
  test: SampleTest | null,
  measure: 'rank-biserial' | 'cliffs-delta',
): UndecidedDelta {
  const relative = relativeDelta(medians.value, medians.baseline);
  const interval = test === null ? { low: null, high: null } : including(asDelta(test), relative);
  return {
    relative,
    symmetric: symmetricDelta(medians.value, medians.baseline),
    ...interval,
    n,
    method: test?.method ?? null,
    pValue: test?.pValue ?? null,
    rankTest:
      test === null ? null : { pValue: test.rankTest.pValue, smallestPValue: test.rankTest.smallestPValue },
    effectSize: test === null ? null : effectSizeOf(test.rankTest.effect, measure),
    belowNoiseFloor: null,
    allowance: null,
  };
}

/**
 * Paired trials compared with the baseline, without a verdict yet. Pairing removes what both trials of a round
 * have in common, such as the machine's drift. See `sample-test.ts` for the interval and `deltaFrom`.
 *
 * With an `allowance`, the figures are those of the calmest trial (see `allowance.ts`), and the plain ones are kept beside.
 * Null where there is nothing to compare with: no pair, or a baseline of zero (for example, nothing was lost).
 */
export function comparePairs(
  pairs: readonly Pair[],
  options: TestOptions = {},
  allowance: Allowance | null = null,
): UndecidedDelta | null {
  const plain = comparePlainly(pairs, options);
  const exposed = pairs.flatMap(exposedPair);
  const test =
    allowance === null || exposed.length < pairs.length ? null : testAllowed(exposed, allowance, options);
  if (plain === null || allowance === null || test === null) return plain;
  const undisturbed = (trial: ExposedTrial, slope: number) =>
    Math.exp(trial.log - slope * (trial.taken - allowance.reference));
  const medians = {
    value: median(exposed.map(({ own }) => undisturbed(own, test.slopes.own))),
    baseline: median(exposed.map(({ baseline }) => undisturbed(baseline, test.slopes.baseline))),
  };
  const { relative, symmetric, low, high, pValue } = plain;
  return {
    ...deltaFrom(medians, pairs.length, test, 'rank-biserial'),
    allowance: {
      referenceCores: allowance.reference,
      slope: allowance.slope,
      standardError: allowance.standardError,
      plain: { relative, symmetric, low, high, pValue },
    },
  };
}

/** Trials of which nothing makes pairs. Null where there is nothing to compare with: no trial, or a baseline of zero. */
export function compareSamples(
  values: readonly number[],
  baseline: readonly number[],
  options: TestOptions = {},
): UndecidedDelta | null {
  if (values.length === 0 || baseline.length === 0) return null;
  const medians = { value: median(values), baseline: median(baseline) };
  if (medians.baseline <= 0) return null;
  const n = Math.min(values.length, baseline.length);
  return deltaFrom(medians, n, testUnpaired(values, baseline, options), 'cliffs-delta');
}

/** The allowance for the pairs of two cases alone; null also where one was not watched. */
export function allowanceOfPairs(pairs: readonly Pair[]): Allowance | null {
  const exposed = pairs.flatMap(exposedPair);
  return exposed.length < pairs.length
    ? null
    : allowanceOf([exposed.map(({ own }) => own), exposed.map(({ baseline }) => baseline)]);
}

/** With logarithms; none for a pair that has no logarithm, or was not watched. */
export function exposedPair({ value, baseline, taken }: Pair): ExposedPair[] {
  if (taken === undefined || value <= 0 || baseline <= 0) return [];
  return [
    {
      own: { log: Math.log(value), taken: taken.value },
      baseline: { log: Math.log(baseline), taken: taken.baseline },
    },
  ];
}

function comparePlainly(pairs: readonly Pair[], options: TestOptions): UndecidedDelta | null {
  if (pairs.length === 0 || pairs.some(({ baseline }) => baseline <= 0)) return null;
  const medians = {
    value: median(pairs.map((pair) => pair.value)),
    baseline: median(pairs.map((pair) => pair.baseline)),
  };
  const ratios = pairs.map((pair) => pair.value / pair.baseline);
  const delta = deltaFrom(medians, pairs.length, testPaired(ratios, options), 'rank-biserial');
  // Zero has no logarithm, hence no test of ratios: the interval of the median is used instead, with the test of the differences.
  const fallback = delta.low === null && ratios.includes(0) ? medianInterval(ratios) : null;
  if (fallback === null) return delta;
  const { effect, ...rankTest } = signedRankTest(pairs.map(({ value, baseline }) => value - baseline));
  return {
    ...delta,
    ...including(asDelta(fallback), delta.relative),
    ...{ method: 'median', pValue: rankTest.pValue, rankTest },
    effectSize: effectSizeOf(effect, 'rank-biserial'),
  };
}

/**
 * A difference in the figure's own unit from its test; see `deltaFrom`.
 * @param plain the difference where there is no test
 */
export function differenceFrom(
  plain: number,
  n: number,
  test: DifferenceTest | null,
  detectable: number | null,
): UndecidedDifference {
  return {
    difference: test?.estimate ?? plain,
    low: test?.low ?? null,
    high: test?.high ?? null,
    detectable,
    n,
    method: test?.method ?? null,
    pValue: test?.pValue ?? null,
  };
}

/** `comparePairs` in the figure's own unit. Null without a pair. */
export function compareDifferences(
  pairs: readonly Pair[],
  options: TestOptions = {},
): UndecidedDifference | null {
  const differences = pairs.map(({ value, baseline }) => value - baseline);
  const [first] = differences;
  if (first === undefined) return null;
  const detectable = detectableDifference(differences, options);
  return differenceFrom(first, differences.length, testDifferences(differences, options), detectable);
}

/**
 * The verdict. There is a winner exactly if the interval excludes zero and its p value, after correction for all
 * comparisons of the family, is at most 5 %; else `undecided` says why not. So no verdict is ever stronger than its
 * interval, and where it is weaker, the reason is given.
 */
export function decide<D extends Pick<UndecidedDelta, 'low' | 'high' | 'pValue' | 'n'>>(
  delta: D,
  { goal, better, worse }: Direction,
  adjustedPValue: number | null,
  comparisons: number | null,
): D & Decided {
  const { low, high, pValue } = delta;
  const sign = low === null || high === null ? null : low > 0 ? 'higher' : high < 0 ? 'lower' : null;
  const isSignificant = adjustedPValue === null || adjustedPValue <= LEVEL;
  const decided = { ...delta, adjustedPValue, comparisons };
  if (sign !== null && isSignificant) {
    return { ...decided, verdict: sign === goal ? better : worse, undecided: null };
  }
  const undecided =
    low === null
      ? // Zeros have no ratio.
        delta.n > 2
        ? 'ties'
        : 'too few trials'
      : sign === null
        ? 'interval holds zero'
        : pValue !== null && pValue > LEVEL
          ? 'ties'
          : 'correction';
  return { ...decided, verdict: 'no difference shown', undecided };
}
