/** `--until verdict`: a run is looked at repeatedly, and still names a winner among equal servers in at most 5 % of runs. */
import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { comparedEstimand, entryOf } from '../src/history/entry.ts';
import { decidedByGate, gate } from '../src/history/gate.ts';
import { selectCases } from '../src/history/select.ts';
import { findings } from '../src/report/findings.ts';
import { summarizeRun } from '../src/stats/cases.ts';
import { compareFamily } from '../src/stats/comparisons.ts';
import { testPaired } from '../src/stats/sample-test.ts';
import {
  assessView,
  comparisonView,
  LOOK_LEVEL,
  looksOf,
  MAX_LOOKS,
  roundsToLook,
} from '../src/stats/until.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { type Noise, noise, shareOf } from './support/simulate.ts';

const RUNS = 1000;
/** Thousands of rank intervals of thirty pairs. */
const SIMULATION = 120_000;

/** Ratios of equal servers, one round after the other. */
function ratios(n: number, draw: () => number, truth = 1): number[] {
  return Array.from({ length: n }, () => truth * Math.exp(0.05 * (draw() - draw())));
}

describe('the looks at a run', () => {
  it('are at most ten, from the fourth round on, further apart the later, and end with the last round', () => {
    expect(looksOf(3, 30)).toEqual([4, 5, 6, 8, 10, 12, 15, 19, 24, 30]);
    expect(looksOf(8, 12).length).toBeLessThanOrEqual(MAX_LOOKS);
    expect(looksOf(1000, 1000)).toEqual([1000]);
    expect(looksOf(5, 3)).toEqual([3]);
    // A resumed run is looked at when it would have been.
    expect([2, 3, 4, 5, 7, 11, 12, 30].map((begun) => roundsToLook(begun, 3, 30))).toEqual([
      ...[3, 3, 4, 5, 8, 12, 12, 30],
    ]);
  });

  it.each<keyof Noise>(['normal', 'heavy', 'skewed', 'disturbed'])(
    'with %s noise, find a difference between equal servers in at most 5 %% of runs',
    (shape) => {
      const draw = noise(`looks ${shape}`)[shape];
      const looks = looksOf(3, 30);
      const share = shareOf(RUNS, () => {
        const all = ratios(30, draw);
        return looks.some((n) => {
          const test = testPaired(all.slice(0, n), { level: LOOK_LEVEL });
          return test !== null && (test.low > 1 || test.high < 1);
        });
      });
      expect(share).toBeLessThanOrEqual(0.05);
    },
    SIMULATION,
  );

  it(
    'at the usual level would find one in far more: that is what the correction is for',
    () => {
      const { normal } = noise('uncorrected');
      const share = shareOf(RUNS, () => {
        const all = ratios(30, normal);
        return looksOf(3, 30).some((n) => (testPaired(all.slice(0, n))?.pValue ?? 1) <= 0.05);
      });
      expect(share).toBeGreaterThan(0.12);
    },
    SIMULATION,
  );

  it.each([
    ['the difference is exactly the tolerated one', 1 / 1.05],
    ['there is none', 1],
  ])(
    'let a gate of 5 %% alarm in at most 5 %% of runs where %s',
    (_, truth) => {
      const { disturbed } = noise(`gate ${truth}`);
      const looks = looksOf(3, 30);
      const share = shareOf(RUNS, () => {
        const all = ratios(30, disturbed, truth);
        // As a gate goes on: until the whole interval is on one side of the tolerance.
        const last = looks.flatMap((n) => testPaired(all.slice(0, n), { level: LOOK_LEVEL }) ?? []);
        const decided = last.find(({ low, high }) => 1 - high > 0.05 || 1 - low <= 0.05);
        return decided !== undefined && 1 - decided.high > 0.05;
      });
      expect(share).toBeLessThanOrEqual(0.05);
    },
    SIMULATION,
  );

  it(
    'find a real difference of a fifth in a few rounds',
    () => {
      const { normal } = noise('power');
      const rounds = Array.from({ length: 200 }, () => {
        const all = ratios(30, normal, 1.2);
        const found = looksOf(3, 30).find(
          (n) => (testPaired(all.slice(0, n), { level: LOOK_LEVEL })?.pValue ?? 1) <= LOOK_LEVEL,
        );
        return found ?? Infinity;
      });
      expect(rounds.toSorted((a, b) => a - b)[100]).toBeLessThanOrEqual(6);
    },
    SIMULATION,
  );
});

describe('a verdict at the level of a look', () => {
  const trials = (values: readonly number[]) => values.map((qps) => ({ qps }));
  const record = makeRecord({
    cases: [
      { server: 'coredns', trials: trials([100, 101, 99, 100]) },
      { server: 'dinodns', trials: trials([110, 109, 111, 112]) },
      { server: 'knot', trials: trials([100, 104, 95, 103]) },
    ],
  });
  const planned = record.cases.map((item) => ({ ...item, plannedTrials: 4 }));
  const progress = {
    goal: 'verdict',
    width: 0.06,
    rounds: 4,
    mostRounds: 30,
    mostSeconds: null,
    spentSeconds: 60,
  } as const;

  it('is never stronger than that of a run with one look', () => {
    const { cases } = summarizeRun(planned, record.trials, 'coredns', { level: LOOK_LEVEL });
    for (const [index, item] of cases.entries()) {
      const single = record.cases[index]?.comparison?.qps;
      if (single === undefined) continue;
      const delta = item.comparison?.qps;
      expect(delta?.low).toBeLessThan(single.low ?? -1);
      expect(delta?.high).toBeGreaterThan(single.high ?? 1);
      expect(delta?.adjustedPValue).toBeCloseTo(
        Math.min(1, ((single.adjustedPValue ?? 1) * 0.05) / LOOK_LEVEL),
        9,
      );
    }
  });

  it('ends the run when every comparison has one or is narrow enough', () => {
    const { cases } = summarizeRun(planned, record.trials, 'coredns', { level: LOOK_LEVEL });
    const open = assessView(comparisonView(cases), progress);
    expect(open).toMatchObject({
      reached: false,
      limit: null,
      widestOf: { caseKey: expect.stringContaining('knot') },
    });
    expect(assessView(comparisonView(cases), { ...progress, width: 1 }).reached).toBe(true);
    expect(assessView(comparisonView(cases), { ...progress, mostRounds: 4 }).limit).toBe('rounds');
    const decided = cases.filter(({ server }) => server !== 'knot');
    expect(assessView(comparisonView(decided), progress)).toMatchObject({
      goal: 'verdict',
      reached: true,
      widest: null,
    });
  });

  it('ends a run for a gate when each comparison is shown to be worse than tolerated, or not to be', () => {
    const { cases } = summarizeRun(planned, record.trials, 'coredns', { level: LOOK_LEVEL });
    const knot = cases.filter(({ server }) => server !== 'dinodns');
    const reached = (tolerance: number, among = cases, baseline = 'coredns') => {
      const entry = entryOf({ ...record, cases: [...among], baseline });
      const view = decidedByGate(comparisonView(among), entry, tolerance, 'auto');
      return assessView(view, { ...progress, goal: 'gate', width: tolerance });
    };
    // Knot's 100 QPS scatter by several percent around CoreDNS's: undecided at 3 %, surely not 90 % worse.
    expect(reached(0.03)).toMatchObject({ reached: false, widestOf: { caseKey: knot[1]?.key } });
    expect(reached(0.9).reached).toBe(true);
    // With DinoDNS as the baseline, CoreDNS is shown to be more than 3 % worse.
    const { cases: turned } = summarizeRun(planned.slice(0, 2), record.trials, 'dinodns', {
      level: LOOK_LEVEL,
    });
    expect(reached(0.03, turned, 'dinodns')).toMatchObject({ goal: 'gate', reached: true, widest: null });
  });

  it.each([
    ['goes on', 'not enough trials', 1],
    ['ends', 'failed', 2],
  ] as const)(
    '%s for a gate that will find that each of two comparisons %s once they are corrected for their number',
    (_, outcome, each) => {
      const slower = [88, 89, 90, 91].flatMap((qps) => new Array<number>(each).fill(qps));
      const found = makeRecord({
        cases: [1, 2].flatMap((tier) => [
          { server: 'coredns', tier, trials: trials(slower.map(() => 100)) },
          { server: 'dinodns', tier, trials: trials(slower) },
        ]),
      });
      const view = decidedByGate(comparisonView(found.cases), entryOf(found), 0.05, 'auto');
      const until = assessView(view, { ...progress, goal: 'gate', width: 0.05 });
      const entry = entryOf({ ...found, until });
      const limits = [{ estimand: comparedEstimand('qps'), maxRegression: 0.05 }];
      const gated = gate(
        selectCases(entry, { server: 'coredns' }),
        selectCases(entry, { server: 'dinodns' }),
        { limits, interval: 'auto', normalize: null },
      );
      // The interval of each alone is beyond the tolerance.
      for (const { low } of gated.cases) expect(low).toBeGreaterThan(0.05);
      expect(gated.cases.map((item) => item.outcome)).toEqual([outcome, outcome]);
      expect(until.reached).toBe(outcome === 'failed');
    },
  );

  it('measures no longer than until the last look that the time allows', () => {
    const { cases } = summarizeRun(planned, record.trials, 'coredns', { level: LOOK_LEVEL });
    // The look after 19 rounds is that after 24, of 44 s each.
    const limitAfter = (rounds: number) =>
      assessView(comparisonView(cases), {
        ...{ ...progress, rounds, spentSeconds: rounds * 44, mostSeconds: 900 },
      }).limit;
    expect([15, 19].map(limitAfter)).toEqual([null, 'time']);
  });

  it('waits for nothing that no number of trials would tell', () => {
    const bounded = { cpuSecondsPerQuery: null, limitedBy: 'loader' } as const;
    const found = makeRecord({
      cases: Object.entries({ coredns: [100, 101, 99, 100], knot: [99, 104, 95, 103] }).map(
        ([server, values]) => ({ server, trials: values.map((qps) => ({ ...bounded, qps })) }),
      ),
    });
    const view = comparisonView(found.cases);
    const until = assessView(view, { ...progress, width: 0.0001 });
    expect(until.reached).toBe(true);
    expect(findings({ ...found, until }).join()).toContain(
      'for each comparison that the servers limited after',
    );
    const decided = decidedByGate(view, entryOf(found), 0.05, 'auto');
    expect(assessView(decided, { ...progress, goal: 'gate', width: 0.05 }).reached).toBe(true);
  });

  it('does not end a run that compares nothing', () => {
    for (const goal of ['verdict', 'gate'] as const)
      expect(assessView(comparisonView(record.cases.slice(0, 1)), { ...progress, goal }).reached).toBe(false);
    expect(compareFamily([], {})).toEqual([]);
  });
});

describe('--until', () => {
  const untilOf = (until: string) => configure({ env: {}, flags: { until } }).until;

  it('takes a width, a verdict, or a verdict with a width', () => {
    expect(untilOf('2%')).toBe(0.02);
    expect(untilOf('verdict')).toEqual({ verdict: 0.06 });
    expect(untilOf('verdict:2%')).toEqual({ verdict: 0.02 });
    expect(untilOf('gate:5%')).toEqual({ gate: 0.05 });
    expect(() => untilOf('verdict:2')).toThrow('a setting is wrong');
    expect(() => untilOf('winner')).toThrow('a setting is wrong');
  });
});
