/** What a comparison without a verdict could have shown. Pure. */
import type { Delta } from '../results/record.ts';

/**
 * The smallest relative difference that these trials could have shown: half the width of the interval, on the scale of
 * logarithms on which it was made. An interval of that width around a smaller difference contains zero. Null without an
 * interval. A true difference of exactly this size would have shown in about half of such runs.
 */
export function smallestShown({ low, high }: Pick<Delta, 'low' | 'high'>): number | null {
  if (low === null || high === null || low <= -1) return null;
  return Math.sqrt((1 + high) / (1 + low)) - 1;
}
