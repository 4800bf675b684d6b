import { describe, expect, it } from 'vitest';
import {
  deltaFigures,
  deltaOf,
  relativeDelta,
  smallestShown,
  symmetricDelta,
  symmetricFromRelative,
} from '../src/stats/deltas.ts';
import { median, orderStatisticInterval, studentInterval } from '../src/stats/intervals.ts';
import { DIRECTIONS } from '../src/stats/metrics.ts';
import { summarize } from '../src/stats/summarize.ts';
import { comparedAlone } from './support/compare-pairs.ts';

const { qps: RATE, latencySeconds: LATENCY, memoryBytes: COST } = DIRECTIONS;
const pairs = (values: readonly number[], baseline: readonly number[]) =>
  values.map((value, index) => ({ value, baseline: baseline[index] ?? Number.NaN }));

describe('median', () => {
  it('is the middle value, or the mean of the two in the middle, whatever the order', () => {
    expect(median([3])).toBe(3);
    expect(median([10, 1, 3])).toBe(3);
    expect(median([10, 1, 3, 4])).toBe(3.5);
  });

  it('does not exist for no values', () => {
    expect(() => median([])).toThrow(RangeError);
  });

  it('leaves the list as it was', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('intervals', () => {
  it("Student's t gives the textbook interval of three values", () => {
    // Mean 2, s 1, t(0.975; 2) = 4.302653: 2 ± 4.302653 ÷ √3.
    const { low, high } = studentInterval([1, 2, 3]);
    expect(low).toBeCloseTo(-0.484138, 6);
    expect(high).toBeCloseTo(4.484138, 6);
  });

  it('order statistics interpolate between the values whose coverage brackets 95 %', () => {
    // n = 10: the 2nd and 9th values cover 97.9 %, the 3rd and 8th 89.1 %. With the formula of Hettmansperger and
    // Sheather the share is I = (0.97852 − 0.95) ÷ (0.97852 − 0.89063) = 0.32444 and λ = 8 I ÷ (2 + 6 I) = 0.65765.
    const { low, high } = orderStatisticInterval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(low).toBeCloseTo(2.6577, 3);
    expect(high).toBeCloseTo(8.3423, 3);
  });

  it('order statistics refuse fewer than six values, which cannot reach 95 %', () => {
    expect(() => orderStatisticInterval([1, 2, 3, 4, 5])).toThrow(RangeError);
  });

  it('thousands of values take no time and no overflow', () => {
    const values = Array.from({ length: 50_000 }, (_, index) => index);
    const { low, high } = orderStatisticInterval(values);
    // 25,000 ± 1.96 · √50,000 ÷ 2
    expect(low).toBeCloseTo(24_780, -1);
    expect(high).toBeCloseTo(25_219, -1);
  });
});

describe('summarize', () => {
  it('has no interval for a single value', () => {
    expect(summarize([5])).toEqual({ median: 5, low: null, high: null, n: 1 });
  });

  it('has an interval without width for equal values, also in their last digit', () => {
    expect(summarize([0.1, 0.1, 0.1])).toEqual({ median: 0.1, low: 0.1, high: 0.1, n: 3 });
    expect(summarize([0, 0, 0])).toEqual({ median: 0, low: 0, high: 0, n: 3 });
  });

  it('never reaches below zero nor above the highest possible value', () => {
    const { low, high } = summarize([0, 0.001, 0.9], { highest: 1 });
    expect(low).toBe(0);
    expect(high).toBe(1);
  });

  it('always holds the median', () => {
    for (const values of [
      [1, 1, 1, 1, 9],
      [1, 9],
      [0, 0, 0, 5],
    ]) {
      const { median: centre, low, high } = summarize(values);
      expect(low).toBeLessThanOrEqual(centre);
      expect(high).toBeGreaterThanOrEqual(centre);
    }
  });

  it('gives the same for the same values in any order', () => {
    const values = [5, 3, 8, 1, 9, 2, 7];
    expect(summarize(values)).toEqual(summarize(values.toReversed()));
  });
});

describe('a comparison', () => {
  it('says faster for a higher rate and slower for a longer latency', () => {
    const higher = pairs([200, 202, 199], [100, 101, 100]);
    expect(comparedAlone(higher, RATE)?.verdict).toBe('faster');
    expect(comparedAlone(higher, LATENCY)?.verdict).toBe('slower');
    expect(comparedAlone(higher, COST)?.verdict).toBe('more');
    const lower = pairs([100, 101, 100], [200, 202, 199]);
    expect(comparedAlone(lower, RATE)?.verdict).toBe('slower');
    expect(comparedAlone(lower, COST)?.verdict).toBe('less');
  });

  it('shows no difference where the interval contains zero, however large the difference of the medians', () => {
    const delta = comparedAlone(pairs([100, 200, 300], [100, 100, 100]), RATE);
    expect(delta?.relative).toBe(1);
    expect(delta?.low).toBeLessThan(0);
    expect(delta?.verdict).toBe('no difference shown');
  });

  it('shows no difference between the same figures', () => {
    const delta = comparedAlone(pairs([100, 110, 90], [100, 110, 90]), RATE);
    expect(delta).toMatchObject({ relative: 0, low: 0, high: 0, verdict: 'no difference shown' });
  });

  it('sees through a drift that both servers share', () => {
    const delta = comparedAlone(pairs([110, 221, 329], [100, 200, 300]), RATE);
    expect(delta?.verdict).toBe('faster');
  });

  it('has no interval and no verdict for one pair', () => {
    expect(comparedAlone(pairs([200], [100]), RATE)).toMatchObject({
      relative: 1,
      symmetric: 2 / 3,
      low: null,
      high: null,
      n: 1,
      verdict: 'no difference shown',
    });
  });

  it('compares with nothing where the baseline is zero or there is no pair', () => {
    expect(comparedAlone(pairs([1, 2, 3], [0, 1, 1]), COST)).toBeNull();
    expect(comparedAlone([], COST)).toBeNull();
  });

  it('takes values of zero, and never says less than −100 %', () => {
    const delta = comparedAlone(pairs([0, 0, 1], [10, 10, 10]), COST);
    expect(delta?.relative).toBe(-1);
    expect(delta?.low).toBe(-1);
    expect(Number.isFinite(delta?.high)).toBe(true);
  });

  it('of zeros has a verdict only where the test of the differences confirms it, and it can be corrected', () => {
    const three = comparedAlone(pairs([0, 0.2, 0.2], [1, 1, 1]), COST);
    expect(three?.high).toBeLessThan(0);
    expect(three).toMatchObject({ method: 'median', pValue: 0.25, undecided: 'ties' });
    const six = comparedAlone(pairs([0, 0.2, 0.2, 0, 0.2, 0.2], [1, 1, 1, 1, 1, 1]), COST);
    expect(six).toMatchObject({ method: 'median', pValue: 0.03125, verdict: 'less' });
  });

  it('widens the interval to hold the delta of the medians', () => {
    const base = [100, 101, 102, 103, 200, 201, 202, 203, 204];
    const values = [101, 102, 103, 104, 150, 203, 204, 205, 206];
    const delta = comparedAlone(pairs(values, base), RATE);
    expect(delta?.low).toBeLessThanOrEqual(delta?.relative ?? Number.NaN);
    expect(delta?.relative).toBe(-0.25);
    expect(delta?.verdict).toBe('no difference shown');
  });
});

describe('deltas', () => {
  it('follow the two definitions, with the published example', () => {
    expect((relativeDelta(18_584, 20_855) * 100).toFixed(2)).toBe('-10.89');
    expect((symmetricDelta(18_584, 20_855) * 100).toFixed(2)).toBe('-11.52');
    expect((relativeDelta(0.005314, 0.004768) * 100).toFixed(2)).toBe('11.45');
    expect((symmetricDelta(0.005314, 0.004768) * 100).toFixed(2)).toBe('10.83');
  });

  it('convert into each other, ends of intervals included', () => {
    for (const value of [0, 1, 50, 100, 400]) {
      expect(symmetricFromRelative(relativeDelta(value, 100))).toBeCloseTo(symmetricDelta(value, 100), 12);
    }
    const delta = { relative: 1, symmetric: 2 / 3, low: 0, high: 3, n: 3, verdict: 'faster' } as const;
    expect(deltaFigures(delta, 'symmetric')).toEqual({ value: 2 / 3, low: 0, high: 1.2 });
    expect(deltaFigures(delta, 'relative')).toEqual({ value: 1, low: 0, high: 3 });
    expect(deltaFigures({ ...delta, low: null, high: null }, 'symmetric').low).toBeNull();
  });

  it('do not divide by a baseline of zero', () => {
    expect(deltaOf(1, 0, 'relative')).toBeNull();
    expect(deltaOf(1, 0, 'symmetric')).toBeNull();
    expect(deltaOf(3, 1, 'relative')).toBe(2);
    expect(deltaOf(3, 1, 'symmetric')).toBe(1);
  });
});

describe('the smallest difference that a comparison could have shown', () => {
  it('is half the width of its interval as a ratio', () => {
    // From 1 ÷ 1.21 to 1.21 is 1.21 on either side of 1; from 1 to 1.21, 1.1 on either side of 1.1.
    expect(smallestShown({ low: 1 / 1.21 - 1, high: 0.21 })).toBeCloseTo(0.21, 12);
    expect(smallestShown({ low: 0, high: 0.21 })).toBeCloseTo(0.1, 12);
  });

  it('is unknown without an interval', () => {
    expect(smallestShown({ low: null, high: null })).toBeNull();
    expect(smallestShown({ low: -1, high: 0.5 })).toBeNull();
  });
});
