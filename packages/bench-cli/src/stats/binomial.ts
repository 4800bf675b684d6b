/**
 * Shares of a whole: exact intervals, and an exact test of two shares.
 *
 * References:
 * - C. J. Clopper, E. S. Pearson: The use of confidence or fiducial limits illustrated in the case of the binomial.
 *   Biometrika 26 (1934), 404–413.
 * - R. A. Fisher: The logic of inductive inference. Journal of the Royal Statistical Society 98 (1935), 39–82.
 */
import { CONFIDENCE, type Interval } from './intervals.ts';
import { incompleteBeta, logGamma } from './student-t.ts';

/** The x for which I_x(a, b) is `probability`, by bisection to full precision. */
function betaQuantile(probability: number, a: number, b: number): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) break;
    if (incompleteBeta(a, b, middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * The 95 % interval of Clopper and Pearson for the probability behind `successes` of `n`: it never covers the truth less
 * often than that. Throws a `RangeError` unless 0 ≤ successes ≤ n and n ≥ 1.
 */
export function binomialInterval(successes: number, n: number): Interval {
  if (!(n >= 1 && successes >= 0 && successes <= n)) {
    throw new RangeError(`binomialInterval: ${successes} of ${n}`);
  }
  const tail = (1 - CONFIDENCE) / 2;
  return {
    low: successes === 0 ? 0 : betaQuantile(tail, successes, n - successes + 1),
    high: successes === n ? 1 : betaQuantile(1 - tail, successes + 1, n - successes),
  };
}

function logChoose(n: number, k: number): number {
  return logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1);
}

/** Outcomes that are as probable as the observed one count, in spite of rounding. */
const EQUAL = 1e-7;

/** Fisher's exact test, two-sided: the p value of "both shares come from the same probability". 1 if nothing was observed. */
export function fisherTest(a: { successes: number; n: number }, b: { successes: number; n: number }): number {
  const successes = a.successes + b.successes;
  const total = a.n + b.n;
  if (a.n === 0 || b.n === 0) return 1;
  const all = logChoose(total, a.n);
  const logProbability = (k: number) => logChoose(successes, k) + logChoose(total - successes, a.n - k) - all;
  const observed = logProbability(a.successes);
  let pValue = 0;
  for (let k = Math.max(0, a.n - (total - successes)); k <= Math.min(successes, a.n); k += 1) {
    const probability = logProbability(k);
    if (probability <= observed + EQUAL) pValue += Math.exp(probability);
  }
  return Math.min(1, pValue);
}
