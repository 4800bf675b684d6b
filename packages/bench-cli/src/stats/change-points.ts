/**
 * Where a series changes its level: binary segmentation with the CUSUM statistic, each cut tested by permutation. If
 * the values were exchangeable, every order would be as likely as the observed one; a cut must divide them better
 * than 95 % of random orders do. No shape of the noise is assumed.
 *
 * References:
 * - A. J. Scott, M. Knott: A cluster analysis method for grouping means in the analysis of variance. Biometrics 30
 *   (1974), 507–512 (binary segmentation).
 * - J. Antoch, M. Hušková: Permutation tests in change point analysis. Statistics & Probability Letters 53 (2001),
 *   37–46.
 */
import { median } from './intervals.ts';
import { type Random, seededRandom } from './random.ts';
import { LEVEL } from './sample-test.ts';

/** Smallest p value: 1 ÷ 1000. */
const PERMUTATIONS = 999;
/** Fewer values are not a level. */
export const MIN_SEGMENT_LENGTH = 3;

export interface ChangePoint {
  /** The first value of the new level. */
  readonly position: number;
  readonly pValue: number;
  /** Relative change from the median of the segment before to that of the segment after. */
  readonly relativeChange: number;
}

interface Cut {
  readonly position: number;
  /** The standardized distance of the two means. */
  readonly strength: number;
}

function bestCut(values: Float64Array): Cut {
  const n = values.length;
  let total = 0;
  for (const value of values) total += value;
  const mean = total / n;
  let before = 0;
  let best: Cut = { position: 0, strength: 0 };
  for (let position = 1; position < n; position++) {
    before += (values[position - 1] ?? 0) - mean;
    if (position < MIN_SEGMENT_LENGTH || n - position < MIN_SEGMENT_LENGTH) continue;
    const strength = Math.abs(before) * Math.sqrt(n / (position * (n - position)));
    if (strength > best.strength) best = { position, strength };
  }
  return best;
}

function shuffle(values: Float64Array, random: Random): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const held = values[last] ?? 0;
    values[last] = values[other] ?? 0;
    values[other] = held;
  }
}

/** The best cut of a segment, if it is better than chance. */
function significantCut(values: Float64Array, random: Random): { position: number; pValue: number } | null {
  if (values.length < 2 * MIN_SEGMENT_LENGTH) return null;
  const { position, strength } = bestCut(values);
  if (strength === 0) return null;
  const shuffled = Float64Array.from(values);
  let asStrong = 0;
  for (let permutation = 0; permutation < PERMUTATIONS; permutation++) {
    shuffle(shuffled, random);
    // Sums in a different order differ in their last digits.
    if (bestCut(shuffled).strength >= strength * (1 - 1e-9)) asStrong += 1;
    // Already above the level: the rest cannot change that.
    if (asStrong + 1 > LEVEL * (PERMUTATIONS + 1)) return null;
  }
  return { position, pValue: (asStrong + 1) / (PERMUTATIONS + 1) };
}

/**
 * The change points of a series of values above zero, in order; none for fewer than `2 · MIN_SEGMENT_LENGTH`. The
 * same values and seed always give the same.
 */
export function changePoints(values: readonly number[], seed: string): ChangePoint[] {
  const logs = Float64Array.from(values, (value) => Math.log(value));
  const random = seededRandom(seed);
  const found: { position: number; pValue: number }[] = [];
  const divide = (start: number, end: number) => {
    const cut = significantCut(logs.slice(start, end), random);
    if (cut === null) return;
    found.push({ position: start + cut.position, pValue: cut.pValue });
    divide(start, start + cut.position);
    divide(start + cut.position, end);
  };
  divide(0, logs.length);
  found.sort((a, b) => a.position - b.position);
  return found.map(({ position, pValue }, index) => {
    const start = found[index - 1]?.position ?? 0;
    const end = found[index + 1]?.position ?? values.length;
    const relativeChange = median(values.slice(position, end)) / median(values.slice(start, position)) - 1;
    return { position, pValue, relativeChange };
  });
}
