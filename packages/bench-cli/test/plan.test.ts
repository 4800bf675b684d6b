import { describe, expect, it } from 'vitest';
import { configure } from '../src/config/configuration.ts';
import { allowancesOf, isContended, planRun, withRounds } from '../src/plan/plan.ts';
import { renderPlan } from '../src/plan/render.ts';

const plan = (flags: Record<string, string>, cpus = 8) => planRun(configure({ env: {}, flags }), cpus);

describe('planRun', () => {
  it('interleaves: every second round runs backwards, and the next pair of rounds begins with the next', () => {
    const { trials } = plan({ servers: 'coredns,dinodns,knot', trials: '4' });
    expect(trials.map((trial) => trial.case.server).join(' ')).toBe(
      'coredns dinodns knot knot dinodns coredns dinodns knot coredns coredns knot dinodns',
    );
    expect(trials.map((trial) => trial.order)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('is balanced: over twice as many rounds as servers each stands equally often in every place', () => {
    const { trials } = plan({ servers: 'coredns,dinodns,knot', trials: '6' });
    for (const server of ['coredns', 'dinodns', 'knot']) {
      const places = trials.filter((trial) => trial.case.server === server).map(({ order }) => order % 3);
      expect(places.toSorted()).toEqual([0, 0, 1, 1, 2, 2]);
    }
    // A linear drift adds the same to each of them, already after two rounds.
    const sums = ['coredns', 'dinodns', 'knot'].map((server) =>
      trials
        .filter(({ round, case: { server: name } }) => round < 2 && name === server)
        .reduce((sum, { order }) => sum + order, 0),
    );
    expect(new Set(sums).size).toBe(1);
  });

  it('measures the baseline twice with --aa, the twin under a key of its own', () => {
    const { cases } = plan({ servers: 'coredns,dinodns', trials: '2', aa: 'true' });
    expect(cases.map(({ key, server, aa }) => [key, server, aa])).toEqual([
      ['coredns/tier=1/single/half/udp', 'coredns', false],
      ['dinodns/tier=1/single/half/udp', 'dinodns', false],
      ['coredns(aa)/tier=1/single/half/udp', 'coredns', true],
    ]);
  });

  it('grows by whole rounds without moving what is planned already', () => {
    const three = plan({ servers: 'coredns,dinodns,knot', trials: '3' });
    const five = withRounds(three, 5);
    expect(five.trials.slice(0, 9).map(({ key, order }) => [key, order])).toEqual(
      three.trials.map(({ key, order }) => [key, order]),
    );
    expect(five.cases.map(({ plannedTrials }) => plannedTrials)).toEqual([5, 5, 5]);
    expect(five.estimatedSeconds).toBeCloseTo((three.estimatedSeconds * 5) / 3, 9);
  });

  it('keeps the servers of one tier and mode next to each other', () => {
    const { trials } = plan({ servers: 'coredns,dinodns', tier: '1,2', mode: 'both', trials: '1' });
    expect(trials.map(({ case: { tier, mode, server } }) => `${tier}${mode[0]}:${server}`)).toEqual([
      '1s:coredns',
      '1s:dinodns',
      '1m:coredns',
      '1m:dinodns',
      '2s:coredns',
      '2s:dinodns',
      '2m:coredns',
      '2m:dinodns',
    ]);
  });

  it('gives every trial a key of its own by which a run resumes', () => {
    const { trials } = plan({ tier: '0.5,1', mode: 'both', trials: '4' });
    expect(new Set(trials.map(({ key }) => key)).size).toBe(3 * 2 * 2 * 4);
    expect(trials[0]?.key).toBe('coredns/tier=0.5/single/half/udp#0');
  });

  it('estimates warm-up, measured time and overhead of every trial', () => {
    expect(
      plan({ servers: 'coredns', trials: '2', duration: '10', warmup: '2' }).estimatedSeconds,
    ).toBeCloseTo(2 * (2 + 10 + 0.6), 9);
  });
});

describe('allowancesOf', () => {
  it.each([
    [1, 'single', [1]],
    [2, 'single', [1, 1]],
    [0.5, 'single', [0.5]],
    [1.5, 'single', [0.75, 0.75]],
    [2, 'multi', [2]],
    [0.5, 'multi', [0.5]],
  ] as const)('tier %s %s is %j', (tier, mode, expected) => {
    expect(allowancesOf(tier, mode)).toEqual(expected);
  });
});

describe('isContended', () => {
  it('counts one core for each thread of each loader', () => {
    expect(isContended(1, 1, 2)).toBe(false);
    expect(isContended(0.5, 1, 1)).toBe(true);
    expect(plan({ tier: '2', mode: 'single' }, 3).cases[0]?.contended).toBe(true);
    expect(plan({ tier: '2', mode: 'multi' }, 3).cases[0]?.contended).toBe(false);
    expect(plan({ tier: '2', mode: 'multi', loaders: '2' }, 3).cases[0]?.contended).toBe(true);
  });
});

describe('renderPlan', () => {
  it('shows cases, order and time within 80 columns', () => {
    const configuration = configure({ env: {}, flags: { servers: 'coredns,dinodns', tier: '2' } });
    const text = renderPlan(planRun(configuration, 2), configuration);
    expect(text).toContain('round 2: 2 1');
    expect(text).toContain('2 × 1 vCPU');
    expect(text).toContain('contended');
    expect(text).toContain('about 1 min 16 s');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });
});
