/**
 * Quantiles of Student's t distribution, by way of the regularized incomplete beta function.
 *
 * The continued fraction is DLMF 8.17.22 (https://dlmf.nist.gov/8.17#v), evaluated with the modified Lentz
 * algorithm (W. J. Lentz, Applied Optics 15, 1976; I. J. Thompson and A. R. Barnett, J. Comput. Phys. 64,
 * 1986). ln Γ is the Lanczos approximation with g = 7 and nine terms, good to about 15 digits.
 */

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

/** ln Γ(x) for x ≥ 0.5. */
export function logGamma(x: number): number {
  const z = x - 1;
  let sum: number = LANCZOS[0];
  for (let index = 1; index < LANCZOS.length; index++) sum += (LANCZOS[index] ?? 0) / (z + index);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** Keeps a denominator of Lentz's algorithm away from zero. */
function awayFromZero(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** The continued fraction of DLMF 8.17.22; converges fast for x < (a + 1) ÷ (a + b + 2). */
function betaContinuedFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}

/** −ln B(a, b). */
function negativeLogBeta(a: number, b: number): number {
  return logGamma(a + b) - logGamma(a) - logGamma(b);
}

/** The regularized incomplete beta function I_x(a, b) for a, b ≥ 0.5 and x in [0, 1]. */
export function incompleteBeta(a: number, b: number, x: number, scale = negativeLogBeta(a, b)): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(scale + a * Math.log(x) + b * Math.log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return (front * betaContinuedFraction(a, b, x)) / a;
  return 1 - (front * betaContinuedFraction(b, a, 1 - x)) / b;
}

/** P(T > t) for t ≥ 0 and `degrees` ≥ 1 degrees of freedom. */
export function studentUpperTail(t: number, degrees: number): number {
  return upperTails(degrees)(t);
}

/** The same for many t. */
function upperTails(degrees: number): (t: number) => number {
  const scale = negativeLogBeta(degrees / 2, 0.5);
  return (t) => 0.5 * incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t), scale);
}

/**
 * The `probability` quantile of Student's t distribution, for 0.5 ≤ probability < 1 and `degrees` ≥ 1.
 * Found by bisection to full precision.
 */
export function studentQuantile(probability: number, degrees: number): number {
  if (!(probability >= 0.5 && probability < 1)) {
    throw new RangeError(`studentQuantile: probability ${probability} is not in [0.5, 1)`);
  }
  if (!(degrees >= 1)) throw new RangeError(`studentQuantile: ${degrees} degrees of freedom`);
  const tail = 1 - probability;
  const upperTail = upperTails(degrees);
  let high = 1;
  while (upperTail(high) > tail) high *= 2;
  return bisected(0, high, (t) => upperTail(t) > tail);
}

/** Where `isBelow` turns false between the ends, to full precision. */
export function bisected(low: number, high: number, isBelow: (value: number) => boolean): number {
  let [bottom, top] = [low, high];
  for (let step = 0; step < 200; step++) {
    const middle = (bottom + top) / 2;
    if (middle <= bottom || middle >= top) break;
    if (isBelow(middle)) bottom = middle;
    else top = middle;
  }
  return (bottom + top) / 2;
}
