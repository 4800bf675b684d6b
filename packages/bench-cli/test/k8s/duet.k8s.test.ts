/** `--duet on` on a cluster: all servers of a round up at once, their slices from one Job. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OkTrial, Trial } from '../../src/results/record.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, leftovers, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf } from './support/bench.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  expect(await leftovers()).toEqual([]);
});

const DUET = ['--target', 'kubernetes', '--duet', 'on', '--servers', 'coredns,dinodns', '--tier', '500m'];
const SHORT = [...DUET, '--duration', '2', '--slice', '0.5', '--warmup', '0', '--zones', '20'];
const UNOBSERVED = [...SHORT, '--observe', 'none'];

function demandOk(trial: Trial | undefined): OkTrial {
  if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
  return trial;
}

const positionsOf = ({ duet }: OkTrial) => duet?.slices.map(({ position }) => position);

describe('bench run --target kubernetes --duet on', () => {
  it('gives the load to one server after the other from one Job, and knows what each query cost', async () => {
    expect(await world.bench('run', ...SHORT, '--trials', '1'), world.err()).toBe(0);
    const record = await recordOf(world);
    const [coredns, dinodns] = record.trials.map(demandOk);
    if (coredns === undefined || dinodns === undefined) throw new Error('not two trials');
    expect(positionsOf(coredns)).toEqual([0, 3, 5, 6]);
    expect(positionsOf(dinodns)).toEqual([1, 2, 4, 7]);
    for (const { load, server, metrics, checkedAnswers, duet, loader, loaderNodes } of [coredns, dinodns]) {
      expect(checkedAnswers).toBe(40);
      // Four slices, each of which a busy node may end late.
      expect(load.runTimeSeconds).toBeGreaterThan(1.5);
      expect(load.runTimeSeconds).toBeLessThan(4);
      expect(load.queriesCompleted).toBeGreaterThan(100);
      // The kubelet's counters are read around the round: the slices have their share of it, and no figures of their own.
      expect(server).toMatchObject({ cpuSource: 'kubelet-summary', durationSeconds: load.runTimeSeconds });
      expect(metrics.cpuSecondsPerQuery).toBeGreaterThan(1e-6);
      expect(metrics.cpuCores).toBeLessThan(0.5 * 1.5);
      expect(metrics.memoryBytes).toBeGreaterThan(2 ** 20);
      expect(duet?.slices.map(({ cpuSecondsPerQuery }) => cpuSecondsPerQuery)).toEqual(
        new Array(4).fill(null),
      );
      const at = duet?.slices.map(({ atSeconds }) => atSeconds) ?? [];
      expect(at).toEqual(at.toSorted((a, b) => a - b));
      expect(duet?.idleCores).toBeLessThan(0.05);
      expect(loader?.cpuSeconds).toBeGreaterThan(0);
      expect(loaderNodes).toHaveLength(1);
    }
    // Both were up while both were measured.
    const [a, b] = record.trials;
    expect([a?.startedAt, a?.instances[0]?.pod === b?.instances[0]?.pod]).toEqual([b?.startedAt, false]);
    const raw = await world.fs.readdir(join(world.directory, 'results', record.id, 'raw'), {
      recursive: true,
    });
    expect(raw.filter((name) => /dnsperf-(slices|settle)-1\.txt$/.test(String(name)))).toHaveLength(4);
    const report = await readFile(join(world.directory, 'results', record.id, 'report.md'), 'utf8');
    expect(report).toContain('DinoDNS');
  });

  it('goes on without a server that is deleted; stopped by Ctrl-C, it keeps whole rounds only', async () => {
    const flags = ['--loader', 'builtin', '--trials', '2'];
    const running = world.bench('run', ...UNOBSERVED, ...flags, '--duration', '4');
    await expect.poll(() => runningPods('loader')).toHaveLength(1);
    const servers = await runningPods('server');
    expect(servers).toHaveLength(2);
    const coredns = servers.find(({ name }) => name.includes('coredns'));
    if (coredns === undefined) throw new Error('no pod of CoreDNS');
    await core().deleteNamespacedPod(coredns);
    await world.errContains('2/4');
    await expect.poll(() => runningPods('loader')).toHaveLength(1);
    world.send('SIGINT');
    expect(await running).toBe(130);
    expect(await leftovers()).toEqual([]);
    const { trials, status } = await recordOf(world);
    expect([status, trials.length]).toEqual(['interrupted', 2]);
    const [dead, survivor] = trials;
    expect(dead).toMatchObject({
      status: 'failed',
      failure: { code: 'E_SERVER_DIED', message: expect.stringContaining('was deleted') },
    });
    const alive = demandOk(survivor);
    expect(positionsOf(alive)).toHaveLength(8);
    expect(alive.load.latencyPercentiles?.map(({ percentile }) => percentile)).toContain(99);
  });
});

describe('servers that do not fit beside each other', () => {
  it('are refused before anything is measured', async () => {
    const node = (await core().listNode()).items[0]?.metadata?.name ?? '';
    const flags = ['--tier', '512', '--mode', 'multi', '--server-node', node, '--loader-node', node];
    expect(await world.bench('run', ...UNOBSERVED, ...flags)).toBe(3);
    expect(world.err()).toContain('[E_POD_UNSCHEDULABLE]');
    expect(world.err()).toContain('request 1024 CPUs together');
  });
});
