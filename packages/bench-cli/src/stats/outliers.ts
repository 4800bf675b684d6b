/**
 * Trials far from the others of their case. They are marked, but count like all others: dropping them would make
 * every interval too narrow.
 *
 * The modified z score, 0.6745 · distance from the median ÷ median absolute deviation, above 3.5:
 * B. Iglewicz, D. C. Hoaglin: How to Detect and Handle Outliers. ASQC Basic References in Quality Control 16 (1993).
 */
import { median } from './intervals.ts';

const LIMIT = 3.5;
const NORMAL_QUARTILE = 0.6745;

/** With fewer trials, the deviation of the others says too little about what is far. */
export const MIN_FOR_OUTLIERS = 6;

/** Positions of the outliers among `values`, all above zero. None for fewer than `MIN_FOR_OUTLIERS`. */
export function outlierPositions(values: readonly number[]): number[] {
  if (values.length < MIN_FOR_OUTLIERS || !values.every((value) => value > 0)) return [];
  const logs = values.map(Math.log);
  const centre = median(logs);
  const distances = logs.map((value) => Math.abs(value - centre));
  const deviation = median(distances);
  if (deviation === 0) return [];
  return distances.flatMap((distance, position) =>
    (NORMAL_QUARTILE * distance) / deviation > LIMIT ? [position] : [],
  );
}
