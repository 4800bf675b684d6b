import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  CACHING,
  cachingKind,
  THROUGHPUT,
  throughputKind,
} from '../src/experiments/capacity/cases/evidence.ts';
import { type MemoryRecord, memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import type { ReproducedRow } from '../src/experiments/capacity/reproduce/rows.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import { createStore } from '../src/results/store.ts';
import { casesRecord } from './fixtures/cases-record.ts';
import { referenceText } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
let memory: MemoryRecord<Readonly<Record<string, unknown>>>;
beforeEach(async () => {
  world = await testWorld({ columns: 120 });
  const record = parseRecordAs(memoryKind, referenceText('capacity-memory'), 'run.json');
  memory = { ...record, environment: { ...record.environment, hostname: world.machine.hostname } };
});
afterEach(() => world.remove());

const saveMemory = () => createStore(world, 'results').saveAs(memoryKind, memory);

interface Reproduced {
  readonly figures: readonly ReproducedRow[];
  readonly missing: readonly string[];
  /** Of the conditions, by place. */
  readonly runs: readonly string[];
  readonly conditions: readonly object[];
}

async function reproduced(name: string, ...flags: string[]): Promise<Reproduced> {
  const before = world.out().length;
  expect(await world.bench('reproduce', name, ...flags, '--json'), world.err()).toBe(0);
  return JSON.parse(world.out().slice(before));
}

const medianOf = ({ ours }: ReproducedRow) => ours.find(({ version }) => version === '1.15.0')?.median;

const rowOf = ({ figures }: Reproduced, name: string) => {
  const found = figures.find((row) => row.name === name);
  if (found === undefined)
    throw new Error(`no row "${name}" in ${figures.map((row) => row.name).join('; ')}`);
  return found;
};

const saveCases = async (...given: Parameters<typeof casesRecord>) => {
  const kind = given[0] === THROUGHPUT ? throughputKind : cachingKind;
  await createStore(world, 'results').saveAs(kind, casesRecord(...given));
};
const headOf = (id: string) => ({ ...memory, id });

describe('scaling', () => {
  it('without any run shows what was published, and which command measures it', async () => {
    const found = await reproduced('scaling');
    expect(rowOf(found, 'default, external: lookups/s')).toMatchObject({ published: 6733, ours: [] });
    expect(rowOf(found, 'lookups/s: autopath, external ÷ default, external').published).toBeCloseTo(4.67, 2);
    expect(found.missing).toEqual([
      expect.stringMatching(
        /^16 of \d+ figures are missing: bench capacity throughput --configurations default,autopath$/,
      ),
      expect.stringMatching(
        /figures are missing: bench capacity memory --objects 0,15820,63280,158200 --configurations default,autopath$/,
      ),
    ]);
    expect(found.conditions).toContainEqual({
      name: 'target',
      published: 'kubernetes',
      ours: [],
      isSame: null,
    });
    expect(await world.bench('reproduce', 'scaling')).toBe(0);
    expect(world.out()).toMatch(/Conditions of the publication/i);
    expect(world.out()).not.toMatch(/Conditions that differ|The same:/i);
  });

  it('puts memory beside the points, the formula and the line, for each version', async () => {
    await saveMemory();
    const found = await reproduced('scaling');
    const point = rowOf(found, 'default, 158,200 Pods and Services');
    expect(point.published).toBe(154e6);
    expect(point.ours.map(({ version }) => version).toSorted()).toEqual(['1.11.3', '1.15.0']);
    // The points are maximum memory: more than settled where reading the objects needs more, as with autopath.
    expect(medianOf(rowOf(found, 'autopath, 63,280 Pods and Services'))).toBeGreaterThan(700e6);
    // And not less than settled, which the peak of a cold start may be.
    expect(medianOf(rowOf(found, 'default, 0 Pods and Services'))).toBeGreaterThan(14e6);
    const formula = found.figures.find(
      ({ name, section }) => section.includes('formula') && name === 'autopath, 158,200 Pods and Services',
    );
    expect(formula?.published).toBeCloseTo(688.8e6, -5);
    expect(formula?.ours.every(({ median }) => median > 700e6)).toBe(true);
    const each = rowOf(found, 'default, formula: an object');
    expect(each.published).toBe(1000);
    for (const { median, low, high } of each.ours) {
      expect(median).toBeGreaterThan(1200);
      expect(low).toBeLessThan(median);
      expect(high).toBeGreaterThan(median);
    }
    for (const [name, published] of [
      ['a full cache', 30e6],
      ['load, on top of a full cache', 5e6],
    ] as const) {
      const part = rowOf(found, name);
      expect(part.published).toBe(published);
      expect(part.ours).toHaveLength(2);
      expect(part.ours.every(({ median, low }) => median > 0 && median < published * 2 && low === null)).toBe(
        true,
      );
    }
    const ratio = rowOf(found, 'autopath ÷ default, 63,280 Pods and Services');
    expect(ratio.published).toBeCloseTo(178 / 76, 6);
    expect(ratio.ours).toHaveLength(2);
    expect(await world.bench('reproduce', 'scaling')).toBe(0);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain('250 looks like an arithmetic slip');
  });

  it('gives ratios of lookups a verdict, and absolute figures none', async () => {
    const autopath = { subject: 'coredns-cluster+autopath' };
    await saveCases(THROUGHPUT, headOf('20261122-100000-aaaa'), [
      { lookup: 'external', lookupsPerSecond: 5000 },
      { lookup: 'internal', lookupsPerSecond: 25_000 },
      { ...autopath, lookup: 'external', lookupsPerSecond: 5000 * 4.7 },
      { ...autopath, lookup: 'internal', lookupsPerSecond: 12_500 },
    ]);
    const found = await reproduced('scaling');
    expect(rowOf(found, 'default, internal: lookups/s').ours[0]).toMatchObject({
      judgement: null,
      version: '1.15.0',
    });
    const verdicts = [
      'lookups/s: autopath, external ÷ default, external',
      'lookups/s: autopath, internal ÷ default, internal',
      'lookups/s: default, internal ÷ default, external',
    ].map((name) => rowOf(found, name).ours[0]?.judgement?.verdict);
    // 4.7 with no scatter beside 4.67; half instead of the same; 5.0 beside 5.0006.
    expect(verdicts).toEqual(['same direction', 'contradicted', 'same direction']);
    expect(await world.bench('reproduce', 'scaling')).toBe(0);
    expect(world.out()).toMatch(/default, external: lookups\/s +6,733 +5,100/);
    expect(world.out()).not.toContain('the load generator');
  });

  it('has a column for each of several tiers, and refuses a run of what was not published', async () => {
    await saveCases(THROUGHPUT, headOf('20261122-100000-aaaa'), [
      { lookup: 'external', lookupsPerSecond: 5000 },
      { lookup: 'external', lookupsPerSecond: 10_000, tier: 1 },
    ]);
    const found = await reproduced('scaling');
    expect(rowOf(found, 'default, external: lookups/s').ours.map(({ tier }) => tier)).toEqual([0.5, 1]);
    expect(await world.bench('reproduce', 'scaling')).toBe(0);
    expect(world.out()).toMatch(/ours, 1\.15\.0 at 1 CPU \[95 %\] +ours, 1\.15\.0 at 0\.5 CPUs \[95 %\]/);
    expect(world.out()).toMatch(/default, external: lookups\/s +6,733 +10,200 .* 5,100/);
    expect(await world.bench('reproduce', 'kube-dns', '20261122-100000-aaaa')).toBe(2);
    expect(world.err()).toContain('is a run of throughput, which kube-dns did not publish');
    expect(world.err()).toContain('Name runs of bench capacity caching or memory.');
  });

  it('says where the load generator was the limit', async () => {
    await saveCases(THROUGHPUT, headOf('20261122-100000-aaaa'), [
      { lookup: 'external', lookupsPerSecond: 5000, otherwiseLimited: 3 },
      { lookup: 'internal', lookupsPerSecond: 25_000 },
    ]);
    const ratio = rowOf(await reproduced('scaling'), 'lookups/s: default, internal ÷ default, external');
    expect(ratio.ours[0]?.judgement).toEqual({ verdict: 'cannot tell', contradiction: null });
    expect(await world.bench('reproduce', 'scaling')).toBe(0);
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain('In 3 of 10 trials of throughput');
  });
});

describe('kube-dns', () => {
  const cache = 'cached';
  const saveCaching = () =>
    saveCases(CACHING, headOf('20261122-110000-bbbb'), [
      { cache, lookup: 'external', lookupsPerSecond: 6000 },
      { cache, lookup: 'internal', lookupsPerSecond: 30_000 },
      { cache, subject: 'dnsmasq', lookup: 'external', lookupsPerSecond: 2000 },
      { cache, subject: 'dnsmasq', lookup: 'internal', lookupsPerSecond: 33_000 },
      { cache, subject: 'dnsmasq+negative', lookup: 'external', lookupsPerSecond: 2290 },
      { cache, subject: 'dnsmasq+negative', lookup: 'internal', lookupsPerSecond: 33_000 },
    ]);

  it('compares the published ratios of lookups and of latency, and says that ours is not kube-dns', async () => {
    await saveCaching();
    const found = await reproduced('kube-dns');
    const ratios = found.figures.filter(({ name }) => name.startsWith('lookups/s: '));
    const latencies = found.figures.filter(({ name }) => name.startsWith('latency of a lookup: '));
    expect(latencies.map(({ published }) => Number(published.toFixed(3)))).toEqual([
      0.289, 1.012, 0.882, 1.283,
    ]);
    expect(ratios.map(({ published }) => Number(published.toFixed(3)))).toEqual([3.023, 1.088, 1.146, 0.791]);
    expect(ratios.map(({ ours }) => ours[0]?.median.toFixed(3))).toEqual([
      '3.000',
      '1.100',
      '1.145',
      '1.000',
    ]);
    expect(ratios.at(-1)?.ours[0]?.judgement).toEqual({
      verdict: 'contradicted',
      contradiction: 'no difference',
    });
    expect(await world.bench('reproduce', 'kube-dns')).toBe(0);
    expect(world.out()).toContain('Ours is not kube-dns, but its caching tier');
  });

  it('takes the runs that are named, and puts the growth of CoreDNS beside the published one', async () => {
    await saveMemory();
    await saveCaching();
    const named = `${memory.id}+20261122-110000-bbbb`;
    const growth = rowOf(await reproduced('kube-dns', named), 'CoreDNS, growth under load');
    expect(growth.published).toBe(5 * 2 ** 20);
    expect(rowOf(await reproduced('kube-dns', named), 'kube-dns, growth under load').published).toBe(
      58 * 2 ** 20,
    );
    expect(growth.ours.map(({ version }) => version).toSorted()).toEqual(['1.11.3', '1.15.0']);
    // Load on top of a full cache: filling the cache takes 10 MB and more, and is not in it.
    expect(growth.ours.every(({ median }) => Math.abs(median) < 10e6)).toBe(true);
    const other = await reproduced('kube-dns', memory.id);
    expect(rowOf(other, 'CoreDNS, external: lookups/s').ours).toEqual([]);
    expect(other.missing.join('\n')).toContain('bench capacity caching --cache cached');
  });

  it('takes kube-dns itself where it was measured', async () => {
    const cache = 'cached';
    await saveCases(CACHING, headOf('20261122-120000-cccc'), [
      { cache, lookup: 'internal', lookupsPerSecond: 30_000 },
      { cache, subject: 'dnsmasq', lookup: 'internal', lookupsPerSecond: 90_000 },
      { cache, subject: 'kube-dns', lookup: 'internal', lookupsPerSecond: 33_000 },
    ]);
    const found = await reproduced('kube-dns');
    expect(medianOf(rowOf(found, 'kube-dns, internal: lookups/s'))).toBeCloseTo(33_000 * 1.02, 0);
    expect(await world.bench('reproduce', 'kube-dns')).toBe(0);
    expect(world.out()).not.toContain('Ours is not kube-dns');
  });

  it('shows the conditions of the publication beside those of each run', async () => {
    await saveMemory();
    await saveCaching();
    const { runs, conditions } = await reproduced('kube-dns');
    expect(runs).toEqual(['caching', 'memory']);
    expect(conditions).toEqual(
      expect.arrayContaining([
        { name: 'target', published: 'kubernetes', ours: ['local', 'local'], isSame: false },
        { name: 'CoreDNS version', published: '1.2.5', ours: ['1.15.0', '1.11.3, 1.15.0'], isSame: false },
        { name: 'cores of a machine', published: '2', ours: ['2', '2'], isSame: true },
        { name: 'network plugin', published: 'kubenet', ours: [null, null], isSame: null },
        { name: 'trials of each case', published: '1', ours: ['5', '2'], isSame: false },
      ]),
    );
    const twice = `${memory.id}+${memory.id}`;
    expect(await world.bench('reproduce', 'kube-dns', twice)).toBe(2);
    expect(world.err()).toContain('two runs of memory were named');
    expect(world.err()).toContain('run the command once for each');
  });

  it('says of a run without CPU limits that it had none, whatever its settings', async () => {
    const record = parseRecordAs(cachingKind, referenceText('kubernetes-capacity-caching'), 'run.json');
    expect(record.settings.tier).toEqual([0.5]);
    await createStore(world, 'results').saveAs(cachingKind, record);
    const { conditions } = await reproduced('kube-dns', record.id);
    expect(conditions).toContainEqual(
      expect.objectContaining({ name: 'CPUs of the server', ours: ['no limit'] }),
    );
  });

  it.each([
    [['kube-dns', '20990101-000000-dead'], 6, 'there is no run "20990101-000000-dead"'],
    [['scaling', 'latest', '--format', 'pdf'], 2, 'must be one of text, markdown, github, json'],
  ])('%j is refused with its fix', async (argv, status, message) => {
    expect(await world.bench('reproduce', ...argv)).toBe(status);
    expect(world.err()).toContain(message);
  });
});
