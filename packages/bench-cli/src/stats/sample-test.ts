/**
 * How much larger are these values than those, and how certain is that? For positive values with multiplicative
 * noise (throughput, latency, CPU per query): everything is computed on logarithms and given as a ratio.
 *
 * Interval, p value and verdict come from one method, so that they cannot contradict each other: the 95 %
 * interval excludes a ratio exactly if the test rejects it at 5 %. The method depends on the number of trials,
 * because no single one is correct for all:
 *
 * - **Rank method** wherever its smallest attainable p value, times the number of comparisons in the family, is
 *   at most 5 %: the Hodges–Lehmann interval, which is the inversion of Wilcoxon's signed-rank test (paired) or of
 *   the rank-sum test (unpaired). It assumes no shape of the noise, and one disturbed trial among ten does not
 *   spoil it. For one paired comparison that is from 6 trials on.
 * - **Student's t** (paired) or **Welch's t** (unpaired) on logarithms with fewer trials. It assumes that the
 *   noise is about log-normal, because nothing without an assumption could show anything. Welch's also where one of
 *   two runs has many more trials than the other: the rank-sum test takes both to scatter alike.
 * - **Bootstrap-t** from `MIN_FOR_BOOTSTRAP` trials on, if asked for.
 *
 * `docs/method.md` has the simulated coverage of each by number of trials; `test/stats-coverage.test.ts` repeats it.
 *
 * References:
 * - J. L. Hodges, E. L. Lehmann: Estimates of location based on rank tests. Annals of Mathematical Statistics 34
 *   (1963), 598–611.
 * - M. Hollander, D. A. Wolfe, E. Chicken: Nonparametric Statistical Methods, 3rd ed. (2014), chapters 3 and 4.
 * - B. L. Welch: The generalization of "Student's" problem when several different population variances are
 *   involved. Biometrika 34 (1947), 28–35.
 */
import { bootstrapInterval, type LogInterval, MIN_FOR_BOOTSTRAP } from './bootstrap.ts';
import { ascending, CONFIDENCE, medianOfSorted, momentsOf } from './intervals.ts';
import {
  type RankTest,
  rankSumDepth,
  rankSumTest,
  signedRankDepth,
  signedRankTest,
  smallestRankSumP,
  smallestSignedRankP,
} from './rank-tests.ts';
import { studentQuantile, studentUpperTail } from './student-t.ts';

export type IntervalMethod = 'signed-rank' | 'rank-sum' | 'student-t' | 'welch-t' | 'bootstrap-t';

/** `auto`: rank method or t, by the number of trials. `bootstrap`: bootstrap-t wherever its coverage is correct. */
export const INTERVAL_CHOICES = ['auto', 'bootstrap'] as const;
export type IntervalChoice = (typeof INTERVAL_CHOICES)[number];

/**
 * Runs may scatter differently. With similar numbers of trials on both sides, the rank-sum interval tolerates that
 * (93 % coverage for four times the scatter). With 10 trials that scatter four times as much against 30, it covers
 * 84 % in simulations, Welch's 95 %.
 */
const MAX_IMBALANCE = 1.5;

/** Two-sided level of tests and verdicts. */
export const LEVEL = 1 - CONFIDENCE;

/** Of the normal distribution, for a power of 80 %, as usual in the planning of experiments. */
const POWER_QUANTILE = 0.8416;

export interface TestOptions {
  /** Two-sided level of the test and of its interval. Smaller than 5 % where a run is looked at repeatedly. Default: 0.05. */
  readonly level?: number;
  /** Comparisons in the family that this one is part of; see `holm.ts`. Default: 1. */
  readonly comparisons?: number;
  /** Default: `auto`. */
  readonly interval?: IntervalChoice;
  /** Seed of the bootstrap. Default: none needed. */
  readonly seed?: string;
  /** Values are known to this share only, however little they scatter: those of a search. Default: 0. */
  readonly resolution?: number;
}

export interface SampleTest {
  /** Estimated ratio: Hodges–Lehmann, or the ratio of the geometric means. */
  readonly ratio: number;
  /** 95 % interval of the ratio. */
  readonly low: number;
  readonly high: number;
  /** Two-sided, for "the ratio is 1", by the interval's own method and before any correction. */
  readonly pValue: number;
  readonly method: IntervalMethod;
  /** The test that assumes no shape of the noise, even if `method` is another one. */
  readonly rankTest: RankTest;
}

/** Two searches that end at the same step look as if they did not scatter, which they often do by chance: it takes three of them. */
const leastTrials = (resolution = 0) => (resolution > 0 ? 3 : 2);

/** The fewest paired trials with which the rank test can show a difference in a family of this many comparisons. */
export function minTrialsForRanks(comparisons: number, level = LEVEL): number {
  let n = 1;
  while (smallestSignedRankP(n) * comparisons > level) n += 1;
  return n;
}

/** The ratios of paired trials. Null for fewer than two, or three of searches, or where a ratio is not above zero. */
export function testPaired(ratios: readonly number[], options: TestOptions = {}): SampleTest | null {
  if (ratios.length < 2 || !ratios.every((ratio) => ratio > 0)) return null;
  const logs = ratios.map(Math.log);
  const { level = LEVEL, seed = '', resolution = 0 } = options;
  if (resolution > 0) return testAligned(logs, NOT_WIDENED, options);
  if (options.interval === 'bootstrap' && logs.length >= MIN_FOR_BOOTSTRAP) {
    return asRatio(bootstrapInterval([logs], { seed, level }), 'bootstrap-t', signedRankTest(logs));
  }
  const { method, rankTest, ...interval } = pairedInterval(logs, options);
  return asRatio(interval, method, rankTest);
}

/** What widens an interval of aligned differences. */
export interface Widening {
  /** Factor of the distance of either end from the estimate. */
  readonly scale: number;
  /** A further distance at this one-sided tail, of an independent source: the two add up as squares. */
  besides(tail: number): number;
}

/** By nothing but the steps of a search. */
const NOT_WIDENED: Widening = { scale: 1, besides: () => 0 };

/** Student's t with as many degrees of freedom is a normal distribution. */
const NORMAL_DEGREES = 1e6;

/**
 * What a search measures lies anywhere within its last step, and a ratio of two is known to a step at either side: at 95 %, by this
 * distribution. Equal searches take equal steps, so that more trials do not make them finer.
 */
function withinSteps(resolution: number, tail: number): number {
  const deviation = Math.log1p(resolution) / studentQuantile(1 - LEVEL / 2, NORMAL_DEGREES);
  return studentQuantile(1 - tail, NORMAL_DEGREES) * deviation;
}

/**
 * As `testPaired`, for logarithms of ratios from which something estimated was subtracted. The p value is the level at which
 * the interval just reaches zero, and never less than the ranks can give.
 */
export function testAligned(
  logs: readonly number[],
  widening: Widening,
  { level = LEVEL, comparisons = 1, resolution = 0 }: TestOptions = {},
): SampleTest | null {
  if (logs.length < leastTrials(resolution)) return null;
  const rankTest = signedRankTest(logs);
  const byRanks = smallestSignedRankP(logs.length) * comparisons <= level;
  const at = (wanted: number) =>
    widened(
      byRanks ? signedRankInterval(logs, rankTest, wanted) : studentLocation(logs, wanted),
      { ...widening, resolution },
      wanted,
    );
  const pValue = Math.max(levelOfZero(at), byRanks ? rankTest.smallestPValue : 0);
  return asRatio({ ...at(level), pValue }, byRanks ? 'signed-rank' : 'student-t', rankTest);
}

/** Its p value waits for `levelOfZero`. */
function widened(
  { estimate, low, high }: LogInterval,
  { scale, besides, resolution }: Widening & { readonly resolution: number },
  level: number,
): LogInterval {
  const further = Math.hypot(besides(level / 2), withinSteps(resolution, level / 2));
  const side = (distance: number) => Math.hypot(scale * distance, further);
  return {
    estimate,
    low: estimate - side(estimate - low),
    high: estimate + side(high - estimate),
    pValue: 1,
  };
}

/** The largest level at which the interval still holds zero. */
function levelOfZero(at: (level: number) => LogInterval): number {
  const holds = (level: number) => {
    const { low, high } = at(level);
    return low <= 0 && high >= 0;
  };
  // Between levels as far apart as these, p values differ in the third digit.
  let [low, high] = [Math.log(1e-9), 0];
  if (holds(1)) return 1;
  while (high - low > 1e-3) {
    const middle = (low + high) / 2;
    if (holds(Math.exp(middle))) low = middle;
    else high = middle;
  }
  return Math.exp(high);
}

/** An interval of the centre of differences, with the p value of "it is zero". */
export interface DifferenceTest extends LogInterval {
  readonly method: Exclude<IntervalMethod, 'bootstrap-t'>;
}

/**
 * The differences of paired trials, in their own unit: for quantities that can be zero, whose noise adds up. Null for
 * fewer than two.
 */
export function testDifferences(
  differences: readonly number[],
  options: Pick<TestOptions, 'comparisons' | 'level'> = {},
): DifferenceTest | null {
  return differences.length < 2 ? null : pairedInterval(differences, options);
}

/** By ranks where they can decide, else Student's. */
function pairedInterval(
  differences: readonly number[],
  { comparisons = 1, level = LEVEL }: Pick<TestOptions, 'comparisons' | 'level'>,
) {
  const rankTest = signedRankTest(differences);
  return smallestSignedRankP(differences.length) * comparisons <= level
    ? { ...signedRankInterval(differences, rankTest, level), method: 'signed-rank' as const, rankTest }
    : { ...studentLocation(differences, level), method: 'student-t' as const, rankTest };
}

/**
 * The smallest true difference that this number of pairs with this scatter would show in four of five experiments. The noncentral
 * t distribution is approximated by a normal one (M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 1964,
 * 26.7.10); `test/swap-results.test.ts` simulates it. Null for fewer than two.
 */
export function detectableDifference(
  differences: readonly number[],
  { level = LEVEL }: Pick<TestOptions, 'level'> = {},
): number | null {
  if (differences.length < 2) return null;
  const { n, variance } = momentsOf(differences);
  const freedom = n - 1;
  const critical = studentQuantile(1 - level / 2, freedom);
  const shift =
    critical * (1 - 1 / (4 * freedom)) + POWER_QUANTILE * Math.sqrt(1 + critical ** 2 / (2 * freedom));
  return shift * Math.sqrt(variance / n);
}

/**
 * Values of one side against those of another; nothing pairs them. Null where a side has fewer than two values, or three of searches, or
 * one that is not above zero.
 */
export function testUnpaired(
  values: readonly number[],
  others: readonly number[],
  options: TestOptions = {},
): SampleTest | null {
  const least = leastTrials(options.resolution);
  if (values.length < least || others.length < least) return null;
  if (![...values, ...others].every((value) => value > 0)) return null;
  const [logs, otherLogs] = [values.map(Math.log), others.map(Math.log)];
  const { level = LEVEL, seed = '', resolution = 0 } = options;
  const isResampled =
    options.interval === 'bootstrap' && Math.min(logs.length, otherLogs.length) >= MIN_FOR_BOOTSTRAP;
  if (isResampled && resolution === 0) {
    const rankTest = rankSumTest(logs, otherLogs);
    return asRatio(bootstrapInterval([logs, otherLogs], { seed, level }), 'bootstrap-t', rankTest);
  }
  const { method, rankTest, ...interval } = unpairedInterval(logs, otherLogs, options);
  if (resolution === 0) return asRatio(interval, method, rankTest);
  const byRanks = method === 'rank-sum';
  const widening = { ...NOT_WIDENED, resolution };
  const at = (wanted: number) =>
    widened(
      byRanks ? rankSumInterval(logs, otherLogs, rankTest, wanted) : welchDifference(logs, otherLogs, wanted),
      widening,
      wanted,
    );
  const pValue = Math.max(levelOfZero(at), byRanks ? smallestRankSumP(logs.length, otherLogs.length) : 0);
  return asRatio({ ...at(level), pValue }, method, rankTest);
}

/** The same in the figures' own unit: for quantities that can be zero, whose noise adds up. */
export function testUnpairedDifferences(
  values: readonly number[],
  others: readonly number[],
  options: Pick<TestOptions, 'comparisons' | 'level'> = {},
): DifferenceTest | null {
  return values.length < 2 || others.length < 2 ? null : unpairedInterval(values, others, options);
}

/** By ranks where they can decide and both sides are of similar size, else Welch's. */
function unpairedInterval(
  values: readonly number[],
  others: readonly number[],
  { comparisons = 1, level = LEVEL }: Pick<TestOptions, 'comparisons' | 'level'>,
) {
  const rankTest = rankSumTest(values, others);
  const sizes = [values.length, others.length] as const;
  const isBalanced = Math.max(...sizes) <= MAX_IMBALANCE * Math.min(...sizes);
  return isBalanced && smallestRankSumP(...sizes) * comparisons <= level
    ? { ...rankSumInterval(values, others, rankTest, level), method: 'rank-sum' as const, rankTest }
    : { ...welchDifference(values, others, level), method: 'welch-t' as const, rankTest };
}

function asRatio(interval: LogInterval, method: IntervalMethod, rankTest: RankTest): SampleTest {
  return {
    ratio: Math.exp(interval.estimate),
    low: Math.exp(interval.low),
    high: Math.exp(interval.high),
    pValue: interval.pValue,
    method,
    rankTest,
  };
}

/** The ends `depth` values from either end of the sorted contrasts, and their median. */
function fromContrasts(contrasts: number[], depth: number, pValue: number): LogInterval {
  const sorted = ascending(contrasts);
  const at = (index: number) => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] ?? Number.NaN;
  return { estimate: medianOfSorted(sorted), low: at(depth), high: at(sorted.length - 1 - depth), pValue };
}

/** From the means of all pairs of values, each with itself too (Walsh averages). */
function signedRankInterval(logs: readonly number[], { pValue }: RankTest, level: number): LogInterval {
  const averages: number[] = [];
  for (const [index, a] of logs.entries()) {
    for (const b of logs.slice(index)) averages.push((a + b) / 2);
  }
  return fromContrasts(averages, signedRankDepth(logs.length, level / 2), pValue);
}

/** Hodges and Lehmann's interval, from the differences of all values of one side and all of the other. */
export function rankSumInterval(
  logs: readonly number[],
  others: readonly number[],
  { pValue }: RankTest,
  level = LEVEL,
): LogInterval {
  const differences = logs.flatMap((a) => others.map((b) => a - b));
  return fromContrasts(differences, rankSumDepth(logs.length, others.length, level / 2), pValue);
}

/** A t interval around `estimate`. Without any scatter, the interval has no width and p is 0, or 1 without a difference. */
function tInterval(estimate: number, standardError: number, degrees: number, level: number): LogInterval {
  if (standardError === 0) {
    return { estimate, low: estimate, high: estimate, pValue: estimate === 0 ? 1 : 0 };
  }
  const half = studentQuantile(1 - level / 2, degrees) * standardError;
  const pValue = Math.min(1, 2 * studentUpperTail(Math.abs(estimate) / standardError, degrees));
  return { estimate, low: estimate - half, high: estimate + half, pValue };
}

function studentLocation(logs: readonly number[], level: number): LogInterval {
  const { n, mean, variance } = momentsOf(logs);
  return tInterval(mean, Math.sqrt(variance / n), n - 1, level);
}

/** Welch's interval, with the degrees of freedom of Welch and Satterthwaite. */
function welchDifference(logs: readonly number[], others: readonly number[], level: number): LogInterval {
  const [a, b] = [momentsOf(logs), momentsOf(others)];
  const [shareA, shareB] = [a.variance / a.n, b.variance / b.n];
  const sum = shareA + shareB;
  const degrees = sum === 0 ? 1 : sum ** 2 / (shareA ** 2 / (a.n - 1) + shareB ** 2 / (b.n - 1));
  return tInterval(a.mean - b.mean, Math.sqrt(sum), degrees, level);
}
