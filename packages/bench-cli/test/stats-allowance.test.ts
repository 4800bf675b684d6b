/**
 * Comparisons that allow for what others took: simulated runs in which a neighbour takes CPUs in phases, with a known truth. The
 * table of `docs/method.md` has the same simulations with 2,000 runs each:
 * `ALLOWANCE_RUNS=2000 pnpm test stats-allowance`.
 */
import { randomFractions } from '@dinodns-bench/test-support';
import { describe, expect, it } from 'vitest';
import { balancedOrder } from '../src/plan/plan.ts';
import { allowanceOf, type ExposedTrial } from '../src/stats/allowance.ts';
import { decideRatios, type RatioMember } from '../src/stats/comparisons.ts';
import type { Pair } from '../src/stats/summarize.ts';

const RUNS = Number(process.env.ALLOWANCE_RUNS ?? 300);
/** Three standard errors of a share of 5 %. */
const SIMULATION_ERROR = 3 * Math.sqrt((0.05 * 0.95) / RUNS);
const DIRECTION = { goal: 'higher', better: 'faster', worse: 'slower' } as const;

/** Of a trial, and the share of it that the next trial still has: the machine is not forgetful. */
const NOISE = 0.05;
const MEMORY = 0.5;
const TRIAL_SECONDS = 3;
const TURN_SECONDS = 4.5;

interface Scenario {
  readonly trials: number;
  /** Change of the logarithm for each CPU taken, by server. The first is the baseline. */
  readonly slopes: readonly number[];
  /** Logarithms of the servers' figures with nothing taken. */
  readonly levels: readonly number[];
  readonly heavyTails?: boolean;
  /** Standard deviation of the error with which the taken CPUs are measured. */
  readonly measurementError?: number;
  /** Share of the machine that the neighbour takes at most. Default: 0.6. */
  readonly most?: number;
}

interface Randomness {
  fraction(): number;
  normal(): number;
}

function randomness(seed: number): Randomness {
  const fraction = randomFractions(seed);
  return {
    fraction,
    normal: () => Math.sqrt(-2 * Math.log(1 - fraction())) * Math.cos(2 * Math.PI * fraction()),
  };
}

/** Student's t with three degrees of freedom, scaled to a variance of one. */
function heavy({ normal }: Randomness): number {
  const squares = normal() ** 2 + normal() ** 2 + normal() ** 2;
  return normal() / Math.sqrt(squares);
}

/** What a neighbour takes on average between two times: phases of 2 to 20 s, four in ten of them idle. */
function neighbour({ fraction }: Randomness, seconds: number, most: number) {
  const phases: { readonly from: number; readonly to: number; readonly taken: number }[] = [];
  for (let from = 0; from < seconds; ) {
    const to = from + 2 + 18 * fraction();
    phases.push({ from, to, taken: fraction() < 0.4 ? 0 : most * fraction() });
    from = to;
  }
  return (begin: number, end: number) =>
    phases.reduce(
      (sum, { from, to, taken }) => sum + taken * Math.max(0, Math.min(end, to) - Math.max(begin, from)),
      0,
    ) /
    (end - begin);
}

function simulateTrials(random: Randomness, scenario: Scenario): ExposedTrial[][] {
  const { trials, slopes, levels, heavyTails, measurementError = 0, most = 0.6 } = scenario;
  const taken = neighbour(random, slopes.length * trials * TURN_SECONDS, most);
  const servers: ExposedTrial[][] = slopes.map(() => []);
  let noise = NOISE * random.normal();
  let begin = 0;
  for (let round = 0; round < trials; round += 1) {
    for (const server of balancedOrder([...slopes.keys()], round)) {
      const during = taken(begin, begin + TRIAL_SECONDS);
      begin += TURN_SECONDS;
      const shock = heavyTails === true ? heavy(random) : random.normal();
      noise = MEMORY * noise + Math.sqrt(1 - MEMORY ** 2) * NOISE * shock;
      servers[server]?.push({
        log: (levels[server] ?? 0) + (slopes[server] ?? 0) * during + noise,
        taken: Math.max(0, during + measurementError * random.normal()),
      });
    }
  }
  return servers;
}

function membersOf([baseline = [], ...others]: readonly ExposedTrial[][], watched: boolean): RatioMember[] {
  return others.map((trials, index) => ({
    baseline: 'baseline',
    seed: String(index),
    pairs: trials.flatMap((own, round): Pair[] => {
      const other = baseline[round];
      if (other === undefined) return [];
      return [
        {
          value: Math.exp(own.log),
          baseline: Math.exp(other.log),
          taken: watched ? { value: own.taken, baseline: other.taken } : undefined,
        },
      ];
    }),
  }));
}

interface Outcome {
  readonly covered: boolean;
  readonly decided: boolean;
  readonly width: number;
  readonly allowed: boolean;
}

function outcomesOf(
  servers: readonly ExposedTrial[][],
  levels: readonly number[],
  watched: boolean,
): Outcome[] {
  return decideRatios(membersOf([...servers], watched), DIRECTION, {}).map((delta, index) => {
    const [low, high] = [Math.log1p(delta?.low ?? -1), Math.log1p(delta?.high ?? 0)];
    const truth = (levels[index + 1] ?? 0) - (levels[0] ?? 0);
    return {
      covered: low <= truth && truth <= high,
      decided: delta?.verdict !== 'no difference shown',
      width: high - low,
      allowed: delta?.allowance != null,
    };
  });
}

function simulate(seed: number, scenario: Scenario) {
  const random = randomness(seed);
  const [allowed, plain]: [Outcome[], Outcome[]] = [[], []];
  for (let run = 0; run < RUNS; run += 1) {
    const servers = simulateTrials(random, scenario);
    allowed.push(...outcomesOf(servers, scenario.levels, true));
    plain.push(...outcomesOf(servers, scenario.levels, false));
  }
  const share = (outcomes: readonly Outcome[], pick: (outcome: Outcome) => boolean) =>
    outcomes.filter(pick).length / outcomes.length;
  const width = (outcomes: readonly Outcome[]) =>
    outcomes.map((outcome) => outcome.width).toSorted((a, b) => a - b)[outcomes.length >> 1] ?? 0;
  return {
    coverage: share(allowed, ({ covered }) => covered),
    plainCoverage: share(plain, ({ covered }) => covered),
    verdicts: share(allowed, ({ decided }) => decided),
    used: share(allowed, (outcome) => outcome.allowed),
    width: width(allowed) / width(plain),
  };
}

const DIFFERENT = [0, 0.1, 1] as const;
const EQUAL = [0, 0, 0] as const;
const KINDS: readonly (readonly [string, Omit<Scenario, 'trials' | 'levels'>])[] = [
  ['equal slopes', { slopes: [-1.2, -1.2, -1.2] }],
  ['slopes that differ by 10 %', { slopes: [-1.2, -1.1, -1.3] }],
  ['slopes that differ by 30 %', { slopes: [-1.2, -0.85, -1.5] }],
  ['heavy tails', { slopes: [-1.2, -1.2, -1.2], heavyTails: true }],
  ['a covariate with an error', { slopes: [-1.2, -1.2, -1.2], measurementError: 0.03 }],
  ['a figure that does not depend on it', { slopes: [0, 0, 0] }],
];

describe.each([3, 7, 20])('with %i trials', (trials) => {
  it.each(KINDS)('the interval covers the truth in 93 to 97 % of the runs: %s', (name, kind) => {
    const found = simulate(trials, { ...kind, trials, levels: DIFFERENT });
    if (process.env.ALLOWANCE_RUNS !== undefined) console.log(trials, name, JSON.stringify(found));
    expect(found.coverage).toBeGreaterThanOrEqual(0.93 - SIMULATION_ERROR);
    // The difference of the medians is always within the interval, which can only widen it; few trials guess the slope.
    expect(found.coverage).toBeLessThanOrEqual(0.97 + SIMULATION_ERROR);
  });

  it('equal servers get a verdict in at most 5 % of the runs', () => {
    const { verdicts } = simulate(100 + trials, { slopes: [-1.2, -1.1, -1.3], trials, levels: EQUAL });
    expect(verdicts).toBeLessThanOrEqual(0.05 + SIMULATION_ERROR);
  });
});

describe('with seven trials, as the default run has', () => {
  const trials = 7;

  it('the interval is less than half as wide as without beside a neighbour', () => {
    expect(simulate(1, { slopes: [-1.2, -1.2, -1.2], trials, levels: DIFFERENT }).width).toBeLessThan(0.45);
  });

  it('nothing is allowed for on a calm machine, so that the interval is as wide as without', () => {
    const found = simulate(2, { slopes: [-1.2, -1.2, -1.2], trials, levels: DIFFERENT, most: 0.005 });
    expect(found).toMatchObject({ used: 0, width: 1 });
  });
});

describe('an allowance', () => {
  const line = (level: number, taken: readonly number[]) =>
    taken.map((each) => ({ taken: each, log: level - 2 * each }));

  it('is the common slope of all cases, whatever their levels', () => {
    const found = allowanceOf([line(0, [0, 0.2, 0.5]), line(3, [0.1, 0.3, 0.9])]);
    expect(found?.slope).toBeCloseTo(-2, 9);
    expect(found?.reference).toBe(0);
  });

  it('is not spoiled by one odd trial', () => {
    const [odd = { taken: 0, log: 0 }, ...others] = line(0, [0, 0.2, 0.5, 0.1, 0.4, 0.3]);
    const noisy = others.map((trial, index) => ({
      ...trial,
      log: trial.log + (index % 2 === 0 ? 0.01 : -0.01),
    }));
    const found = allowanceOf([
      [{ ...odd, log: odd.log - 5 }, ...noisy],
      line(1, [0, 0.5, 0.25, 0.1, 0.3, 0.2]),
    ]);
    expect(found?.slope).toBeCloseTo(-2, 1);
  });

  it.each([
    ['too few trials', [line(0, [0, 0.5]), line(1, [0, 0.5])]],
    ['a machine on which nothing changes', [line(0, [0.3, 0.3, 0.3, 0.3]), line(1, [0.3, 0.3, 0.3, 0.3])]],
  ])('is none for %s', (_, cases) => {
    expect(allowanceOf(cases)).toBeNull();
  });
});
