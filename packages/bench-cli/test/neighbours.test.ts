/** How much of the scatter others explain. */
import { describe, expect, it } from 'vitest';
import { explainedShare } from '../src/stats/neighbours.ts';
import { noise } from './support/simulate.ts';

describe('the share of the scatter that others explain', () => {
  const points = (slope: number, scatter: number) => {
    const { normal } = noise(`neighbours ${slope} ${scatter}`);
    return ['a', 'b'].flatMap((group, level) =>
      Array.from({ length: 500 }, () => {
        const taken = Math.abs(normal());
        return { group, taken, log: 10 * level - slope * taken + scatter * normal() };
      }),
    );
  };

  it('is all of it where nothing else varies, and none where they do not matter', () => {
    expect(explainedShare(points(0.5, 0))).toBeCloseTo(1, 9);
    expect(explainedShare(points(0, 0.1))).toBeLessThan(0.02);
    expect(explainedShare([{ group: 'a', taken: 1, log: 2 }])).toBe(0);
  });

  it('does not count differences between servers as scatter', () => {
    // The variance of |normal| is 1 − 2 ÷ π.
    const variance = 0.25 * (1 - 2 / Math.PI);
    expect(explainedShare(points(0.5, 0.3))).toBeCloseTo(variance / (variance + 0.09), 1);
  });
});
