/** `bench reproduce swap`: the published differences beside those of a swap and of a comparison. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SwapRecord } from '../src/experiments/swap/evidence.ts';
import type { ComparedRuns } from '../src/history/compare.ts';
import type { Reproduction } from '../src/history/reproduce/procedure.ts';
import { createStore } from '../src/results/store.ts';
import { eightPlacements, makeSwap, swapRecordKind } from './fixtures/make-swap.ts';
import { referenceFolder } from './support/reference.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const save = (record: SwapRecord) => createStore(world, 'results').saveAs(swapRecordKind, record);

async function reproduced(...argv: string[]): Promise<Reproduction> {
  expect(await world.bench('reproduce', 'swap', ...argv, '--json'), world.err()).toBe(0);
  return JSON.parse(world.out());
}

it('compares CPU under load, idle included, and says so of a swap whose ratio is known', async () => {
  await save(makeSwap(eightPlacements(100, 112, 1, 20)));
  const { cells, conditions, notes } = await reproduced();
  expect(cells.map(({ title, published }) => [title, published.delta])).toEqual([
    ['1.13.1 internal', 0.046],
    ['1.13.1 external', 0.074],
  ]);
  const [internal] = cells;
  // Of the published readings; the averages beside them are truncated.
  expect(internal?.published.ratio).toBeCloseTo(1.0445, 4);
  expect(internal?.measured).toMatchObject({ trials: 4, method: 'student-t' });
  expect(internal?.measured?.ratio).toBeCloseTo(132 / 120, 1);
  expect(internal?.verdict).toBe('same direction');
  expect(conditions.find(({ name }) => name === '--rate')).toMatchObject({ run: '2000', isSame: true });
  expect(conditions.find(({ name }) => name === 'coredns@1.11.3 version')?.isSame).toBe(true);
  expect(conditions.find(({ name }) => name === 'coredns@1.13.1 Go')).toMatchObject({
    published: '1.24.6',
    run: null,
  });
  expect(notes[0]).toContain(
    "Ours: 8 trials; 1.13.1 against 1.11.3, beside the cluster's DNS: more CPU (+12m) for internal names, more",
  );
  expect(notes.filter((note) => note.includes('the load is not visible'))).toHaveLength(4);
});

it('takes placements that count only: without a pair there is nothing to compare', async () => {
  await save(makeSwap(eightPlacements(100, 112).map((one) => ({ ...one, held: 0.5 }))));
  expect(await world.bench('reproduce', 'swap')).toBe(2);
  expect(world.err()).toContain('none of the cases of publication "swap"');
});

it('takes the newest swap, whatever was run after it', async () => {
  await save(makeSwap(eightPlacements(100, 112, 1, 20)));
  const results = join(world.directory, 'results');
  await cp(referenceFolder('local-default'), join(results, '99991231-235959-later'), { recursive: true });
  const { cells } = await reproduced();
  expect(cells[0]?.measured).toMatchObject({ trials: 4 });
});

it('works on the reference run on one machine, and contradicts the publication', async () => {
  await cp(referenceFolder('local-coredns-versions'), join(world.directory, 'results', 'versions'), {
    recursive: true,
  });
  const { cells } = await reproduced('results/versions');
  expect(cells.map(({ verdict, contradiction }) => [verdict, contradiction])).toEqual([
    ['contradicted', 'opposite'],
    ['contradicted', 'opposite'],
  ]);
  for (const { measured } of cells) expect(measured).toMatchObject({ trials: 8 });
});

it('is in the history as a run of its experiment, with its summary, and has every report', async () => {
  const record = makeSwap(eightPlacements(100, 120));
  await save(record);
  expect(await world.bench('history')).toBe(0);
  expect(world.out().replaceAll(/\n.* {2}/g, ' ')).toContain(
    "1.13.1 against 1.11.3, beside the cluster's DNS: more CPU (+20m)",
  );
  expect(await world.bench('report', 'latest', '--format', 'md,csv,json,html,blog,svg')).toBe(0);
  const names = [
    'report.md',
    'trials.csv',
    'record.json',
    'report.html',
    'blog/index.md',
    'charts/net-cpu.svg',
  ];
  for (const name of names) expect(world.out()).toContain(name);
  expect(await world.bench('report', 'latest', '--format', 'benchstat')).toBe(2);
  expect(world.err()).toContain('a run of "swap" has no format "benchstat"');
});

it('is compared with the swap of last month, has a trend, can fail a gate, and is pooled', async () => {
  const [before, now] = ['20261020-080000-0001', '20261120-080000-0002'];
  await save(makeSwap(eightPlacements(100, 112), { id: before, startedAt: '2026-10-20T08:00:00.000Z' }));
  await save(makeSwap(eightPlacements(100, 140), { id: now, startedAt: '2026-11-20T08:00:00.000Z' }));
  expect(await world.bench('compare', before, now), world.err()).toBe(0);
  expect(world.out()).toContain('coredns@1.13.1, shadow, 2,000 queries/s');
  expect(world.out()).toMatch(/^Net CPU, internal +111m +139m +\+28m \[\+25m, \+31m\] +more$/m);
  expect(world.out()).toMatch(/^CPU per query, internal .*\+25 % \[.*\] +more$/m);
  for (const figure of ['Latency p99, internal', 'Lost, internal', 'Working set, internal'])
    expect(world.out()).toMatch(new RegExp(`^${figure} .*not shown$`, 'm'));
  expect(await world.bench('trend', '--metric', 'net-internal', '--json'), world.err()).toBe(0);
  expect(await world.bench('gate', now, '--against', before)).toBe(9);
  expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
    /Net CPU, internal, at most 3% worse .* coredns@1\.13\.1/,
  );
  const third = '20261125-080000-0003';
  await save(makeSwap(eightPlacements(100, 120), { id: third, startedAt: '2026-11-25T08:00:00.000Z' }));
  const said = world.out().length;
  expect(await world.bench('compare', `${before}+${now}`, third, '--json'), world.err()).toBe(0);
  const [compared]: readonly ComparedRuns[] = JSON.parse(world.out().slice(said));
  expect(compared?.reference).toBe(`${before}+${now}`);
  // Four pairs of each.
  const figure = compared?.cases
    .flatMap(({ figures }) => figures)
    .find(({ metric }) => metric === 'net-internal');
  expect(figure?.trials).toEqual([8, 4]);
});
