/** The built-in loader in the main job: chosen, measured, recorded, and told of. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cannon, decodeHistogram, Histogram } from '@dinodns-bench/load';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRecordingServer } from '../../load/test/support/recording-server.ts';
import { configure } from '../src/config/configuration.ts';
import { parseEvent } from '../src/loaders/builtin/events.ts';
import { builtinOptions } from '../src/loaders/builtin/options.ts';
import { BUILTIN, loadResultOf } from '../src/loaders/builtin/result.ts';
import type { LoadRequest } from '../src/loaders/loader.ts';
import { findExecutable } from '../src/machine/find-executable.ts';
import { mergeLoads } from '../src/measure/merge-loads.ts';
import { loadResultSchema, type RunRecord, recordSchema } from '../src/results/record.ts';
import { realWorld } from '../src/world.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

// At a rate that leaves the CPUs to other tests.
const SHORT = [
  ...['--servers', 'dinodns', '--duration', '1', '--warmup', '0', '--zones', '20', '--trials', '1'],
  ...['--rate', '5000'],
];

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

async function readRecord(): Promise<RunRecord> {
  const [id] = await readdir(join(world.directory, 'results'));
  return recordSchema.parse(
    JSON.parse(await readFile(join(world.directory, 'results', `${id}/run.json`), 'utf8')),
  );
}

/** From here on PATH has all that a run needs, but for dnsperf and anything that could install it. */
async function takeDnsperfAway(): Promise<void> {
  const bin = join(world.directory, 'bin');
  await mkdir(bin);
  for (const program of ['sh', 'setpriv', 'systemd-run', 'taskset']) {
    const found = await findExecutable(realWorld(), program);
    if (found !== null) await symlink(found, join(bin, program));
  }
  Object.assign(world, { env: { ...world.env, PATH: bin } });
}

/** A package manager that cannot reach what it would download. */
async function breakPackageManager(): Promise<void> {
  const script = `#!/bin/sh
case "$*" in
  *--print-uris*) echo "Need to get 259 kB of archives." ;;
  *) echo "E: Failed to fetch dnsperf.deb: connection refused" >&2; exit 100 ;;
esac
`;
  await writeFile(join(world.directory, 'bin/apt-get'), script, { mode: 0o755 });
  const env = await findExecutable(realWorld(), 'env');
  await symlink(String(env), join(world.directory, 'bin/env'));
  const { DINODNS_BENCH_PROVISION: _, ...others } = world.env;
  Object.assign(world, { env: others, machine: { ...world.machine, userId: 0 } });
}

const started = (program: string) => world.started.filter((item) => item.program === program);

describe('bench run', () => {
  it('says why dnsperf could not be installed; and is stopped by Ctrl-C, with nothing left behind', async () => {
    await takeDnsperfAway();
    await breakPackageManager();
    const run = world.bench(...SHORT, '--duration', '30');
    await world.errContains(
      'because dnsperf is not installed and could not be obtained (package manager: apt-get install dnsperf failed: E: Failed to fetch dnsperf.deb: connection refused)',
    );
    await expect.poll(() => started('driver.ts').length, { timeout: 60_000 }).toBe(1);
    world.send('SIGINT');
    expect(await run).toBe(130);
    for (const { process: child } of world.started) expect(child.exit).toBeDefined();
  }, 90_000);

  it('uses the built-in loader where dnsperf is missing and may not be got, and says so; or not at all', async () => {
    await takeDnsperfAway();
    expect(await world.bench(...SHORT, '--no-provision'), world.err()).toBe(0);
    const record = await readRecord();
    expect(record.loader.kind).toBe('builtin');
    expect(record.loader.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(record.warnings.join('\n')).toMatch(/using the built-in loader, because dnsperf is not installed/);
    expect(world.err()).toContain('using the built-in loader, because dnsperf is not installed');
    expect(started('dnsperf')).toEqual([]);
    expect(started('driver.ts')).toHaveLength(1);
    const [trial] = record.trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    const { load } = trial;
    expect(load.queriesCompleted).toBeGreaterThan(100);
    expect(load.queriesSent).toBe(load.queriesCompleted + load.queriesLost + load.queriesInterrupted);
    expect(Object.keys(load.responseCodes).sort()).toEqual(['NOERROR', 'REFUSED']);
    expect(load.intervals.length).toBeGreaterThanOrEqual(1);
    expect(trial.loader?.cpuSeconds).toBeGreaterThan(0);
    expect(trial.server?.cpuSeconds).toBeGreaterThan(0);
    const percentiles = load.latencyPercentiles ?? [];
    expect(percentiles.map(({ percentile }) => percentile)).toEqual([
      50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99,
    ]);
    for (const [index, { seconds }] of percentiles.entries())
      expect(seconds).toBeGreaterThanOrEqual(percentiles[index - 1]?.seconds ?? 0);
    expect(load.latencyHistogram?.reduce((sum, { count }) => sum + count, 0)).toBe(load.queriesCompleted);
    expect(record.cases[0]?.summary?.latencyPercentiles?.length).toBe(9);
    expect(await world.bench(...SHORT, '--loader', 'dnsperf', '--no-provision')).toBe(3);
    expect(world.err()).toContain('E_TOOL_MISSING');
  }, 60_000);

  it('merges the loaders of several instances, histograms included', async () => {
    expect(await world.bench(...SHORT, '--loader', 'builtin', '--tier', '2'), world.err()).toBe(0);
    const [trial] = (await readRecord()).trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    expect(trial.loads).toHaveLength(2);
    expect(started('driver.ts')).toHaveLength(2);
    const total = trial.loads.reduce((sum, { queriesCompleted }) => sum + queriesCompleted, 0);
    expect(decodeHistogram(trial.load.hdrHistogram ?? '').total).toBe(total);
    const [median, ...medians] = [trial.load, ...trial.loads].map(
      (load) => load.latencyPercentiles?.[0]?.seconds ?? 0,
    );
    expect(median).toBeGreaterThanOrEqual(Math.min(...medians) * 0.99);
    expect(median).toBeLessThanOrEqual(Math.max(...medians) * 1.01);
  }, 60_000);

  it('sends the lookups of more names than fit in an argument', async () => {
    const flags = ['--servers', 'dinodns', '--workload', 'lookup', '--zones', '9000', '--rate', '2000'];
    flags.push('--trials', '1');
    expect(await world.bench(...flags, '--duration', '1', '--warmup', '0'), world.err()).toBe(0);
    const [trial] = (await readRecord()).trials;
    if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
    expect(trial.loaderCommands[0]?.at(-1)).toMatch(/^@.*\.options\.json$/);
    expect(trial.load.lookups?.perSecond).toBeGreaterThan(10);
  }, 60_000);

  it('asks for what an open loop needs', () => {
    expect(() => configure({ env: {}, flags: { openLoop: true } })).toThrow(
      expect.objectContaining({
        evidence: [expect.stringContaining('--loader builtin'), expect.stringContaining('--rate')],
      }),
    );
  });
});

const request: Omit<LoadRequest, 'endpoint'> = {
  transport: 'udp',
  queryFile: '/tmp/queries.txt',
  source: null,
  dnssecOk: false,
  durationSeconds: 3,
  ratePerSecond: null,
  openLoop: false,
  clients: 20,
  threads: 2,
  outstanding: 100,
  timeoutSeconds: 5,
  outputFile: '/dev/null',
  onStarted: () => undefined,
  onProgress: () => undefined,
  signal: new AbortController().signal,
};

describe('options', () => {
  it('are those of the request', () => {
    expect(builtinOptions({ ...request, endpoint: { address: '::1', port: 5300, instances: 1 } })).toEqual({
      server: '[::1]:5300',
      transport: 'udp',
      workload: { kind: 'file', path: '/tmp/queries.txt' },
      load: { kind: 'closed', outstanding: 100, maxRate: null },
      durationSeconds: 3,
      intervalSeconds: 0.25,
      workers: 2,
      clients: 20,
      timeoutSeconds: 5,
      segmentation: 'off',
    });
    const rated = {
      ...request,
      endpoint: { address: '127.0.0.1', port: 53, instances: 1 },
      ratePerSecond: 100,
    };
    expect(builtinOptions(rated).load).toEqual({ kind: 'closed', outstanding: 100, maxRate: 100 });
    expect(builtinOptions({ ...rated, openLoop: true }).load).toEqual({ kind: 'constant', rate: 100 });
  });
});

describe('result', () => {
  it('fits the record, and its bins hold every query where it belongs', async () => {
    const server = await startRecordingServer();
    const result = await cannon({
      server: `127.0.0.1:${server.port}`,
      workload: { kind: 'names', names: ['a.test'] },
      maxQueries: 2000,
    }).result;
    await server.close();
    const load = loadResultOf(result, []);
    expect(loadResultSchema.parse(load)).toEqual(load);
    const bins = load.latencyHistogram ?? [];
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(2000);
    for (const [index, { lowSeconds, highSeconds }] of bins.entries()) {
      expect(lowSeconds).toBeGreaterThanOrEqual(bins[index - 1]?.highSeconds ?? 0);
      expect(highSeconds / lowSeconds).toBeLessThan(1.02);
    }
    const histogram = Histogram.of(decodeHistogram(load.hdrHistogram ?? ''));
    for (const percentile of [50, 99]) {
      const exact = load.latencyPercentiles?.find((item) => item.percentile === percentile)?.seconds ?? 0;
      expect(histogram.percentile(percentile) / 1e9 / exact).toBeCloseTo(1, 2);
      const bin = bins.find(({ lowSeconds, highSeconds }) => exact >= lowSeconds && exact <= highSeconds);
      expect(bin, `p${percentile}`).toBeDefined();
    }
    const merged = mergeLoads([load, load]);
    expect(merged.latencyHistogram?.map(({ count }) => count)).toEqual(bins.map(({ count }) => 2 * count));
    expect(mergeLoads([load, { ...load, hdrHistogram: null }]).latencyPercentiles).toBeNull();
  });

  it('has the rates while queries were sent; what happened until the last was given up is in the timeline', async () => {
    const server = await startRecordingServer();
    const run = cannon({
      server: `127.0.0.1:${server.port}`,
      workload: { kind: 'names', names: ['a.test'] },
      ...{ maxQueries: 100, durationSeconds: 1, intervalSeconds: 0.25 },
    });
    const result = { ...(await run.result), sendingSeconds: 1 };
    await server.close();
    // One answer of a load of a second was waited for until its time was out, after two more.
    const ends = [0.25, 0.5, 0.76, 1.01, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75, 3.01];
    const lines = ends.map((toSeconds) =>
      JSON.stringify({ event: 'interval', toSeconds, qps: toSeconds <= 1.01 ? 100 : 0 }),
    );
    const output = { lines: [...lines, JSON.stringify({ event: 'result', result })], exitCode: 0, end: '' };
    const outcome = BUILTIN.outcomeOf(output);
    expect(outcome.result.intervals.map(({ atSeconds }) => atSeconds)).toEqual(ends.slice(0, 4));
    expect(outcome.timeline?.map(({ atSeconds }) => atSeconds)).toEqual(ends);
  });

  it('lines that are no events are ignored', () => {
    expect(parseEvent('{"event":"started"}')).toEqual({ event: 'started' });
    expect(parseEvent('{"event":"interval","toSec')).toBeNull();
    expect(parseEvent('(node:1) Warning: something')).toBeNull();
  });
});
