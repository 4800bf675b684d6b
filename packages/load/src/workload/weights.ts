/** Popularity: weights of queries, and drawing by weight in constant time. */
import type { Random } from './random.ts';

/**
 * Weights by rank according to Zipf's law: rank k (from 1) has 1 ÷ k^exponent. Names at resolvers follow it with an
 * exponent near 0.9 (Jung, Sit, Balakrishnan, Morris: "DNS Performance and the Effectiveness of Caching", 2002).
 * 0 makes all equal.
 */
export function zipfWeights(count: number, exponent: number): Float64Array {
  return Float64Array.from({ length: count }, (_, index) => (index + 1) ** -exponent);
}

/**
 * Cumulative shares of `weights`, ascending, the last exactly 1; over shared memory, for plans.
 * @throws RangeError if a weight is negative or not finite, or if all are 0.
 */
export function cumulate(weights: ArrayLike<number>): Float64Array {
  let total = 0;
  for (let i = 0; i < weights.length; i += 1) {
    const weight = weights[i] ?? Number.NaN;
    if (!(weight >= 0) || !Number.isFinite(weight)) throw new RangeError(`${weight} is not a weight`);
    total += weight;
  }
  if (!(total > 0)) throw new RangeError('all weights are 0');
  const cumulative = new Float64Array(new SharedArrayBuffer(weights.length * 8));
  let sum = 0;
  for (let i = 0; i < weights.length; i += 1) {
    sum += weights[i] ?? 0;
    cumulative[i] = sum / total;
  }
  cumulative[weights.length - 1] = 1;
  return cumulative;
}

/**
 * Draws indices with the probabilities of `cumulative`, one random number and one comparison each, by the alias
 * method (Walker 1977, built after Vose 1991). Exact up to the 32 bits of the random number.
 */
export function weightedDraw(cumulative: Float64Array, random: Random): () => number {
  const { length } = cumulative;
  const accept = new Float64Array(length);
  const alias = new Uint32Array(length);
  const small: number[] = [];
  const large: number[] = [];
  for (let i = 0; i < length; i += 1) {
    accept[i] = ((cumulative[i] ?? 0) - (i === 0 ? 0 : (cumulative[i - 1] ?? 0))) * length;
    ((accept[i] ?? 0) < 1 ? small : large).push(i);
  }
  while (small.length > 0 && large.length > 0) {
    const less = small.pop() ?? 0;
    const more = large.pop() ?? 0;
    alias[less] = more;
    accept[more] = (accept[more] ?? 0) + (accept[less] ?? 0) - 1;
    ((accept[more] ?? 0) < 1 ? small : large).push(more);
  }
  // The remainder differs from 1 only by rounding.
  for (const rest of [...small, ...large]) accept[rest] = 1;
  return () => {
    const index = Math.floor(random.fraction() * length);
    return random.fraction() < (accept[index] ?? 1) ? index : (alias[index] ?? index);
  };
}
