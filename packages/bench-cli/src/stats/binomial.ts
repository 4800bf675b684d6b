/**
 * Exact intervals of shares of a whole.
 *
 * Reference:
 * - C. J. Clopper, E. S. Pearson: The use of confidence or fiducial limits illustrated in the case of the binomial.
 *   Biometrika 26 (1934), 404–413.
 */
import { CONFIDENCE, type Interval } from './intervals.ts';
import { bisected, incompleteBeta } from './student-t.ts';

/** The x for which I_x(a, b) is `probability`, by bisection to full precision. */
function betaQuantile(probability: number, a: number, b: number): number {
  return bisected(0, 1, (x) => incompleteBeta(a, b, x) < probability);
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
