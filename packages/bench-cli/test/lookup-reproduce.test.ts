/** `bench reproduce lookup`: the published sample beside a run. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LookupRecord, lookupKind } from '../src/experiments/lookup/evidence.ts';
import { reproducingRun } from '../src/experiments/lookup/reproduce.ts';
import { readSampled } from '../src/experiments/lookup/sampling/sampler.ts';
import { evidenceOf } from '../src/experiments/lookup/trial.ts';
import { createStore } from '../src/results/store.ts';
import { type MadeLookup, makeLookup } from './fixtures/make-lookup.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld({ columns: 100 });
});
afterEach(() => world.remove());

const LINES = [
  'kernel|begin|0',
  'sample|100|0.010000|0.011000|0.012000|0.013000|192.0.2.1|40000|200|0',
  'sample|110|0.030000|0.032000|0.033000|0.034000|192.0.2.1|40001|200|0',
  'sample|120|0.020000|0.000000|0.000000|8.000000||0|000|28',
  'kernel|end|0',
];

function lookupRecord({ flags = {}, ...given }: Partial<MadeLookup> = {}): LookupRecord {
  const subject =
    flags.target === 'kubernetes' ? '0 Services' : flags.local === true ? 'Inline' : 'this machine';
  const evidence = evidenceOf({
    seconds: 1,
    samplers: [{ ...readSampled(LINES), name: subject, node: null, isCold: false }],
    packets: null,
    kernel: { syn: null, synAck: null, scope: 'machine' },
    prediction: null,
  });
  return makeLookup({
    flags: { trials: 1, duration: 1, ...flags },
    trials: [{ subject, round: 0, evidence }],
    ...given,
  });
}

it('shows every published figure, and those of the run that are the same', async () => {
  await createStore(world, 'results').saveAs(lookupKind, lookupRecord());
  expect(await world.bench('reproduce', 'lookup'), world.err()).toBe(0);
  const line = (name: string) =>
    world
      .out()
      .split('\n')
      .find((text) => text.includes(name)) ?? '';
  expect(line('lookup p50')).toMatch(/23\.9 ms +10\.0 ms/);
  expect(line('connect max')).toMatch(/3\.12 ms +2\.00 ms/);
  expect(line('samples that succeeded')).toMatch(/104 +2/);
  expect(line('samples that failed')).toMatch(/0 +1/);
  expect(line('repeated SYNs')).toMatch(/0 +–/);
  expect(line('samples a minute')).toMatch(/104 +180/);
});

it('gives the figures as JSON, and as Markdown', async () => {
  await createStore(world, 'results').saveAs(lookupKind, lookupRecord());
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'json')).toBe(0);
  const { figures } = JSON.parse(world.out());
  expect(figures).toHaveLength(18);
  expect(figures[0]).toEqual({ name: 'lookup min', unit: 'seconds', published: 0.009491, ours: [0.01] });
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'markdown')).toBe(0);
  expect(world.out()).toContain('# tiger-bench dnsperf');
});

const CLUSTER = {
  id: '20261122-080000-00bb',
  flags: { target: 'kubernetes' },
  conditions: { nodes: '4', dataplane: 'iptables', 'Calico version': 'v3.29.1' },
} as const;

it('prefers a run on a cluster to a newer one of this machine, and never takes a simulation', async () => {
  const flags = { local: true, simulatePolicy: 'Inline' };
  const startedAt = '2026-11-22T10:00:00.000Z';
  const store = createStore(world, 'results');
  await store.saveAs(lookupKind, lookupRecord({ id: '20261122-100000-00cc', startedAt, flags }));
  await store.saveAs(lookupKind, lookupRecord());
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'json')).toBe(0);
  expect(JSON.parse(world.out()).run).toBe('20261122-093000-00aa');
  expect(await world.bench('reproduce', 'lookup', '20261122-100000-00cc')).toBe(2);
  expect(world.err()).toContain('is a simulation, which says nothing about any product');
  await store.saveAs(lookupKind, lookupRecord(CLUSTER));
  expect(await world.bench('reproduce', 'lookup'), world.err()).toBe(0);
  expect(world.out()).toContain('those of run 20261122-080000-00bb');
});

it('shows settings and cluster of the sample, and those of the run', async () => {
  await createStore(world, 'results').saveAs(lookupKind, lookupRecord(CLUSTER));
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'json')).toBe(0);
  const { conditions } = JSON.parse(world.out());
  expect(conditions).toEqual(
    expect.arrayContaining([
      { name: 'page', published: 'http://www.example.com', ours: ['http://www.example.com'], isSame: true },
      { name: 'Services', published: '1000', ours: ['0'], isSame: false },
      { name: 'DNS policy', published: 'none', ours: ['none'], isSame: true },
      { name: 'packets captured', published: 'no', ours: ['no'], isSame: true },
      { name: 'encapsulation', published: 'VXLANCrossSubnet', ours: ['–'], isSame: null },
      { name: 'nodes', published: '4', ours: ['4'], isSame: true },
      { name: 'dataplane', published: 'iptables', ours: ['iptables'], isSame: true },
      {
        name: 'Calico version',
        published: 'v3.30.0-0.dev-852-g389eae30ae5d',
        ours: ['v3.29.1'],
        isSame: false,
      },
    ]),
  );
});

it.each([
  [{ target: 'kubernetes', policy: 'calico' }, 'with the mode of the cluster', 'a turn of a loop in the pod'],
  [{ target: 'kubernetes', policy: 'cilium', podPerSample: true }, 'of Cilium', 'a pod of its own'],
  [{}, 'none', 'a turn of a loop on this machine'],
])('tells the policy and what a sample is, as they were: %j', (flags, policy, sample) => {
  const { conditions } = reproducingRun(lookupRecord({ flags })).columns[0] ?? {};
  expect(conditions).toMatchObject({ 'DNS policy': policy, 'a sample is': sample });
});

it('takes an imported file of tiger-bench, whose repeated packets count only where it captured', async () => {
  const file = fileURLToPath(new URL('fixtures/import/tiger-bench.json', import.meta.url));
  expect(await world.bench('import', file), world.err()).toBe(0);
  expect(await world.bench('reproduce', 'lookup', 'latest', '--format', 'json'), world.err()).toBe(0);
  const imported = JSON.parse(world.out().slice(world.out().indexOf('{')));
  const figure = (name: string) => imported.figures.find((each: { name: string }) => each.name === name);
  // The failed test of the file has no column.
  expect(figure('lookup p50')).toMatchObject({ published: 0.023875, ours: [0.004] });
  expect(figure('samples that failed')).toMatchObject({ published: 0, ours: [1] });
  expect(figure('repeated SYNs')).toMatchObject({ ours: [null] });
  expect(imported.conditions).toContainEqual({
    name: 'dataplane',
    published: 'iptables',
    ours: ['bpf'],
    isSame: false,
  });
  expect(await world.bench('reproduce', 'lookup', imported.run, '--format', 'markdown')).toBe(0);
  expect(world.out()).toContain(`results of tiger-bench (${imported.run})`);
});

it('says what to do where there is no run', async () => {
  expect(await world.bench('reproduce', 'lookup')).not.toBe(0);
  expect(world.err()).toContain('there is no run of bench lookup');
});
