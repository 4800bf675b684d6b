/**
 * Comparisons that allow for what the hypervisor and other programs took from the machine: an analysis of covariance on
 * logarithms. What they took during a trial is a covariate, exogenous because the order of the trials is balanced and what
 * the measurement itself used is not in it. The comparison is that of the calmest trial: where nothing was taken for some seconds, of
 * a machine of its own. Nothing is said of a calmer machine than was seen.
 *
 * 1. **A common slope** of all cases of a point: how much a figure changes with each CPU taken, from the deviations of the
 *    trials from the level of their case, by Huber's M-estimator, so that one odd trial does not decide it.
 * 2. **A slope of its own for each comparison**, as far as its trials demand it: two servers need not suffer alike. Their
 *    difference is taken to be about `SLOPES_DIFFER` of the common slope beforehand, and the data correct it (ridge
 *    regression, or the best linear prediction of a random slope).
 * 3. **The interval of the aligned pairs** by the method of `sample-test.ts`, widened by the uncertainty of both slopes.
 *
 * The rule of when to allow for it is fixed beforehand and does not look at the differences: see `allowanceOf`.
 *
 * References:
 * - R. A. Fisher: Statistical Methods for Research Workers, 4th ed. (1932), § 49.1 (the analysis of covariance).
 * - P. J. Huber: Robust estimation of a location parameter. Annals of Mathematical Statistics 35 (1964), 73–101; Robust
 *   Statistics (1981), section 7.6, for the standard error.
 * - G. K. Robinson: `That BLUP is a good thing`: the estimation of random effects. Statistical Science 6 (1991), 15–32.
 * - J. L. Hodges, E. L. Lehmann: Rank methods for combination of independent experiments in analysis of variance. Annals of
 *   Mathematical Statistics 33 (1962), 482–497 (aligned ranks).
 * - A. Deng, Y. Xu, R. Kohavi, T. Walker: Improving the sensitivity of online controlled experiments by utilizing
 *   pre-experiment data. WSDM 2013 (the same idea for experiments on the web).
 */
import { mean, median, momentsOf, sum } from './intervals.ts';
import { type SampleTest, type TestOptions, testAligned } from './sample-test.ts';
import { studentQuantile, studentUpperTail } from './student-t.ts';

/** A trial: the logarithm of its figure, and CPUs that others took meanwhile. */
export interface ExposedTrial {
  readonly log: number;
  readonly taken: number;
}

/** How a figure depends on what others take, over all cases of a point. */
export interface Allowance {
  /** CPUs taken during the calmest trial, which is what all are brought to. */
  readonly reference: number;
  /** Change of the logarithm of the figure for each CPU taken. */
  readonly slope: number;
  readonly standardError: number;
  /** Degrees of freedom of the residuals. */
  readonly degrees: number;
  /** Variance of a trial around its line. */
  readonly residualVariance: number;
}

/** Standard deviation within the cases, in CPUs: below it, what others took cannot explain anything that matters. */
const MIN_SPREAD = 0.01;

/** Two-sided level at which the slope must differ from zero. */
const SLOPE_LEVEL = 0.05;

/** With fewer degrees of freedom, a slope is little better than a guess. */
const MIN_DEGREES = 3;

/**
 * Standard deviation of the difference of two servers' slopes, as a share of the common slope, before the data are seen. In
 * published runs the slopes of three servers differed by less than that; simulated differences of 30 % are still covered.
 */
const SLOPES_DIFFER = 0.15;

/** Huber's constant: 95 % efficiency for normal residuals. */
const HUBER = 1.345;
/** Median of the absolute value of a standard normal number. */
const NORMAL_MEDIAN = 0.6745;
const MAX_STEPS = 30;

/** How many degrees of freedom the pooled variance counts for beside that of a comparison's own pairs. */
const POOLED_WEIGHT = 4;

interface Weighted extends ExposedTrial {
  readonly weight: number;
}

/** The slope within the groups, and the residuals in the order of the trials. */
function fit(groups: readonly (readonly Weighted[])[]): { slope: number; residuals: number[] } {
  const deviations = groups.flatMap((group) => {
    const weights = sum(group.map(({ weight }) => weight));
    const centre = (pick: (trial: Weighted) => number) =>
      sum(group.map((trial) => trial.weight * pick(trial))) / weights;
    const [log, taken] = [centre((trial) => trial.log), centre((trial) => trial.taken)];
    return group.map((trial) => ({ ...trial, log: trial.log - log, taken: trial.taken - taken }));
  });
  const squares = sum(deviations.map(({ weight, taken }) => weight * taken ** 2));
  const slope = sum(deviations.map(({ weight, taken, log }) => weight * taken * log)) / squares;
  return { slope, residuals: deviations.map(({ log, taken }) => log - slope * taken) };
}

/** Of the covariate within the groups: the sum of its squared deviations. */
function spreadOf(groups: readonly (readonly ExposedTrial[])[]): number {
  return sum(
    groups.map((group) => {
      const { n, variance } = momentsOf(group.map(({ taken }) => taken));
      return variance * (n - 1);
    }),
  );
}

/**
 * The allowance for trials in groups, one for each case of a point; null where there is nothing to allow for: too few
 * trials, a covariate that hardly varies within the cases, or a figure that does not depend on it.
 */
export function allowanceOf(cases: readonly (readonly ExposedTrial[])[]): Allowance | null {
  const groups = cases.filter((group) => group.length > 1);
  const trials = groups.flat().length;
  const degrees = trials - groups.length - 1;
  if (degrees < MIN_DEGREES) return null;
  const spread = spreadOf(groups);
  if (Math.sqrt(spread / (degrees + 1)) < MIN_SPREAD) return null;
  let weighted: readonly (readonly Weighted[])[] = groups.map((group) =>
    group.map((trial) => ({ ...trial, weight: 1 })),
  );
  let { slope, residuals } = fit(weighted);
  let limit = 0;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const scale = (median(residuals.map(Math.abs)) / NORMAL_MEDIAN) * Math.sqrt(trials / degrees);
    limit = HUBER * scale;
    if (limit === 0) break;
    let at = 0;
    weighted = weighted.map((group) =>
      group.map((trial) => ({ ...trial, weight: Math.min(1, limit / Math.abs(residuals[at++] ?? 0)) })),
    );
    const before = slope;
    ({ slope, residuals } = fit(weighted));
    if (Math.abs(slope - before) <= 1e-9 * Math.abs(slope)) break;
  }
  const clipped = residuals.map((residual) => Math.max(-limit, Math.min(limit, residual)));
  const within = residuals.filter((residual) => Math.abs(residual) <= limit).length / trials;
  const residualVariance = sum(clipped.map((value) => value ** 2)) / degrees / Math.max(within, 0.5) ** 2;
  const standardError = Math.sqrt(residualVariance / spread);
  const pValue = standardError === 0 ? 0 : 2 * studentUpperTail(Math.abs(slope) / standardError, degrees);
  if (pValue > SLOPE_LEVEL) return null;
  const reference = Math.min(...groups.flat().map(({ taken }) => taken));
  return { reference, slope, standardError, degrees, residualVariance };
}

/** Two trials of the same round. */
export interface ExposedPair {
  readonly own: ExposedTrial;
  readonly baseline: ExposedTrial;
}

export interface AllowedTest extends SampleTest {
  /** Slopes of this comparison, for the figures as they would be at the reference. */
  readonly slopes: { readonly own: number; readonly baseline: number };
}

/** The ratios of paired trials as they would be at the reference. Null as for `testPaired`. */
export function testAllowed(
  pairs: readonly ExposedPair[],
  allowance: Allowance,
  options: TestOptions = {},
): AllowedTest | null {
  const { reference, slope, standardError, degrees, residualVariance } = allowance;
  const unequal = pairs.map(({ own, baseline }) => own.taken - baseline.taken);
  const level = pairs.map(({ own, baseline }) => (own.taken + baseline.taken) / 2 - reference);
  const differences = pairs.map(
    ({ own, baseline }, at) => own.log - baseline.log - slope * (unequal[at] ?? 0),
  );
  const { difference, variance } = slopeDifference(level, differences, {
    before: (SLOPES_DIFFER * slope) ** 2,
    pooled: 2 * residualVariance,
  });
  const test = testAligned(
    differences.map((value, at) => value - difference * (level[at] ?? 0)),
    {
      // The residuals of a fitted line are smaller than the noise.
      scale: Math.sqrt((degrees + 1) / degrees),
      besides: (tail) =>
        studentQuantile(1 - tail, degrees) *
        Math.hypot(standardError * mean(unequal), Math.sqrt(variance) * mean(level)),
    },
    options,
  );
  return test && { ...test, slopes: { own: slope + difference / 2, baseline: slope - difference / 2 } };
}

/** The difference of the slopes of two servers, between none and what their trials say, with its variance. */
function slopeDifference(
  level: readonly number[],
  differences: readonly number[],
  { before, pooled }: { readonly before: number; readonly pooled: number },
): { difference: number; variance: number } {
  const [levelMean, differenceMean] = [mean(level), mean(differences)];
  const squares = sum(level.map((value) => (value - levelMean) ** 2));
  if (squares === 0) return { difference: 0, variance: before };
  const free =
    sum(level.map((value, at) => (value - levelMean) * ((differences[at] ?? 0) - differenceMean))) / squares;
  const left = sum(
    level.map((value, at) => ((differences[at] ?? 0) - differenceMean - free * (value - levelMean)) ** 2),
  );
  const noise = (POOLED_WEIGHT * pooled + left) / (POOLED_WEIGHT + Math.max(0, level.length - 2)) / squares;
  const share = before + noise === 0 ? 0 : before / (before + noise);
  return { difference: share * free, variance: share * noise };
}
