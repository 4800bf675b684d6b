/** The verdict on one comparison alone: nothing to correct for. */
import type { Delta } from '../../src/results/record.ts';
import { comparePairs, type Direction, decide, type Pair } from '../../src/stats/summarize.ts';

export function comparedAlone(pairs: readonly Pair[], direction: Direction): Delta | null {
  const delta = comparePairs(pairs);
  return delta === null ? null : decide(delta, direction, delta.pValue, 1);
}
