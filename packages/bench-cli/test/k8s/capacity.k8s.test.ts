/** `bench capacity` on a cluster: synthetic objects that disturb nothing, and of which nothing is left. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterKind } from '../../src/experiments/capacity/cluster/cluster-record.ts';
import { capacityKind } from '../../src/experiments/capacity/record.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
import type { RecordKind } from '../../src/results/record-kind.ts';
import { BENCH_VERSION } from '../../src/version.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, leftovers, runNamespaces } from './support/admin.ts';
import { clusterWorld, suiteEnvironment } from './support/bench.ts';

const { BENCH_K8S_COMPONENTS } = process.env;

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  // The garbage collector takes a moment for what belonged to the namespace.
  await expect.poll(leftovers).toEqual([]);
});

async function recorded<T>(kind: RecordKind<T>): Promise<T> {
  const results = join(world.directory, 'results');
  const [id = ''] = (await world.fs.readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return parseRecordAs(kind, await readFile(join(results, id, 'run.json'), 'utf8'), id);
}

/** Rules that kube-proxy has made; null where its network cannot be looked into. */
async function proxyRules(): Promise<number | null> {
  if (BENCH_K8S_COMPONENTS === undefined) return null;
  const [pid = ''] = (await readFile(join(BENCH_K8S_COMPONENTS, 'kube-proxy.pid'), 'utf8')).split(' ');
  const { stdout } = await promisify(execFile)('nsenter', ['-t', pid, '-n', 'iptables-save', '-t', 'nat']);
  return stdout.split('\n').filter((line) => line.startsWith('-A KUBE-')).length;
}

const servicesOf = async (namespace: string) =>
  (await core().listNamespacedService({ namespace })).items.length;

describe('bench capacity memory --target kubernetes', () => {
  it('measures a private CoreDNS while kube-proxy and the DNS of the cluster notice nothing', async () => {
    const before = await proxyRules();
    const size = ['--objects', '600', '--config', 'default,autopath'];
    const flags = [...size, '--starts', '1', '--quick', '--rate', '200'];
    const run = world.bench('capacity', 'memory', '--target', 'kubernetes', ...flags);
    await world.errContains('start 1 of 1');
    const [namespace = ''] = await runNamespaces();
    const during = { rules: await proxyRules(), services: await servicesOf(namespace) };
    expect(await run, world.err()).toBe(0);
    expect(during).toEqual({ rules: before, services: 31 });

    const { points, environment } = await recorded(clusterKind);
    expect(environment.cluster?.nodes.length).toBeGreaterThan(0);
    expect(points.map(({ configuration, counts }) => [configuration, counts.services, counts.pods])).toEqual([
      ['default', 31, 0],
      ['autopath', 31, 569],
    ]);
    for (const { clusterDns, starts, creation } of points) {
      expect(creation.created / creation.seconds).toBeLessThan(55);
      expect(clusterDns?.after.restarts).toBe(clusterDns?.before.restarts);
      const [start] = starts;
      expect(start?.death).toBeNull();
      expect(start?.queries?.lost).toBe(0);
      expect(start?.queries?.wrong).toBe(0);
      expect(start?.phases.map(({ phase }) => phase)).toEqual([
        'cold-start',
        'steady',
        'cache',
        'load',
        'relist',
      ]);
      for (const { p95Bytes, peakBytes } of start?.phases ?? []) {
        expect(p95Bytes).toBeGreaterThan(5e6);
        expect(peakBytes).toBeGreaterThanOrEqual(p95Bytes ?? 0);
      }
    }
  });

  it('is refused above --max-objects, before anything is made', async () => {
    const flags = ['--objects', '5000', '--max-objects', '4999'];
    expect(await world.bench('capacity', 'memory', '--target', 'kubernetes', ...flags)).toBe(2);
    expect(world.err()).toContain('5,000 objects are more than --max-objects allows on a cluster (4,999)');
    expect(await runNamespaces()).toEqual([]);
  });

  it('killed by SIGKILL, leaves what bench cleanup removes', async () => {
    await killed('memory', '--objects', '4000');
  });
});

/** Kills a run when it has made more than 20 Services, and removes what is left. */
async function killed(command: string, ...flags: readonly string[]): Promise<void> {
  const cli = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [cli, 'capacity', command, '--target', 'kubernetes', ...flags], {
    cwd: world.directory,
    env: { ...process.env, ...suiteEnvironment() },
    stdio: 'ignore',
  });
  await expect.poll(runNamespaces).toHaveLength(1);
  const [namespace = ''] = await runNamespaces();
  await expect.poll(() => servicesOf(namespace), { timeout: 60_000 }).toBeGreaterThan(15);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await servicesOf(namespace)).toBeGreaterThan(10);
  expect(await world.bench('cleanup'), world.err()).toBe(0);
  expect(world.out()).toContain(`${namespace}  `);
  expect(await runNamespaces()).toEqual([]);
}

describe('bench capacity propagation --target kubernetes', () => {
  const TARGET = ['--target', 'kubernetes'];

  it('tells how long a new Service takes to resolve, with and without changes; the run can be resumed', async () => {
    const before = await proxyRules();
    const flags = ['--churn', '0,10,100', '--services', '10', '--trials', '2'];
    const first = world.bench('capacity', 'propagation', ...TARGET, ...flags);
    await world.errContains('1/6');
    expect(await proxyRules()).toBe(before);
    await world.errContains('2/6');
    world.send('SIGINT');
    expect(await first).toBe(130);
    expect(world.err()).toMatch(/bench capacity propagation --target kubernetes --resume \d{8}-/);
    expect(await runNamespaces()).toEqual([]);
    const kept = await recorded(capacityKind);

    const resumed = ['capacity', 'propagation', ...TARGET, '--resume', 'latest'];
    expect(await world.bench(...resumed), world.err()).toBe(0);
    const { measured, status, environment, programs } = await recorded(capacityKind);
    if (measured.what !== 'propagation' || kept.measured.what !== 'propagation') throw new Error('another');
    expect(status).toBe('complete');
    expect(environment.cluster?.nodes.length).toBeGreaterThan(0);
    expect(programs[0]?.files.Corefile).toContain('disable denial');
    expect(programs[0]?.files.Corefile).not.toContain('endpoint');
    const { trials, cluster } = measured;
    expect(kept.measured.trials.length).toBeGreaterThan(0);
    expect(trials.slice(0, kept.measured.trials.length)).toEqual(kept.measured.trials);
    expect(trials).toHaveLength(6);
    expect(cluster?.clusterDns?.after.restarts).toBe(cluster?.clusterDns?.before.restarts);
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error(trial.failure.message);
      expect(trial.unresolved).toBe(0);
      expect(trial.delaysSeconds).toHaveLength(10);
      for (const [index, delay] of trial.delaysSeconds.entries()) {
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThan(5);
        expect(trial.creationSeconds?.[index]).toBeGreaterThan(0);
        expect(trial.resolutionsSeconds[index]).toBeLessThanOrEqual(delay);
      }
      const asked = Number(trial.case.split('churn=')[1]);
      expect(trial.heldChurnPerSecond).toBeLessThanOrEqual(asked * 1.1);
      // A busy machine may not hold it; what it held is in the record.
      if (asked > 0) expect(trial.heldChurnPerSecond).toBeGreaterThan(asked / 4);
    }
    expect(world.out()).toContain('How long a new Service takes to resolve');
  });

  it('killed by SIGKILL, leaves what bench cleanup removes', async () => {
    await killed('propagation', '--churn', '100');
  });
});

describe('bench capacity caching --target kubernetes', () => {
  it('measures CoreDNS and dnsmasq in front of it, each in a pod with an upstream of its own', async () => {
    const tiers = ['--dnsmasq-image', `dinodns-bench/dnsmasq:${BENCH_VERSION}`];
    const flags = ['--cache', 'cached', '--lookup', 'external', '--trials', '1', '--duration', '2'];
    const run = world.bench('capacity', 'caching', '--target', 'kubernetes', ...tiers, ...flags);
    expect(await run, world.err()).toBe(0);
    const { measured, programs } = await recorded(capacityKind);
    if (measured.what !== 'caching') throw new Error('another measurement');
    expect(programs.map(({ name }) => name)).toEqual(['coredns-cluster', 'dnsmasq + CoreDNS backend']);
    const rate = (key: string) => {
      const trial = measured.trials.find((found) => found.case === key);
      if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
      // An external name costs five queries: four that do not exist, and itself.
      expect(trial.queriesPerSecond / trial.lookupsPerSecond).toBeCloseTo(5, 0);
      return trial.lookupsPerSecond;
    };
    const tier = 'dnsmasq + CoreDNS backend';
    // With the negative answers in its cache, dnsmasq asks nobody; without, its upstream answers after 2 ms.
    expect(rate(`${tier}/negative cache/external/cached`)).toBeGreaterThan(
      rate(`${tier}/default/external/cached`),
    );
    expect(rate('coredns-cluster/default/external/cached')).toBeGreaterThan(
      rate('coredns-cluster/no negative cache/external/cached'),
    );
    expect(world.out()).toContain('Each trial is a pod of its own');
  });
});

describe('bench capacity plan --verify --target kubernetes', () => {
  it('says that a limit that is too small does not hold', async () => {
    const size = ['--pods', '190', '--services', '10', '--basis', 'published'];
    const flags = ['--verify', '--target', 'kubernetes', '--verify-limit', '12Mi', '--json'];
    expect(await world.bench('capacity', 'plan', ...size, ...flags), world.err()).toBe(9);
    const { verification } = JSON.parse(world.out());
    expect(verification).toMatchObject({ held: false, target: 'kubernetes' });
    expect(verification.because).toContain('OOMKilled');
  });
});
