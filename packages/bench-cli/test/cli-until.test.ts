/** `--until`, `--aa` and what they leave in record and reports: with a real server, through the whole CLI. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findings } from '../src/report/findings.ts';
import { type CaseRecord, type RunRecord, recordSchema } from '../src/results/record.ts';
import { assessView, comparisonView, MIN_ROUNDS, type UntilProgress } from '../src/stats/until.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { noise } from './support/simulate.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

// At a low rate, which leaves the CPUs to other tests.
const SHORT = [
  ...['--servers', 'dinodns', '--duration', '1', '--warmup', '0', '--zones', '5'],
  ...['--loader', 'builtin', '--rate', '200'],
];

async function readRecord(): Promise<RunRecord> {
  const results = join(world.directory, 'results');
  const [id] = (await readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return recordSchema.parse(JSON.parse(await readFile(join(results, `${id}`, 'run.json'), 'utf8')));
}

describe('bench run --aa --until', () => {
  it('measures the baseline twice, goes on round by round, stops at the limit and says so; and resumes', async () => {
    const run = world.bench(
      'run',
      ...SHORT,
      '--trials',
      '2',
      '--aa',
      '--until',
      '0.01%',
      '--max-trials',
      '3',
    );
    // In the third round, which no plan held at the beginning.
    await world.errContains('4/4  DinoDNS, ');
    await world.errContains('5/6  DinoDNS, ');
    world.send('SIGINT');
    expect(await run).toBe(130);
    const interrupted = await readRecord();
    // How it stood after the second round.
    expect(interrupted).toMatchObject({
      status: 'interrupted',
      until: { rounds: 2, reached: false, limit: null },
    });
    expect(interrupted.trials).toHaveLength(5);

    expect(await world.bench('run', '--resume', 'latest'), world.err()).toBe(0);
    const record = await readRecord();
    expect(record.trials.slice(0, 5)).toEqual(interrupted.trials);
    expect(record.cases.map(({ key, aa, trials, comparison }) => [key, aa, trials.ok, comparison])).toEqual([
      ['dinodns/tier=1/single/half/udp/rate=200', false, 3, null],
      ['dinodns(aa)/tier=1/single/half/udp/rate=200', true, 3, null],
    ]);
    expect(record.until).toMatchObject({
      reached: false,
      limit: 'rounds',
      rounds: 3,
      mostRounds: 3,
      width: 0.0001,
    });
    const [floor] = record.noiseFloors ?? [];
    expect(floor?.comparison.qps).toMatchObject({ n: 3, method: 'student-t' });
    expect(floor?.floor.qps).toBeGreaterThanOrEqual(Math.abs(floor?.comparison.qps.relative ?? 1));
    expect(world.out()).toContain('Noise floor (A/A) at tier 1 single: DinoDNS against itself differs by');
    expect(world.out()).toContain('--until: stopped by --max-trials 3');
    expect(record.command).toContain('--aa');
    expect(record.command).toContain('--until 0.01%');
  }, 120_000);

  it.each<[string, string[], string]>([
    ['a width without its sign', ['--until', '2'], '--until: "2" must be a percentage'],
    [
      'more trials than the most',
      ['--until', '2%', '--trials', '40'],
      '--trials: 40 are more than --max-trials 30',
    ],
    ['a limit of time without a width', ['--max-time', '1h'], '--max-time: has no effect without --until'],
  ])('explains %s', async (_what, argv, problem) => {
    expect(await world.bench('run', ...SHORT, ...argv)).toBe(2);
    expect(world.err()).toContain(problem);
    expect(world.started).toEqual([]);
  });
});

const assessUntil = (cases: readonly CaseRecord[], progress: UntilProgress) =>
  assessView(comparisonView(cases), progress);

describe('a comparison with --until', () => {
  const { normal } = noise('until');
  const cases = (rounds: number, scatter: number): CaseRecord[] =>
    makeRecord({
      cases: ['coredns', 'dinodns'].map((server) => ({
        server,
        trials: Array.from({ length: rounds }, () => ({ qps: 1000 * Math.exp(scatter * normal()) })),
      })),
    }).cases;
  const progress = {
    goal: 'width',
    width: 0.02,
    mostRounds: 30,
    mostSeconds: null,
    spentSeconds: 100,
  } as const;

  it('is content when every interval is narrower, but not before eight trials', () => {
    expect(assessUntil(cases(8, 0.001), { ...progress, rounds: 8 })).toMatchObject({
      reached: true,
      limit: null,
    });
    const few = MIN_ROUNDS - 1;
    expect(assessUntil(cases(few, 0.001), { ...progress, rounds: few })).toMatchObject({
      reached: false,
      limit: null,
    });
  });

  it('names the widest interval and goes on', () => {
    const until = assessUntil(cases(8, 0.05), { ...progress, rounds: 8 });
    expect(until).toMatchObject({ reached: false, limit: null });
    expect(until.widest).toBeGreaterThan(0.02);
    expect(until.widestOf?.caseKey).toBe('dinodns/tier=1/single/half/udp');
  });

  it('stops at its limits, and before a round that would overrun the time', () => {
    const wide = cases(10, 0.05);
    expect(assessUntil(wide, { ...progress, rounds: 30 }).limit).toBe('rounds');
    expect(assessUntil(wide, { ...progress, rounds: 10, mostSeconds: 105 }).limit).toBe('time');
    expect(assessUntil(wide, { ...progress, rounds: 10, mostSeconds: 115 }).limit).toBeNull();
  });

  it('does not wait for a case of which every trial fails', () => {
    const record = makeRecord({
      cases: [
        { server: 'coredns', trials: Array.from({ length: 8 }, () => ({ qps: 1000 })) },
        { server: 'dinodns', trials: Array.from({ length: 8 }, () => ({ qps: 1000 })) },
        { server: 'knot', trials: Array.from({ length: 8 }, () => ({ failed: 'E_SERVER_DIED' })) },
      ],
    });
    expect(assessUntil(record.cases, { ...progress, rounds: 8 }).reached).toBe(true);
  });
});

describe('what the statistics found', () => {
  it('warns of a difference below the noise floor, of drift, of unsettled trials and of outliers', () => {
    const base = makeRecord({
      cases: [
        { server: 'coredns', trials: [1000, 1010, 990, 1000, 1005, 995].map((qps) => ({ qps })) },
        { server: 'dinodns', trials: [1050, 1061, 1040, 1051, 1055, 1045].map((qps) => ({ qps })) },
      ],
    });
    const [coredns, dinodns] = base.cases;
    if (coredns === undefined || dinodns?.comparison == null) throw new Error('no comparison');
    const comparison = {
      ...dinodns.comparison,
      qps: {
        ...dinodns.comparison.qps,
        relative: -0.01,
        low: -0.09,
        high: 0.005,
        verdict: 'no difference shown',
      },
    } as const;
    const record: RunRecord = {
      ...base,
      cases: [
        { ...coredns, outliers: ['coredns/tier=1/single/half/udp#3'] },
        {
          ...dinodns,
          comparison: {
            ...dinodns.comparison,
            qps: { ...dinodns.comparison.qps, belowNoiseFloor: true },
          },
        },
        { ...coredns, key: 'coredns(aa)/tier=1/single/half/udp', aa: true, outliers: [] },
      ],
      noiseFloors: [
        {
          caseKey: 'coredns(aa)/tier=1/single/half/udp',
          comparison,
          floor: { qps: 0.09, latencySeconds: null, cpuSecondsPerQuery: null, memoryBytes: null },
        },
      ],
      drift: [
        { metric: 'qps', relativeChange: -0.1, low: -0.15, high: -0.05, pValue: 0.002, verdict: 'drift' },
        {
          metric: 'memoryBytes',
          relativeChange: 0.1,
          low: 0.05,
          high: 0.15,
          pValue: 0.002,
          verdict: 'drift',
        },
      ],
      trials: base.trials.map((trial) =>
        trial.status === 'ok' && trial.order === 0
          ? {
              ...trial,
              steadyState: {
                settled: false,
                settledAfterSeconds: null,
                reason: 'throughput fell by 9.0 % after 7 s',
              },
            }
          : trial,
      ),
    };
    const text = findings(record).join('\n');
    expect(text).toContain(
      'CoreDNS against itself differs by -1.0 % (95 % interval -9.0 to +0.5 %): a difference below 9.0 % may be this machine',
    );
    expect(text).toContain('The difference of DinoDNS at tier 1 single, 5.1 %, is below the noise floor');
    expect(text).toContain(
      'queries per second fell by 10.0 % (95 % interval 5.0 to 15.0 %, p 0.0020): the machine became slower.',
    );
    expect(text).toContain(
      'memory rose by 10.0 % (95 % interval 5.0 to 15.0 %, p 0.0020). Paired comparisons',
    );
    expect(text).toContain('1 of 12 trials never settled');
    expect(text).toContain('1 trial lies far from the others in its case (CoreDNS, trial 4)');
  });

  it('names a trial of the twin once as that', () => {
    const base = makeRecord({
      cases: [0.5, 1].map((tier) => ({ server: 'coredns', tier, trials: [{ qps: 1000 }] })),
    });
    const [first] = base.cases;
    if (first === undefined) throw new Error('no case');
    const key = 'coredns(aa)/tier=0.5/single/half/udp';
    const twin = { ...first, key, aa: true, outliers: [`${key}#2`] };
    expect(findings({ ...base, cases: [...base.cases, twin] }).join()).toContain(
      'far from the others in its case (CoreDNS (A/A) at tier 0.5 single, trial 3).',
    );
  });

  it('tells with how many trials no assumption is needed, at the level of the looks', () => {
    const trials = Array.from({ length: 8 }, (_, index) => ({ qps: 1000 + index }));
    const record = makeRecord({ cases: ['coredns', 'dinodns'].map((server) => ({ server, trials })) });
    const [coredns, dinodns] = record.cases;
    if (coredns === undefined || dinodns?.comparison == null) throw new Error('no comparison');
    const qps = { ...dinodns.comparison.qps, method: 'student-t' } as const;
    const until = assessView(comparisonView(record.cases), {
      ...{ goal: 'verdict', width: 0.06, rounds: 8 },
      ...{ mostRounds: 30, mostSeconds: null, spentSeconds: 100 },
    });
    const cases = [coredns, { ...dinodns, comparison: { ...dinodns.comparison, qps } }];
    expect(findings({ ...record, cases, until }).join()).toContain(
      'With 8 trials no test can show anything without an assumption about the noise, so verdicts rest on ' +
        "Student's t, which assumes log-normal noise. With 9 trials or more, no assumption is needed.",
    );
  });
});
