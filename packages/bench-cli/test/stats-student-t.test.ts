import { describe, expect, it } from 'vitest';
import { incompleteBeta, studentQuantile, studentUpperTail } from '../src/stats/student-t.ts';

/**
 * Critical values of Student's t: NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2, three
 * decimals as printed there. Columns: degrees of freedom, 0.90, 0.95, 0.975, 0.99, 0.995.
 */
const PUBLISHED: readonly (readonly [number, ...number[]])[] = [
  [1, 3.078, 6.314, 12.706, 31.821, 63.657],
  [2, 1.886, 2.92, 4.303, 6.965, 9.925],
  [3, 1.638, 2.353, 3.182, 4.541, 5.841],
  [4, 1.533, 2.132, 2.776, 3.747, 4.604],
  [5, 1.476, 2.015, 2.571, 3.365, 4.032],
  [9, 1.383, 1.833, 2.262, 2.821, 3.25],
  [19, 1.328, 1.729, 2.093, 2.539, 2.861],
  [30, 1.31, 1.697, 2.042, 2.457, 2.75],
  [100, 1.29, 1.66, 1.984, 2.364, 2.626],
];
const PROBABILITIES = [0.9, 0.95, 0.975, 0.99, 0.995];

describe("Student's t", () => {
  it.each(PUBLISHED)('has the published quantiles for %i degrees of freedom', (degrees, ...values) => {
    const computed = PROBABILITIES.map((probability) =>
      Number(studentQuantile(probability, degrees).toFixed(3)),
    );
    expect(computed).toEqual(values);
  });

  it('agrees with the closed forms for one and two degrees of freedom to twelve digits', () => {
    for (const probability of [0.6, 0.9, 0.975, 0.999]) {
      // Cauchy distribution.
      expect(studentQuantile(probability, 1)).toBeCloseTo(Math.tan(Math.PI * (probability - 0.5)), 9);
      const alpha = 4 * probability * (1 - probability);
      expect(studentQuantile(probability, 2)).toBeCloseTo(2 * (probability - 0.5) * Math.sqrt(2 / alpha), 11);
    }
  });

  it('approaches the normal distribution with many degrees of freedom', () => {
    expect(studentQuantile(0.975, 1e6)).toBeCloseTo(1.959966, 5);
  });

  it('has its median at zero and its tail at one half there', () => {
    expect(studentQuantile(0.5, 7)).toBeCloseTo(0, 12);
    expect(studentUpperTail(0, 7)).toBe(0.5);
  });

  it('refuses probabilities and degrees outside of its range', () => {
    expect(() => studentQuantile(1, 3)).toThrow(RangeError);
    expect(() => studentQuantile(0.2, 3)).toThrow(RangeError);
    expect(() => studentQuantile(0.975, 0)).toThrow(RangeError);
  });

  it('rests on an incomplete beta function with the right symmetry and special values', () => {
    expect(incompleteBeta(1, 1, 0.3)).toBeCloseTo(0.3, 13);
    expect(incompleteBeta(2, 3, 0.4)).toBeCloseTo(0.5248, 12);
    expect(incompleteBeta(2.5, 0.5, 0.7) + incompleteBeta(0.5, 2.5, 0.3)).toBeCloseTo(1, 12);
    expect([incompleteBeta(2, 2, 0), incompleteBeta(2, 2, 1)]).toEqual([0, 1]);
  });
});
