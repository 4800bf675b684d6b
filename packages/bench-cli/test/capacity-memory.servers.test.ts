/** `bench capacity memory` on real CoreDNS, with a few objects. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type CapacityRecord, capacityKind, memoryStartsOf } from '../src/experiments/capacity/record.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const SMALL = ['--objects', '0,400', '--config', 'autopath', '--starts', '2', '--rate', '2000', '--quick'];

async function record(): Promise<CapacityRecord> {
  return (await createStore(world, 'results').loadAs(capacityKind, 'latest')).record;
}

it('is measured through all stages, can be interrupted and resumed, and leaves nothing behind', async () => {
  const first = world.bench('capacity', 'memory', ...SMALL, '--side-by-side', '1');
  await world.errContains('1/4');
  world.send('SIGINT');
  expect(await first).toBe(130);
  expect(world.err()).toMatch(/Continue with: pnpm bench capacity memory --resume \d{8}-/);
  expect(await record()).toMatchObject({ status: 'interrupted', experiment: 'capacity' });
  const kept = memoryStartsOf(await record());
  expect(kept).toHaveLength(1);

  expect(await world.bench('capacity', 'memory', '--resume', 'latest')).toBe(0);
  const complete = await record();
  const { status, programs } = complete;
  const starts = memoryStartsOf(complete);
  expect(status).toBe('complete');
  expect(starts.slice(0, 1)).toEqual(kept);
  expect(starts.map(({ point, start }) => `${point} ${start}`).toSorted()).toEqual([
    'coredns-cluster/autopath/0 1',
    'coredns-cluster/autopath/0 2',
    'coredns-cluster/autopath/400 1',
    'coredns-cluster/autopath/400 2',
  ]);
  for (const start of starts) {
    if (start.status === 'failed') throw new Error(start.failure.message);
    const { stages, coldStart, relist, cacheEntries, load } = start;
    expect(cacheEntries?.success).toBeGreaterThan(500);
    expect(cacheEntries?.denial).toBeGreaterThan(500);
    expect(coldStart.peak.anonymousBytes).toBeGreaterThanOrEqual(stages.loaded.anonymousBytes * 0.95);
    expect(relist.peak.anonymousBytes).toBeGreaterThan(5e6);
    expect(stages.settled.heap.collections).toBeGreaterThan(stages.loaded.heap.collections);
    expect(stages.underLoad.residentBytes).toBeGreaterThan(stages.underLoad.anonymousBytes);
    expect(load.heldQps).toBeGreaterThan(100);
  }
  expect(programs[0]?.files.Corefile).toContain('pods verified');
  expect(world.out()).toContain('Memory of CoreDNS');
  // Everything that was started has ended.
  for (const { process } of world.started) expect(process.exit).toBeDefined();

  // The record is one of `bench report` and `bench history`.
  expect(await world.bench('report', 'latest', '--format', 'markdown')).toBe(0);
  expect(world.out()).toMatch(/\| coredns-cluster \| autopath +\| +400 \|/);
}, 180_000);
