/** What happens over time: change points, steady state, drift, outliers. Against published examples and a known truth. */
import { describe, expect, it } from 'vitest';
import type { OkTrial } from '../src/results/record.ts';
import { changePoints } from '../src/stats/change-points.ts';
import { examineDrift, trendOf } from '../src/stats/drift.ts';
import { outlierPositions } from '../src/stats/outliers.ts';
import { examineSteadyState, wholeIntervals } from '../src/stats/steady-state.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { noise, shareOf } from './support/simulate.ts';

/**
 * Annual flow of the Nile at Aswan, 1871 to 1970, in 10⁸ m³. G. W. Cobb: The problem of the Nile: conditional solution to a
 * changepoint problem. Biometrika 65 (1978), 243–251: the level falls after 1898.
 */
const NILE = [
  1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958,
  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020,
  1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040,
  759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
  744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
];

describe('change points', () => {
  it('finds the one of the Nile where the literature has it', () => {
    const [first, ...others] = changePoints(NILE, 'nile');
    expect(others).toEqual([]);
    expect(first?.position).toBe(1899 - 1871);
    // Of the medians 1130 and 842.5; the means fall from 1098 to 850.
    expect(first?.relativeChange).toBeCloseTo(-0.254, 3);
    expect(first?.pValue).toBe(0.001);
  });

  it('finds several, in order, and the same every time', () => {
    const { normal } = noise('levels');
    const values = [100, 130, 90].flatMap((level) =>
      Array.from({ length: 12 }, () => level * Math.exp(0.02 * normal())),
    );
    const found = changePoints(values, 'seed');
    expect(found.map(({ position }) => position)).toEqual([12, 24]);
    expect(changePoints(values, 'seed')).toEqual(found);
  });

  it('finds one in at most about 5 % of series that have none', () => {
    const { normal } = noise('no change');
    const share = shareOf(600, () => {
      const values = Array.from({ length: 12 }, () => Math.exp(0.05 * normal()));
      return changePoints(values, String(values[0])).length > 0;
    });
    expect(share).toBeLessThanOrEqual(0.05 + 3 * Math.sqrt((0.05 * 0.95) / 600));
    expect(share).toBeGreaterThan(0.01);
  });

  it('finds none in what is constant or too short', () => {
    expect(changePoints([5, 5, 5, 5, 5, 5, 5], 's')).toEqual([]);
    expect(changePoints([1, 1, 9, 9, 9], 's')).toEqual([]);
    expect(changePoints([], 's')).toEqual([]);
  });
});

describe('steady state', () => {
  const intervals = (rates: readonly number[]) => rates.map((qps, index) => ({ atSeconds: index + 1, qps }));
  const around = (level: number, count: number, seed: string) => {
    const { normal } = noise(seed);
    return Array.from({ length: count }, () => level * Math.exp(0.01 * normal()));
  };

  it('is not spoilt by what a loader does in the milliseconds after the last whole second', () => {
    const rates = intervals(around(1000, 10, 'steady'));
    expect(examineSteadyState([...rates, { atSeconds: 10.004, qps: 0 }], 'key')).toEqual(
      examineSteadyState(rates, 'key'),
    );
  });

  it('is examined in all intervals, though a loader came late to one of them', () => {
    // The fifth of twelve quarters of a second lasted 0.55 s, and so took the place of two.
    const ends = [0.25, 0.5, 0.75, 1, 1.55, 1.75, 2, 2.25, 2.5, 2.75, 3];
    const late = ends.map((atSeconds) => ({ atSeconds, qps: 1000 }));
    expect(wholeIntervals(late)).toEqual(late);
    expect(wholeIntervals([...late, { atSeconds: 3.02, qps: 0 }])).toEqual(late);
    expect(wholeIntervals([])).toEqual([]);
  });

  it('is there from the beginning where throughput keeps one level', () => {
    expect(examineSteadyState(intervals(around(1000, 10, 'steady')), 'key')).toMatchObject({
      settled: true,
      settledAfterSeconds: 0,
    });
  });

  it('comes after a change in the first half', () => {
    const rates = [...around(600, 4, 'slow'), ...around(1000, 8, 'fast')];
    const state = examineSteadyState(intervals(rates), 'key');
    expect(state).toMatchObject({ settled: true, settledAfterSeconds: 4 });
    expect(state?.reason).toMatch(/^throughput rose by 6\d\.\d % after 4 s$/);
  });

  it('never comes where the level still changes in the second half, or a slope goes on', () => {
    const late = [...around(1000, 8, 'first'), ...around(700, 4, 'then')];
    expect(examineSteadyState(intervals(late), 'key')).toMatchObject({
      settled: false,
      settledAfterSeconds: null,
      reason: expect.stringContaining('fell by'),
    });
    const slope = Array.from({ length: 12 }, (_, index) => 500 + 50 * index);
    expect(examineSteadyState(intervals(slope), 'key')?.settled).toBe(false);
    expect(examineSteadyState(intervals([...around(1000, 8, 'first'), 0]), 'key')?.settled).toBe(false);
  });

  it('does not mind changes that do not matter, and cannot tell from a few seconds', () => {
    const rates = [...around(1000, 6, 'a'), ...around(1030, 6, 'b')];
    expect(examineSteadyState(intervals(rates), 'key')).toMatchObject({
      settled: true,
      settledAfterSeconds: 0,
    });
    expect(examineSteadyState(intervals([1, 2, 3, 4, 5]), 'key')).toBeNull();
  });
});

describe('drift', () => {
  it("has Mann's p, by Kendall's score, and Sen's slope for a line", () => {
    const trend = trendOf(Array.from({ length: 10 }, (_, time) => ({ time, value: 2 * time + 1 })));
    // S = 45; variance 10 · 9 · 25 ÷ 18 = 125; z = 44 ÷ √125.
    expect(trend?.slope).toBeCloseTo(2, 12);
    expect(trend?.pValue).toBeCloseTo(8.303e-5, 7);
  });

  it("gives the slope of Sen's published example", () => {
    // The example of P. K. Sen (1968): the estimate is 4.
    const times = [1, 2, 3, 4, 10, 12, 18];
    const values = [9, 15, 19, 20, 45, 55, 78];
    expect(trendOf(times.map((time, index) => ({ time, value: values[index] ?? 0 })))?.slope).toBe(4);
  });

  it('is found over a run where all servers slow down, and only there', () => {
    const { normal } = noise('drift');
    const trials = (factor: number): OkTrial[] => {
      const record = makeRecord({
        cases: ['coredns', 'dinodns'].map((server, index) => ({
          server,
          trials: Array.from({ length: 12 }, (_, round) => ({
            qps: (index + 1) * 1000 * factor ** (round / 11) * Math.exp(0.01 * normal()),
          })),
        })),
      });
      return record.trials.flatMap((trial) =>
        trial.status === 'ok'
          ? [{ ...trial, startedAt: new Date(Date.UTC(2026, 10, 21) + trial.order * 15_000).toISOString() }]
          : [],
      );
    };
    const drift = examineDrift(trials(0.85))?.find(({ metric }) => metric === 'qps');
    expect(drift).toMatchObject({ verdict: 'drift' });
    expect(drift?.relativeChange).toBeCloseTo(-0.15, 1);
    expect(drift?.low).toBeLessThan(-0.13);
    expect(drift?.high).toBeGreaterThan(-0.17);
    expect(examineDrift(trials(1))?.find(({ metric }) => metric === 'qps')?.verdict).toBe('no drift shown');
    expect(examineDrift(trials(0.85).slice(0, 4))).toBeNull();
  });

  it('is called in at most 5 % of runs without one', () => {
    const { normal } = noise('no drift');
    const share = shareOf(2000, () => {
      const points = Array.from({ length: 12 }, (_, time) => ({ time, value: normal() }));
      return (trendOf(points)?.pValue ?? 1) <= 0.05;
    });
    expect(share).toBeLessThanOrEqual(0.05 + 0.0146);
    expect(share).toBeGreaterThan(0.02);
  });
});

describe('outliers', () => {
  it('are those with a modified z score above 3.5, as Iglewicz and Hoaglin have it', () => {
    const values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3].map(Math.exp);
    // Median 2.45, median absolute deviation 0.2: 0.6745 · 5.75 ÷ 0.2 = 19.4.
    expect(outlierPositions(values)).toEqual([8, 9]);
  });

  it('are not looked for among few values, and not found among equal ones', () => {
    expect(outlierPositions([1, 1, 1, 1, 9])).toEqual([]);
    expect(outlierPositions([1, 1, 1, 1, 1, 9])).toEqual([]);
  });
});
