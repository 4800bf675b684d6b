/** `bench capacity plan`: the published figures exactly, each with its basis, and nothing beyond what was measured. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCluster, startApiServer } from '@dinodns-bench/cluster-objects';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { CapacityPlan } from '../src/experiments/capacity/plan.ts';
import { fittedLine, PUBLISHED_POINTS } from '../src/experiments/capacity/published.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const SIZE = ['--pods', '15000', '--services', '820'] as const;

async function plan(...flags: readonly string[]): Promise<CapacityPlan> {
  expect(await world.bench('capacity', 'plan', ...flags, '--json'), world.err()).toBe(0);
  return JSON.parse(world.out());
}

const figureOf = (planned: CapacityPlan, name: string) =>
  planned.figures.find((figure) => figure.name === name)?.value;

describe('memory', () => {
  it.each([
    [[], 69.82],
    [['--autopath'], 119.28],
  ])('of 15,000 pods and 820 services is what was published, with %j', async (flags, megabytes) => {
    const planned = await plan(...SIZE, ...flags);
    expect(figureOf(planned, 'steady memory')).toBe(megabytes);
    expect(planned.memoryRequestMegabytes).toBe(megabytes);
    for (const { basis } of planned.figures) expect(basis).not.toBe('');
  });

  it('is shown by the published data as well, which disagree with the formula for autopath', () => {
    const fit = fittedLine(PUBLISHED_POINTS.autopath);
    expect(fit.objectsPerMegabyte).toBeCloseTo(400, -1);
    expect(fit.baseMegabytes).toBeCloseTo(55.5, 1);
    const plain = fittedLine(PUBLISHED_POINTS.default);
    expect(plain.objectsPerMegabyte).toBeCloseTo(1165, -1);
    expect(plain.baseMegabytes).toBeCloseTo(54.1, 1);
  });

  it.each([
    ['60Mi', 'does not fit'],
    ['170Mi', 'cannot tell'],
    ['340Mi', 'fits'],
  ])('a limit of %s: %s', async (limit, fit) => {
    const { verdicts } = await plan(...SIZE, '--memory-limit', limit);
    expect(verdicts.find(({ about }) => about === 'memory')?.fit).toBe(fit);
  });
});

describe('replicas', () => {
  it.each([
    // 20,000 × 2 + 5,000 × 2 × 5 queries at 33,669 and 33,667 QPS, 70 % used: 3.82, and one to spare.
    [['--lookups-internal', '20000', '--lookups-external', '5000'], 5],
    // With autopath, 5,000 × 2 queries for external names.
    [['--lookups-internal', '20000', '--lookups-external', '5000', '--autopath'], 4],
    [['--lookups-external', '5000', '--families', '1', '--search-domains', '0'], 2],
    [[], 2],
  ])('%j: %i', async (flags, replicas) => {
    expect((await plan(...SIZE, ...flags)).replicas).toBe(replicas);
  });

  it('those of today fit or do not; without lookups nobody can tell', async () => {
    const fitOf = async (...flags: string[]) => {
      await world.remove();
      world = await testWorld();
      const { verdicts } = await plan(...SIZE, ...flags);
      return verdicts.find(({ about }) => about === 'replicas')?.fit;
    };
    expect(await fitOf('--replicas', '2')).toBe('cannot tell');
    expect(await fitOf('--replicas', '2', '--lookups-internal', '30000')).toBe('does not fit');
    expect(await fitOf('--replicas', '4', '--lookups-internal', '30000')).toBe('fits');
  });
});

describe('the plan', () => {
  it('is a patch and a ConfigMap that Kubernetes can read', async () => {
    const flags = [...SIZE, '--lookups-internal', '30000', '--nodes', '12', '--yaml'];
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(0);
    const [patch, map] = parseAllDocuments(world.out()).map((document) => document.toJS());
    const [container] = patch.spec.template.spec.containers;
    expect(container.resources).toEqual({ requests: { memory: '67Mi' }, limits: { memory: '181Mi' } });
    expect(patch.spec.replicas).toBe(4);
    expect(map).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'dns-autoscaler' } });
    expect(JSON.parse(map.data.linear)).toMatchObject({ min: 4, nodesPerReplica: 3 });
  });

  it('is 80 columns wide', async () => {
    expect(await world.bench('capacity', 'plan', ...SIZE, '--memory-limit', '170Mi')).toBe(0);
    for (const line of world.out().split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80);
  });

  it('counts a cluster with read rights only, however large, and whatever DNS it has', async () => {
    const server = await startApiServer({
      cluster: defineCluster({ pods: 2200, services: 30, namespaces: 3 }),
    });
    try {
      const path = join(world.directory, 'kubeconfig');
      const kubeconfig = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      };
      await writeFile(path, JSON.stringify(kubeconfig));
      Object.assign(world.env, { KUBECONFIG: path });
      const { demand } = await plan('--from-cluster');
      expect(demand).toMatchObject({
        pods: 2200,
        nodes: 20,
        replicas: null,
        memoryLimitBytes: null,
        autopath: false,
      });
      // The Service of the API server itself may be among them.
      expect(demand.services).toBeGreaterThanOrEqual(30);
      expect(demand.services).toBeLessThanOrEqual(31);
    } finally {
      await server.close();
    }
  });
});

describe('is refused with one message and a fix', () => {
  it.each([
    [['--pods', '-1', '--services', '5'], '--pods: "-1" must be a whole number from 0'],
    [['--pods', '1.5', '--services', '5'], '--pods: "1.5" must be a whole number from 0'],
    [['--pods', '5'], 'a plan needs the number of pods and of services'],
    [['--pods', '400000', '--services', '1'], 'more than 2 times what was measured'],
    [[...SIZE, '--families', '3'], '--families: "3" must be 1 or 2'],
    [[...SIZE, '--memory-limit', 'much'], '--memory-limit: "much" must be an amount of memory'],
    [[...SIZE, '--replicas', '0'], '--replicas: "0" must be a whole number from 1'],
  ])('%j', async (flags, message) => {
    expect(await world.bench('capacity', 'plan', ...flags)).toBe(2);
    expect(world.err()).toContain(message);
    expect(world.err()).toContain('fix:');
    expect(world.out()).toBe('');
  });

  it('but is made beyond the range where it is asked for', async () => {
    expect((await plan('--pods', '400000', '--services', '1', '--extrapolate')).objects).toBe(400_001);
  });

  it('a cluster that cannot be reached', async () => {
    Object.assign(world.env, { KUBECONFIG: '/nowhere' });
    expect(await world.bench('capacity', 'plan', '--from-cluster')).toBe(3);
    expect(world.err()).toContain('Set KUBECONFIG to the path of a kubeconfig file');
  });
});
