/**
 * Tests for "is there a difference" that assume no shape of the noise, only that it is the same on both sides:
 * Wilcoxon's signed-rank test for paired trials and the rank-sum test (Mann–Whitney) for trials of different
 * runs. Their p values are exact, also with ties (midranks; the null distribution is that of all sign flips or
 * all allocations of the ranks at hand); above `MAX_FOR_EXACT` values the normal approximation serves.
 *
 * With few trials no such test can show anything: of n pairs the smallest attainable p is 2^(1−n), which is 0.25
 * for 3 pairs and 0.0313 for 6. It is reported beside every p value.
 *
 * References:
 * - F. Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1 (1945), 80–83.
 * - H. B. Mann, D. R. Whitney: On a test of whether one of two random variables is stochastically larger than
 *   the other. Annals of Mathematical Statistics 18 (1947), 50–60.
 * - D. S. Kerby: The simple difference formula: an approach to teaching nonparametric correlation.
 *   Comprehensive Psychology 3 (2014), 11.IT.3.1 (matched-pairs rank-biserial correlation).
 * - N. Cliff: Dominance statistics: ordinal analyses to answer ordinal questions. Psychological Bulletin 114
 *   (1993), 494–509 (Cliff's delta).
 */
import { normalUpperTail } from './normal.ts';

/** Values in all; beyond, an exact distribution costs more than it adds. */
const MAX_FOR_EXACT = 60;

export interface RankTest {
  /** Two-sided. */
  readonly pValue: number;
  /** No data of this many trials could give a smaller p value. */
  readonly smallestPValue: number;
  /** Matched-pairs rank-biserial correlation, or Cliff's delta; in [−1, 1]. */
  readonly effect: number;
}

/** Twice the midranks of `values`, which are whole numbers also where values are equal. In the order given. */
export function doubledMidranks(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const ranks = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && order[end]?.value === order[start]?.value) end++;
    // Ranks start + 1 … end, of which the mean is (start + 1 + end) ÷ 2.
    for (const { index } of order.slice(start, end)) ranks[index] = start + 1 + end;
    start = end;
  }
  return ranks;
}

/** How many distributions are kept, those last used: trials of one number need the same ones again and again. */
const MAX_KEPT = 64;
const kept = new Map<string, Float64Array>();

/** The distribution that `make` calculates from these weights, whose order does not matter. */
function distributionOf(
  kind: string,
  weights: readonly number[],
  make: (ascending: readonly number[]) => Float64Array,
): Float64Array {
  const ascending = weights.toSorted((a, b) => a - b);
  const key = `${kind} ${ascending.join()}`;
  const found = kept.get(key) ?? make(ascending);
  kept.delete(key);
  kept.set(key, found);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
  return found;
}

/** P(sum = s) for the sum of the weights whose coins show heads; `weights` are whole numbers. */
function coinSums(weights: readonly number[]): Float64Array {
  return distributionOf('coins', weights, (ascending) => {
    const total = ascending.reduce((sum, weight) => sum + weight, 0);
    const probabilities = new Float64Array(total + 1);
    probabilities[0] = 1;
    let reached = 0;
    for (const weight of ascending) {
      reached += weight;
      for (let sum = reached; sum >= 0; sum--) {
        const without = probabilities[sum] ?? 0;
        const withIt = sum >= weight ? (probabilities[sum - weight] ?? 0) : 0;
        probabilities[sum] = (without + withIt) / 2;
      }
    }
    return probabilities;
  });
}

/** P(sum = s) for the sum of `size` of the weights, drawn without replacement. */
function drawSums(weights: readonly number[], size: number): Float64Array {
  return distributionOf(`${size} of`, weights, (ascending) => {
    const total = ascending.reduce((sum, weight) => sum + weight, 0);
    const counts = Array.from({ length: size + 1 }, () => new Float64Array(total + 1));
    const [none] = counts;
    if (none !== undefined) none[0] = 1;
    let reached = 0;
    for (const weight of ascending) {
      reached += weight;
      for (let drawn = size; drawn >= 1; drawn--) {
        const target = counts[drawn];
        const source = counts[drawn - 1];
        if (target === undefined || source === undefined) continue;
        for (let sum = reached; sum >= weight; sum--) {
          target[sum] = (target[sum] ?? 0) + (source[sum - weight] ?? 0);
        }
      }
    }
    const last = counts[size] ?? new Float64Array(1);
    const all = last.reduce((sum, count) => sum + count, 0);
    return last.map((count) => count / all);
  });
}

/** 2 · the smaller of P(S ≤ observed) and P(S ≥ observed), at most 1. */
function twoSided(probabilities: Float64Array, observed: number): number {
  let below = 0;
  for (let sum = 0; sum <= observed; sum++) below += probabilities[sum] ?? 0;
  let above = 0;
  for (let sum = probabilities.length - 1; sum >= observed; sum--) above += probabilities[sum] ?? 0;
  return Math.min(1, 2 * Math.min(below, above));
}

/** Two-sided p of a sum with this mean and variance, with continuity correction for steps of `step`. */
function approximated(observed: number, mean: number, variance: number, step: number): number {
  if (variance <= 0) return 1;
  const distance = Math.max(0, Math.abs(observed - mean) - step / 2);
  return Math.min(1, 2 * normalUpperTail(distance / Math.sqrt(variance)));
}

/**
 * Wilcoxon's signed-rank test of "the differences are symmetric about zero". Differences of exactly zero are
 * left out, as Wilcoxon did. Without any other difference p is 1.
 */
export function signedRankTest(differences: readonly number[]): RankTest {
  const nonzero = differences.filter((difference) => difference !== 0);
  const n = nonzero.length;
  if (n === 0) return { pValue: 1, smallestPValue: 1, effect: 0 };
  const ranks = doubledMidranks(nonzero.map(Math.abs));
  const total = ranks.reduce((sum, rank) => sum + rank, 0);
  const positive = ranks.reduce((sum, rank, index) => sum + ((nonzero[index] ?? 0) > 0 ? rank : 0), 0);
  const variance = ranks.reduce((sum, rank) => sum + rank * rank, 0) / 4;
  return {
    pValue:
      n <= MAX_FOR_EXACT
        ? twoSided(coinSums(ranks), positive)
        : approximated(positive, total / 2, variance, 2),
    smallestPValue: smallestSignedRankP(n),
    effect: (2 * positive - total) / total,
  };
}

/** 2^(1−n): all n differences have the same sign. */
export function smallestSignedRankP(n: number): number {
  return Math.min(1, 2 ** (1 - n));
}

/** The rank-sum test of "both come from the same distribution". */
export function rankSumTest(values: readonly number[], others: readonly number[]): RankTest {
  const size = values.length;
  const n = size + others.length;
  if (size === 0 || others.length === 0) return { pValue: 1, smallestPValue: 1, effect: 0 };
  const ranks = doubledMidranks([...values, ...others]);
  const observed = ranks.slice(0, size).reduce((sum, rank) => sum + rank, 0);
  const mean = size * (n + 1);
  const squares = ranks.reduce((sum, rank) => sum + (rank - (n + 1)) ** 2, 0);
  const variance = n > 1 ? (size * others.length * squares) / (n * (n - 1)) : 0;
  return {
    pValue:
      n <= MAX_FOR_EXACT
        ? twoSided(drawSums(ranks, size), observed)
        : approximated(observed, mean, variance, 2),
    smallestPValue: smallestRankSumP(size, others.length),
    // The rank sum counts how often a value exceeds another: U = R − n₁ (n₁ + 1) ÷ 2, and δ = 2 U ÷ (n₁ n₂) − 1.
    effect: (observed - size * (size + 1)) / (size * others.length) - 1,
  };
}

/** 2 ÷ C(n₁ + n₂, n₁): all values of one side exceed all of the other. */
export function smallestRankSumP(size: number, otherSize: number): number {
  let allocations = 1;
  for (let step = 1; step <= size; step++) allocations *= (otherSize + step) / step;
  return Math.min(1, 2 / allocations);
}

/**
 * The largest k with P(S ≤ k) ≤ `tail` for the signed-rank statistic of n values without ties; −1 where even
 * P(S ≤ 0) is more than that. The interval's ends are k values from the ends of the sorted Walsh averages.
 */
export function signedRankDepth(n: number, tail: number): number {
  if (n > MAX_FOR_EXACT) {
    const variance = (n * (n + 1) * (2 * n + 1)) / 24;
    return approximateDepth((n * (n + 1)) / 4, variance, tail);
  }
  return depthOf(coinSums(Array.from({ length: n }, (_, index) => index + 1)), tail);
}

/** The same for the Mann–Whitney statistic of two groups without ties. */
export function rankSumDepth(size: number, otherSize: number, tail: number): number {
  const n = size + otherSize;
  if (n > MAX_FOR_EXACT) {
    return approximateDepth((size * otherSize) / 2, (size * otherSize * (n + 1)) / 12, tail);
  }
  const sums = drawSums(
    Array.from({ length: n }, (_, index) => index + 1),
    size,
  );
  return depthOf(sums.slice((size * (size + 1)) / 2), tail);
}

function depthOf(probabilities: Float64Array, tail: number): number {
  let below = 0;
  let depth = -1;
  for (const probability of probabilities) {
    below += probability;
    // A tail that is exact in theory must not fail by its last digit.
    if (below > tail * (1 + 1e-9)) break;
    depth += 1;
  }
  return depth;
}

/** The continuity correction as in `approximated`, so that interval and test agree. */
function approximateDepth(mean: number, variance: number, tail: number): number {
  let low = -1;
  let high = Math.floor(mean);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (normalUpperTail((mean - middle - 0.5) / Math.sqrt(variance)) <= tail) low = middle;
    else high = middle - 1;
  }
  return low;
}
