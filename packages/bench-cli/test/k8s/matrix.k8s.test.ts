import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OkTrial, RunRecord } from '../../src/results/record.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, leftovers } from './support/admin.ts';
import { clusterWorld, recordOf, SMALL, UNOBSERVED } from './support/bench.ts';

const ok = (record: RunRecord) => record.trials.filter((trial): trial is OkTrial => trial.status === 'ok');

/** The name of a node that takes any pod. */
async function someNode(): Promise<string> {
  const { items } = await core().listNode();
  const node = items.find(({ spec }) => spec?.unschedulable !== true && (spec?.taints ?? []).length === 0);
  if (node?.metadata?.name === undefined) throw new Error('no node takes pods without tolerations');
  return node.metadata.name;
}

describe('the matrix: both modes, three servers', () => {
  let world: TestWorld;
  let status: number;
  let record: RunRecord;
  beforeAll(async () => {
    world = await clusterWorld();
    const flags = ['--tier', '500m', '--duration', '1', '--warmup', '0', '--trials', '1'];
    // Each trial would wait for the kubelet's figures. What pods use is known below, of two instances.
    flags.push('--observe', 'none');
    status = await world.bench('matrix', '--target', 'kubernetes', ...flags, ...SMALL);
    record = await recordOf(world);
  });
  afterAll(() => world.remove());

  it('measures every case', () => {
    expect(record.trials.flatMap((trial) => (trial.status === 'failed' ? [trial.failure] : []))).toEqual([]);
    expect(status).toBe(0);
    expect(record).toMatchObject({ status: 'complete', target: 'kubernetes', loader: { kind: 'dnsperf' } });
    expect(record.cpuLimits).toMatchObject({ method: 'pod-limit', reason: null });
    expect(record.cases).toHaveLength(6);
    expect(new Set(record.cases.map(({ server }) => server))).toEqual(
      new Set(['coredns', 'dinodns-stock', 'dinodns']),
    );
    for (const item of record.cases) expect(item.trials, item.key).toEqual({ planned: 1, ok: 1, failed: 0 });
  });

  it('has checked every answer through the Service, and sent load there', () => {
    for (const trial of ok(record)) {
      expect(trial.checkedAnswers, trial.key).toBe(200);
      expect(trial.load.queriesCompleted, trial.key).toBeGreaterThan(100);
      expect(Object.keys(trial.load.responseCodes).length).toBeGreaterThan(1);
      expect(trial.loaderCommands[0]).toEqual(expect.arrayContaining(['dnsperf', '-p', '53']));
      expect(record.environment.cluster?.nodes.map(({ name }) => name)).toContain(trial.loaderNodes?.[0]);
    }
  });

  it('knows each pod, its node and image', () => {
    const nodes = record.environment.cluster?.nodes.map(({ name }) => name) ?? [];
    for (const trial of ok(record)) {
      for (const { pod, node, image, port, cpuAllowance } of trial.instances) {
        expect(pod).toMatch(/^s-\d+-/);
        expect(nodes).toContain(node);
        expect(image).not.toBe('');
        expect(port).toBe(5353);
        expect(cpuAllowance).toBe(0.5);
      }
    }
  });

  it('runs DinoDNS with the native sockets that it has elsewhere', () => {
    const dinodns = record.servers.find(({ name }) => name === 'dinodns');
    expect(dinodns?.components.udp).toBe('native');
    expect(record.warnings.join()).not.toContain('native sockets');
  });

  it('gives DinoDNS as many workers as its quota has CPUs', () => {
    const workers = ok(record).flatMap(({ caseKey, instances }) =>
      caseKey.startsWith('dinodns/') ? instances.map((instance) => instance.workers) : [],
    );
    expect(workers).toEqual([1, 1]);
  });

  it('describes the cluster', () => {
    const { cluster } = record.environment;
    expect(cluster?.version).toMatch(/^v1\.\d+/);
    expect(cluster?.nodes[0]).toMatchObject({
      kernel: expect.stringMatching(/\d/),
      containerRuntime: expect.stringContaining('://'),
      allocatableCpus: expect.any(Number),
    });
    expect(record.servers.map(({ version }) => version)).not.toContain('unknown');
    expect(record.provisioned.every(({ source }) => source === 'image')).toBe(true);
  });

  it('writes the reports', async () => {
    const folder = join(world.directory, 'results', record.id);
    const report = await readFile(join(folder, 'report.md'), 'utf8');
    for (const title of ['CoreDNS', 'DinoDNS (stock)', 'DinoDNS']) expect(report).toContain(title);
    const raw = await world.fs.readdir(join(folder, 'raw'), { recursive: true });
    expect(raw.filter((name) => /dnsperf-load-1\.txt$/.test(String(name)))).toHaveLength(6);
    expect(raw.filter((name) => /-1\.log$/.test(String(name)))).toHaveLength(6);
  });

  it('leaves nothing in the cluster', async () => {
    expect(await leftovers()).toEqual([]);
  });
});

describe('two instances behind one Service', () => {
  it('both get load, as record and report show, on the node they were sent to, and it is known what each uses', async () => {
    const world = await clusterWorld();
    try {
      const node = await someNode();
      const flags = ['--servers', 'coredns', '--tier', '2', '--mode', 'single', '--server-node', node];
      flags.push('--loader-node', node, ...SMALL);
      const times = ['--duration', '3', '--warmup', '0', '--trials', '1'];
      const status = await world.bench('run', '--target', 'kubernetes', ...flags, ...times);
      expect(status, world.err()).toBe(0);
      const record = await recordOf(world);
      const [trial] = ok(record);
      expect(trial?.instances.map((instance) => instance.node)).toEqual([node, node]);
      expect(trial?.loaderCommands[0]?.join(' ')).toContain('-c 200 -T 2 -q 200');
      expect(trial?.server?.cpuSource).toBe('kubelet-summary');
      expect(trial?.metrics.memoryBytes).toBeGreaterThan(2 ** 20);
      expect(trial?.loader?.cpuSeconds).toBeGreaterThan(0);
      expect(trial?.instanceObservations?.map(({ name }) => name)).toEqual(
        trial?.instances.map(({ pod }) => pod),
      );
      const [a = 0, b = 0] = trial?.instanceObservations?.map(({ cpuSeconds }) => cpuSeconds ?? 0) ?? [];
      // 200 sockets over two instances: one with less than a fifth would be one in 10^18.
      expect(Math.min(a, b)).toBeGreaterThan(0.2 * Math.max(a, b));
      const report = await readFile(join(world.directory, 'results', record.id, 'report.md'), 'utf8');
      const evenness = (Math.max(a, b) / ((a + b) / 2)).toFixed(2);
      expect(report).toMatch(new RegExp(`CoreDNS .*\\| 2 on ${node} .*\\| +${evenness} ×`));
      expect(record.warnings.join('\n')).toMatch(new RegExp(`shared node ${node}`));
    } finally {
      await world.remove();
    }
  });
});

describe('the built-in loader', () => {
  it('measures in the cluster as dnsperf does, with percentiles, over TCP as well: here DinoDNS with a worker for each core of its node', async () => {
    const world = await clusterWorld();
    try {
      const node = await someNode();
      const flags = ['--servers', 'dinodns', '--mode', 'multi', '--workers', 'node', '--server-node', node];
      // The account that every namespace has by itself serves, too.
      flags.push('--service-account', 'default', '--loader', 'builtin', '--transport', 'tcp');
      expect(await world.bench('run', ...UNOBSERVED, ...flags), world.err()).toBe(0);
      const record = await recordOf(world);
      expect(record.loader).toMatchObject({ kind: 'builtin', version: expect.stringMatching(/^\d+\./) });
      const cores = (await core().readNode({ name: node })).status?.capacity?.cpu;
      const [trial] = ok(record);
      // Whatever its quota.
      expect(trial?.instances).toMatchObject([{ workers: Number(cores), cpuAllowance: 0.5 }]);
      expect(trial?.checkedAnswers).toBe(200);
      expect(trial?.load.latencyPercentiles?.map(({ percentile }) => percentile)).toContain(99);
      expect(trial?.load.connections?.count).toBeGreaterThan(0);
      expect(trial?.loader?.cpuSeconds).toBeGreaterThan(0);
    } finally {
      await world.remove();
    }
  });
});
