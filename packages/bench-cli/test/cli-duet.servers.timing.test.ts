/** `--duet` and the calibration with real servers: what takes a quiet machine. Servers that die, lower tiers: cli-run.servers.test.ts. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type OkTrial, type RunRecord, recordSchema, type Trial } from '../src/results/record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { describe, it } = fileNeeds('coredns', 'dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(async () => {
  await world.remove();
  for (const { process: running, command } of world.started) {
    expect(running.exit, command.join(' ')).toBeDefined();
  }
});

const SHORT = ['--duet', '--duration', '1', '--slice', '0.25', '--warmup', '0', '--zones', '20'];
const BOTH = ['--servers', 'coredns,dinodns', '--loader', 'dnsperf'];

async function readRecord(): Promise<RunRecord> {
  const results = join(world.directory, 'results');
  const [id] = (await readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return recordSchema.parse(JSON.parse(await readFile(join(results, `${id}`, 'run.json'), 'utf8')));
}

function demandOk(trial: Trial | undefined): OkTrial {
  if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
  return trial;
}

describe('bench run --duet', () => {
  it('has all servers up at once, and gives the load to one after the other, in balanced order', async () => {
    expect(await world.bench('run', ...SHORT, ...BOTH, '--trials', '2'), world.err()).toBe(0);
    const record = await readRecord();
    expect(record.trials.map(({ key }) => key.replace(/\/.*#/, '#'))).toEqual([
      'coredns#0',
      'dinodns#0',
      'dinodns#1',
      'coredns#1',
    ]);
    const [coredns, dinodns] = record.trials.slice(0, 2).map(demandOk);
    expect(coredns?.duet?.slices.map(({ position }) => position)).toEqual([0, 3, 5, 6]);
    expect(dinodns?.duet?.slices.map(({ position }) => position)).toEqual([1, 2, 4, 7]);
    for (const trial of record.trials.map(demandOk)) {
      const { duet, load, server, metrics, checkedAnswers } = trial;
      expect(checkedAnswers).toBe(40);
      expect(load.runTimeSeconds).toBeCloseTo(1, 0);
      expect(load.qps).toBeCloseTo(load.queriesCompleted / load.runTimeSeconds, 6);
      // What the other server had is not in these figures.
      expect(server?.durationSeconds).toBeLessThan(2.5);
      expect(metrics.memoryBytes).toBeGreaterThan(10 * 2 ** 20);
      expect(duet?.idleCores).toBeLessThan(0.05);
      expect(duet?.slices.every(({ neighbours }) => neighbours !== null && neighbours.stealCores >= 0)).toBe(
        true,
      );
    }
    expect(record.cases[1]?.comparison?.qps.n).toBe(2);
  }, 60_000);
});

describe('bench run before the first trial', () => {
  it('tries the load generators, keeps dnsperf where it suffices, and says so', async () => {
    await world.remove();
    world = await testWorld({ env: { DINODNS_BENCH_CALIBRATE: 'true' } });
    const quick = ['--duration', '1', '--warmup', '0', '--zones', '20', '--trials', '1'];
    expect(
      await world.bench('run', ...quick, '--servers', 'coredns,dinodns', '--tier', '0.2'),
      world.err(),
    ).toBe(0);
    const record = await readRecord();
    expect(record.loader.kind).toBe('dnsperf');
    expect(record.calibration).toMatchObject({ loader: 'dnsperf', quotaShare: 1, saturated: true });
    expect(record.calibration?.generators.map(({ loader }) => loader)).toEqual(['dnsperf', 'builtin']);
    for (const { qps } of record.calibration?.generators ?? []) expect(qps).toBeGreaterThan(1000);
    const tried = record.calibration?.probes.map(({ server }) => server) ?? [];
    expect([...new Set(tried)]).toEqual(['coredns', 'dinodns']);
    expect(world.err()).toContain('Note: dnsperf saturates every server (against an echo: dnsperf ');
    expect(record.servers.map(({ name }) => name)).toEqual(['coredns', 'dinodns']);
  }, 60_000);
});
