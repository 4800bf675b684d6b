/** `bench capacity` on a cluster: synthetic objects that disturb nothing, and of which nothing is left. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusterKind } from '../../src/experiments/capacity/cluster/cluster-record.ts';
import { parseRecordAs } from '../../src/results/parse-record.ts';
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

async function recorded() {
  const results = join(world.directory, 'results');
  const [id = ''] = (await world.fs.readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return parseRecordAs(clusterKind, await readFile(join(results, id, 'run.json'), 'utf8'), id);
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

    const { points, environment } = await recorded();
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
    expect(world.err()).toContain('5000 objects are more than --max-objects allows on a cluster (4999)');
    expect(await runNamespaces()).toEqual([]);
  });

  it('killed by SIGKILL, leaves what bench cleanup removes', async () => {
    const cli = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
    const flags = ['capacity', 'memory', '--target', 'kubernetes', '--objects', '4000'];
    const child = spawn(process.execPath, [cli, ...flags], {
      cwd: world.directory,
      env: { ...process.env, ...suiteEnvironment() },
      stdio: 'ignore',
    });
    await expect.poll(runNamespaces).toHaveLength(1);
    const [namespace = ''] = await runNamespaces();
    await expect.poll(() => servicesOf(namespace)).toBeGreaterThan(20);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await servicesOf(namespace)).toBeGreaterThan(20);
    expect(await world.bench('cleanup'), world.err()).toBe(0);
    expect(world.out()).toContain(`${namespace}  `);
    expect(await runNamespaces()).toEqual([]);
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
