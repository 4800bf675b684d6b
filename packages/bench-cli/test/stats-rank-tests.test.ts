/**
 * Against published worked examples. Those of Hollander and Wolfe (Nonparametric Statistical Methods, 1973, chapters 3 and
 * 4) and Student's sleep data (Biometrika 6, 1908) are also in the documentation of R, whose figures are given here.
 */
import { describe, expect, it } from 'vitest';
import { holmAdjusted } from '../src/stats/holm.ts';
import { normalUpperTail } from '../src/stats/normal.ts';
import {
  doubledMidranks,
  rankSumTest,
  signedRankTest,
  smallestRankSumP,
  smallestSignedRankP,
} from '../src/stats/rank-tests.ts';
import { minTrialsForRanks, rankSumInterval, testPaired, testUnpaired } from '../src/stats/sample-test.ts';

/** Hamilton depression scale factor of nine patients, before and after therapy. */
const BEFORE = [1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3];
const AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
const DEPRESSION = BEFORE.map((value, index) => value - (AFTER[index] ?? Number.NaN));

/** Permeability of the human chorioamnion at term, and at 12 to 26 weeks. */
const TERM = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
const EARLY = [1.15, 0.88, 0.9, 0.74, 1.21];

/** Additional hours of sleep of ten patients with two drugs. */
const DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
const DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

/** The tests work on logarithms: the examples are their logarithms. */
const exp = (values: readonly number[]) => values.map(Math.exp);
/** So many that no rank test could show anything: Student's t it is. */
const T = { comparisons: 1e9 };

describe("Wilcoxon's signed-rank test", () => {
  it('gives the exact p value of the published example', () => {
    // V = 40, two-sided p = 20 ÷ 512.
    const { pValue, smallestPValue, effect } = signedRankTest(DEPRESSION);
    expect(pValue).toBeCloseTo(0.0390625, 10);
    expect(smallestPValue).toBe(2 / 512);
    // 40 of 45 ranks are positive: (40 − 5) ÷ 45.
    expect(effect).toBeCloseTo(35 / 45, 12);
  });

  it('gives the published interval and estimate of Hodges and Lehmann', () => {
    const test = testPaired(exp(DEPRESSION));
    expect(test?.method).toBe('signed-rank');
    expect(Math.log(test?.ratio ?? 0)).toBeCloseTo(0.46, 3);
    expect(Math.log(test?.low ?? 0)).toBeCloseTo(0.01, 3);
    expect(Math.log(test?.high ?? 0)).toBeCloseTo(0.786, 3);
  });

  it('takes ties at their midranks, exactly, and leaves zeros out', () => {
    expect(doubledMidranks([3, 1, 3, 2])).toEqual([7, 2, 7, 4]);
    // Of ±1, ±1, ±1 all signs alike: 2 of 8 arrangements.
    expect(signedRankTest([1, 1, 1]).pValue).toBe(0.25);
    expect(signedRankTest([1, 1, 1, 0, 0])).toEqual(signedRankTest([1, 1, 1]));
    expect(signedRankTest([0, 0])).toEqual({ pValue: 1, smallestPValue: 1, effect: 0 });
  });

  it('can show nothing with few trials, and says so', () => {
    expect(smallestSignedRankP(3)).toBe(0.25);
    expect(smallestSignedRankP(5)).toBe(0.0625);
    expect(smallestSignedRankP(6)).toBe(0.03125);
    expect(signedRankTest([1, 2, 3]).pValue).toBe(0.25);
  });

  it('passes over to the normal approximation without a jump', () => {
    const differences = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? -1 : 1) * (index + 1));
    const exact = signedRankTest(differences).pValue;
    const approximated = signedRankTest([...differences, 0.5, -0.6]).pValue;
    expect(Math.abs(exact - approximated)).toBeLessThan(0.15 * exact);
  });
});

describe('the rank-sum test', () => {
  it('gives the exact p value of the published example', () => {
    // W = 35; one-sided p = 0.1272, two-sided 0.2544.
    const { pValue, effect } = rankSumTest(TERM, EARLY);
    expect(pValue).toBeCloseTo(0.2544, 4);
    // Cliff's delta is 2 W ÷ (n₁ n₂) − 1.
    expect(effect).toBeCloseTo((2 * 35) / 50 - 1, 12);
  });

  it('gives the interval that belongs to it', () => {
    const interval = rankSumInterval(TERM, EARLY, rankSumTest(TERM, EARLY));
    expect(interval.estimate).toBeCloseTo(0.305, 3);
    expect(interval.low).toBeCloseTo(-0.15, 3);
    expect(interval.high).toBeCloseTo(0.76, 3);
  });

  it('is used for runs of about as many trials only, since it takes both to scatter alike', () => {
    expect(testUnpaired(exp(EARLY), exp(EARLY))?.method).toBe('rank-sum');
    expect(testUnpaired(exp(TERM), exp(EARLY))?.method).toBe('welch-t');
  });

  it('knows the least that so few values can give', () => {
    expect(smallestRankSumP(3, 3)).toBeCloseTo(0.1, 12);
    expect(smallestRankSumP(4, 4)).toBeCloseTo(2 / 70, 12);
    expect(rankSumTest([4, 5, 6], [1, 2, 3])).toMatchObject({ pValue: expect.closeTo(0.1, 10), effect: 1 });
  });
});

describe('the t tests', () => {
  it("give R's figures for Student's sleep data, paired", () => {
    const differences = DRUG_1.map((value, index) => value - (DRUG_2[index] ?? Number.NaN));
    const test = testPaired(exp(differences), T);
    expect(test?.method).toBe('student-t');
    expect(test?.pValue).toBeCloseTo(0.002833, 6);
    expect(Math.log(test?.low ?? 0)).toBeCloseTo(-2.4598858, 6);
    expect(Math.log(test?.high ?? 0)).toBeCloseTo(-0.7001142, 6);
  });

  it("give R's figures for Student's sleep data, by Welch's test", () => {
    const test = testUnpaired(exp(DRUG_1), exp(DRUG_2), T);
    expect(test?.method).toBe('welch-t');
    expect(test?.pValue).toBeCloseTo(0.07939, 5);
    expect(Math.log(test?.low ?? 0)).toBeCloseTo(-3.3654832, 6);
    expect(Math.log(test?.high ?? 0)).toBeCloseTo(0.2054832, 6);
  });

  it('give no interval a width that no trial shows', () => {
    expect(testPaired([1.1, 1.1, 1.1])).toMatchObject({ low: expect.closeTo(1.1, 12), pValue: 0 });
    expect(testPaired([1, 1, 1])).toMatchObject({ low: 1, high: 1, pValue: 1 });
    // Of searches in steps of 5 %: one step apart may be no difference, two steps are one.
    const stepsApart = (steps: number) =>
      testPaired(Array<number>(3).fill(1.05 ** steps), { resolution: 0.05 });
    expect(stepsApart(1)).toMatchObject({ low: expect.closeTo(1, 3), pValue: expect.closeTo(0.05, 3) });
    expect(stepsApart(0.9)?.low).toBeLessThan(1);
    expect(stepsApart(2)?.low).toBeCloseTo(1.05, 3);
    expect(stepsApart(2)?.pValue).toBeLessThan(0.001);
    // Two that end at the same step say nothing of how searches scatter.
    const searches = { resolution: 0.05 };
    expect(testPaired([1.2, 1.2], searches)).toBeNull();
    expect(testUnpaired([1.2, 1.2], [1, 1, 1], searches)).toBeNull();
    expect(testUnpaired([1.2, 1.2, 1.2], [1, 1, 1], searches)?.low).toBeCloseTo(1.2 / 1.05, 3);
  });
});

describe('the method', () => {
  it('is the rank test exactly where it could show something in a family of that size', () => {
    const ratios = (n: number) => Array.from({ length: n }, (_, index) => 1.1 + index / 100);
    const methods = (comparisons: number) =>
      [5, 6, 7, 8, 9].map((n) => testPaired(ratios(n), { comparisons })?.method.slice(0, 7));
    expect(methods(1)).toEqual(['student', 'signed-', 'signed-', 'signed-', 'signed-']);
    expect(methods(2)).toEqual(['student', 'student', 'signed-', 'signed-', 'signed-']);
    expect(methods(12)).toEqual(['student', 'student', 'student', 'student', 'signed-']);
    expect([1, 2, 4, 12].map((comparisons) => minTrialsForRanks(comparisons))).toEqual([6, 7, 8, 9]);
  });

  it('is the bootstrap only where asked for, and from eight trials on', () => {
    const ratios = Array.from({ length: 8 }, (_, index) => 1.1 + index / 100);
    const options = { interval: 'bootstrap', seed: 'run' } as const;
    expect(testPaired(ratios, options)?.method).toBe('bootstrap-t');
    expect(testPaired(ratios.slice(1), options)?.method).toBe('signed-rank');
    expect(testUnpaired(ratios, ratios, options)?.method).toBe('bootstrap-t');
    expect(testPaired(ratios, options)).toEqual(testPaired(ratios, options));
    expect(testPaired(ratios, { ...options, seed: 'other' })).not.toEqual(testPaired(ratios, options));
  });

  it('has nothing to say of one trial, or of zeros', () => {
    expect(testPaired([1.2])).toBeNull();
    expect(testPaired([1.2, 0])).toBeNull();
    expect(testUnpaired([1.2, 1.3], [1])).toBeNull();
  });

  it.each([1, 1e9])('never lets interval and p value contradict each other (family of %d)', (comparisons) => {
    for (let run = 0; run < 300; run++) {
      const n = 3 + (run % 20);
      const value = (index: number) => Math.exp(Math.sin(run * 7919 + index * 104_729) * 0.3 + 0.05);
      const ratios = Array.from({ length: n }, (_, index) => value(index));
      const others = Array.from({ length: n + 1 }, (_, index) => value(index + 50));
      for (const test of [
        testPaired(ratios, { comparisons }),
        testUnpaired(ratios, others, { comparisons }),
      ]) {
        if (test === null) throw new Error('no test');
        expect(test.low > 1 || test.high < 1, `${test.method} of ${n}`).toBe(test.pValue <= 0.05);
      }
    }
  });
});

describe("Holm's correction", () => {
  it('gives the adjusted p values of the usual example', () => {
    // As p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") of R.
    const adjusted = holmAdjusted([0.01, 0.04, 0.03, 0.005]);
    for (const [index, expected] of [0.03, 0.06, 0.06, 0.02].entries()) {
      expect(adjusted[index]).toBeCloseTo(expected, 12);
    }
    expect(holmAdjusted([])).toEqual([]);
    expect(holmAdjusted([0.9, 0.8])).toEqual([1, 1]);
  });
});

describe('the normal distribution', () => {
  it('has the tabulated upper tails', () => {
    expect(normalUpperTail(0)).toBe(0.5);
    expect(normalUpperTail(1.959963984540054)).toBeCloseTo(0.025, 12);
    expect(normalUpperTail(-1)).toBeCloseTo(0.8413447460685429, 12);
    expect(normalUpperTail(3)).toBeCloseTo(0.0013498980316301, 14);
    expect(normalUpperTail(6) / 9.865876450377018e-10).toBeCloseTo(1, 9);
  });
});
