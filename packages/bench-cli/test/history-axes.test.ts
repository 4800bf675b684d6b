/** Versions, variants, workloads, rates and transports as axes of the history. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CaseInput, makeRecord } from './fixtures/make-record.ts';
import { referenceFolder } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const OLD = '20261101-120000-aaaa';
const NEW = '20261102-120000-bbbb';
const around = (level: number) => [0, 1, 2, 3, 4, 5, 6].map((step) => ({ qps: level * (1 + step / 1000) }));

const cases = (level: number): CaseInput[] =>
  ['coredns@1.11.3', 'coredns@1.13.1', 'coredns@1.13.1+file'].flatMap((server, index) =>
    [2000, 5000, null].map((ratePerSecond) => ({
      server,
      ratePerSecond,
      trials: around((ratePerSecond ?? level) + 100 * index),
    })),
  );

async function save(id: string, list: readonly CaseInput[]): Promise<void> {
  const folder = join(world.directory, 'results', id);
  await mkdir(folder, { recursive: true });
  const startedAt = `${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6, 8)}T12:00:00.000Z`;
  const record = makeRecord({ cases: list, baseline: 'coredns@1.11.3' });
  await writeFile(join(folder, 'run.json'), JSON.stringify({ ...record, id, startedAt }));
}

/** Runs the CLI with --json and returns what it printed in this call alone. */
async function json(...argv: string[]) {
  const before = world.out().length;
  expect(await world.bench(...argv, '--json'), world.err()).toBe(0);
  return JSON.parse(world.out().slice(before));
}

describe('the axes of the history', () => {
  beforeEach(async () => {
    await save(OLD, cases(20_000));
    await save(NEW, cases(30_000));
  });

  it('are what runs are matched by: a rate is compared with the same rate only', async () => {
    const [result] = await json('compare', OLD, NEW, '--metric', 'qps');
    expect(result.cases).toHaveLength(9);
    for (const { referenceKey, candidateKey } of result.cases) expect(candidateKey).toBe(referenceKey);
    expect(result.onlyReference).toEqual([]);
    const labels = result.cases.map(({ label }: { label: string }) => label);
    expect(new Set(labels).size).toBe(9);
    expect(labels).toContain('coredns@1.13.1, tier 1, single, half, 2,000 queries/s, udp');
  });

  it.each([
    ['rate=2000', 3],
    ['rate=max', 3],
    ['server=coredns@1.13.1', 3],
    ['server=coredns@1.13.1,rate=5000', 1],
    ['server=coredns+file@1.13.1', 3],
    ['transport=udp,workload=half', 9],
  ])('select cases: RUN:%s', async (selector, count) => {
    const [result] = await json('compare', `${OLD}:${selector}`, `${NEW}:${selector}`);
    expect(result.cases).toHaveLength(count);
  });

  it('compare versions and variants within a run; a plus may belong to a name or to a pool', async () => {
    const [result] = await json(
      'compare',
      `${NEW}:server=coredns@1.11.3`,
      `${NEW}:server=coredns@1.13.1+file`,
    );
    expect(result.paired).toBe(true);
    expect(result.cases).toHaveLength(3);
    expect(result.cases[0].candidateKey).toBe('coredns@1.13.1+file/tier=1/single/half/udp/rate=2000');
    const sides = ['coredns@1.11.3', 'coredns@1.13.1+file'].map(
      (server) => `${OLD}:server=${server}+${NEW}:server=${server}`,
    );
    const [pooled] = await json('compare', ...sides);
    expect(pooled.candidate).toBe(`${OLD}+${NEW}`);
    expect(pooled.cases).toHaveLength(3);
  });

  it('are lines of a trend, no two with the same heading', async () => {
    const { lines } = await json('trend', '--rate', '2000');
    expect(lines.map(({ subject }: { subject: string }) => subject).toSorted()).toEqual([
      'coredns@1.11.3',
      'coredns@1.13.1',
      'coredns@1.13.1+file',
    ]);
    for (const { point, points } of lines) expect([point.rate, points.length]).toEqual([2000, 2]);
    expect(await world.bench('trend')).toBe(0);
    const headings = world.out().match(/^coredns@.*$/gm) ?? [];
    expect(headings).toHaveLength(9);
    expect(new Set(headings).size).toBe(9);
    expect(headings).toContain('coredns@1.13.1+file, tier 1, single, half, 5,000 queries/s, udp on');
  });

  it('select what a gate judges', async () => {
    const argv = ['gate', NEW, '--against', OLD, '--rate', '2000', '--server', 'coredns@1.13.1'];
    const result = await json(...argv);
    expect(result.cases).toHaveLength(1);
    expect(result.outcome).toBe('passed');
    expect(await world.bench('gate', NEW, '--against', OLD, '--rate', '7000')).toBe(2);
    expect(world.err()).toContain('has no case with rate=7000');
  });

  it('judge a server by another one, or a fault by its control, in a run that compares faults', async () => {
    const path = referenceFolder('disrupt-upstream');
    const { cases: judged } = await json(
      'gate',
      `${path}:server=coredns@1.13.2`,
      ...['--base', 'coredns@1.11.3', '--max-regression', '99%'],
    );
    expect(judged.map(({ key }: { key: string }) => key.split('/').slice(0, 2).join(' '))).toEqual(
      ['control', 'upstream-slow', 'upstream-silent', 'upstream-servfail', 'upstream-refused'].map(
        (fault) => `${fault} coredns@1.13.2`,
      ),
    );
    expect(judged[1].label).toContain('coredns@1.13.2 against coredns@1.11.3');
    const argv = ['gate', `${path}:server=unbound,subject=upstream-silent`, '--max-regression', '1%'];
    expect(await world.bench(...argv, '--base', 'coredns@1.11.3')).toBe(9);
    expect(await world.bench(...argv, '--base', 'control')).toBe(9);
    expect(await world.bench('gate', path, '--base', 'coredns@1.11.3')).toBe(2);
    expect(world.err()).toContain(
      'measured coredns@1.13.2, coredns@1.15.0, unbound beside coredns@1.11.3: which one is judged?',
    );
    expect(world.err()).toMatch(/Name it: bench gate \S+:server=NAME --base coredns@1\.11\.3\./);
  });

  it('normalize by the server at the same rate', async () => {
    const [result] = await json('compare', OLD, NEW, '--normalize', 'coredns@1.11.3', '--metric', 'qps');
    const file = result.cases.find(
      ({ label }: { label: string }) => label.startsWith('coredns@1.13.1+file') && label.includes('2,000'),
    );
    expect(file.figures[0].reference).toBeCloseTo(2200 / 2000, 3);
  });

  it('normalize a trend by the server at the same rate, whose limit alone counts', async () => {
    const base = makeRecord({ cases: cases(20_000), baseline: 'coredns@1.11.3' });
    const startedAt = '2026-11-03T12:00:00.000Z';
    const limited = base.cases.map((item) =>
      item.ratePerSecond === 2000 && item.server === 'coredns@1.11.3'
        ? { ...item, limitedBy: 'loader' as const }
        : item,
    );
    const id = '20261103-120000-cccc';
    await mkdir(join(world.directory, 'results', id), { recursive: true });
    await writeFile(
      join(world.directory, 'results', id, 'run.json'),
      JSON.stringify({ ...base, id, startedAt, cases: limited }),
    );
    const foreignAt = async (rate: string) => {
      const argv = ['--server', 'coredns@1.13.1', '--rate', rate, '--normalize', 'coredns@1.11.3'];
      const { lines } = await json('trend', '--metric', 'qps', ...argv);
      return lines[0].points.map(({ isForeign }: { isForeign: boolean }) => isForeign);
    };
    expect(await foreignAt('2000')).toEqual([false, false, true]);
    expect(await foreignAt('5000')).toEqual([false, false, false]);
  });

  it('list runs by a kind, or by one version of it', async () => {
    const ids = async (server: string) =>
      (await json('history', '--server', server)).map(({ id }: { id: string }) => id);
    expect(await ids('coredns')).toEqual([NEW, OLD]);
    expect(await ids('coredns@1.13.1+file')).toEqual([NEW, OLD]);
    expect(await world.bench('history', '--server', 'coredns@1.12.0')).toBe(0);
    expect(world.err()).toContain('None of 2 runs');
  });
});
