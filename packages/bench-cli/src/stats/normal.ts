/**
 * The upper tail of the standard normal distribution: the series of DLMF 7.6.2 for small arguments, the continued
 * fraction of DLMF 7.9.1 for large ones (https://dlmf.nist.gov/7), good to about 14 digits.
 */

/** P(Z > z). */
export function normalUpperTail(z: number): number {
  if (z < 0) return 1 - normalUpperTail(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    // ½ − φ(z) · (z + z³/3 + z⁵/15 + …)
    let term = z;
    let sum = z;
    for (let odd = 3; Math.abs(term) > 1e-17 * Math.abs(sum) && odd < 400; odd += 2) {
      term *= (z * z) / odd;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  // φ(z) ÷ (z + 1 ÷ (z + 2 ÷ (z + 3 ÷ …)))
  let fraction = z;
  for (let level = 60; level >= 1; level--) fraction = z + level / fraction;
  return density / fraction;
}
