import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandFor, configure } from '../src/config/configuration.ts';
import type { LoadOutcome } from '../src/loaders/loader.ts';
import { assessAttempt, loadOfAttempt } from '../src/measure/max-rate.ts';
import { planRun } from '../src/plan/plan.ts';
import { recordSchema } from '../src/results/record.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';
import { startUdpServer, zoneSetCode } from './support/udp-server.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe('an attempt', () => {
  const [trial] = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 1000 }] }] }).trials;
  if (trial?.status !== 'ok') throw new Error('the fixture has an ok trial');
  const load = {
    ...trial.load,
    queriesSent: 10_000,
    queriesCompleted: 9_990,
    queriesLost: 10,
    latencyPercentiles: [{ percentile: 99, seconds: 0.004 }],
  };
  const limits = { maxLostRatio: 0.001, maxP99Seconds: 0.005 };

  it.each([
    ['keeps the limits', {}, {}, null, true, false],
    ['loses too much', { queriesLost: 11 }, {}, false, false, false],
    ['takes too long', { latencyPercentiles: [{ percentile: 99, seconds: 0.006 }] }, {}, false, false, false],
    ['has no percentiles to show', { latencyPercentiles: null }, {}, false, false, false],
    ['needs none without a limit', { latencyPercentiles: null }, { maxP99Seconds: null }, null, true, false],
    ['was not sent as asked', { queriesSent: 9_800, queriesLost: 0 }, {}, null, false, true],
    ['failed, and the generator says it was the limit', { queriesLost: 500 }, {}, true, false, true],
    ['sent nothing', { queriesSent: 0 }, {}, null, false, true],
  ] as const)('%s', (_what, changes, limitChanges, wasTheLimit, sustained, generatorLimited) => {
    const changed = { ...load, ...changes } as typeof load;
    const attempt = assessAttempt(5000, 2, changed, wasTheLimit, { ...limits, ...limitChanges });
    expect(attempt).toMatchObject({ rate: 5000, sustained, generatorLimited });
  });

  it('with several loaders counts only if they sent together', () => {
    const apart = (seconds: number) => {
      const outcomes = [0, seconds].map((startSeconds) => ({
        ...{ result: load, observation: null, command: [], wasTheLimit: false },
        window: { startSeconds, endSeconds: startSeconds + 2 },
      })) satisfies LoadOutcome[];
      return loadOfAttempt(outcomes, 10_000, { loaders: 2, durationSeconds: 2 });
    };
    expect(apart(0.002).queriesSent).toBe(20_000);
    expect(() => apart(1)).toThrow(
      expect.objectContaining({
        code: 'E_LOADER_FAILED',
        message: expect.stringContaining('sent together for only 50'),
      }),
    );
  });
});

describe('--objective max-rate', () => {
  it('is checked against the other settings, planned for, and in the command that repeats the run', () => {
    const flags = { objective: 'max-rate', maxLost: '0.5%', maxP99: '0.01' };
    const configuration = configure({ env: {}, flags });
    expect(configuration).toMatchObject({ maxLostRatio: 0.005, maxP99Seconds: 0.01 });
    expect(commandFor(configuration).join(' ')).toContain(
      '--objective max-rate --max-lost 0.5% --max-p99 0.01',
    );
    const plain = configure({ env: {}, flags: {} });
    expect(planRun(configuration, 2).estimatedSeconds).toBeGreaterThan(
      4 * planRun(plain, 2).estimatedSeconds,
    );
    const problems = (given: Record<string, unknown>) => {
      try {
        configure({ env: {}, flags: given });
      } catch (error) {
        return error;
      }
      return null;
    };
    expect(problems({ objective: 'max-rate', loader: 'dnsperf', rate: 5 })).toMatchObject({
      evidence: [expect.stringContaining('--loader builtin'), expect.stringContaining('omit --rate')],
    });
  });

  it('measures at the highest rate that the search has found', async () => {
    // It answers so many queries per second, of which those of 0.1 s may come at once, and drops the others.
    const capacity = 2000;
    let [allowed, last] = [0, performance.now()];
    const server = await startUdpServer((name, asked) => {
      const now = performance.now();
      allowed = Math.min(capacity / 10, allowed + ((now - last) / 1000) * capacity);
      last = now;
      if (allowed < 1) return null;
      allowed -= 1;
      return zoneSetCode(name, asked);
    });
    const flags = ['--servers', `at=127.0.0.1:${server.port}`];
    flags.push('--duration', '1', '--warmup', '0', '--zones', '20', '--trials', '1');
    // A loaded machine loses time, not queries: the limit is set so that some rate surely keeps it.
    const limits = ['--objective', 'max-rate', '--max-lost', '5%', '--max-p99', '0.9', '--timeout', '1'];
    const status = await world.bench(...flags, ...limits).finally(server.close);
    expect(status, world.err() + world.out()).toBe(0);
    const [id] = await readdir(join(world.directory, 'results'));
    const text = await readFile(join(world.directory, 'results', `${id}/run.json`), 'utf8');
    const record = recordSchema.parse(JSON.parse(text));
    expect(record.loader.kind).toBe('builtin');
    const [trial] = record.trials;
    if (trial?.status !== 'ok' || trial.maxRate === undefined) throw new Error(JSON.stringify(trial));
    const { rate, attempts, generatorLimited } = trial.maxRate;
    expect(attempts.length).toBeGreaterThan(3);
    expect(rate).toBeLessThan(1.4 * capacity);
    expect(attempts.find((attempt) => attempt.rate === rate)?.sustained).toBe(true);
    const failed = attempts.filter(({ sustained }) => !sustained).map((attempt) => attempt.rate);
    expect(Math.min(...failed)).toBeGreaterThan(0);
    expect(trial.limitedBy).toBe(generatorLimited ? 'loader' : 'server');
    expect(JSON.parse(trial.loaderCommands[0]?.at(-1) ?? '').load).toEqual({ kind: 'constant', rate });
    expect(world.out()).toContain('p99.9');
  }, 120_000);
});
