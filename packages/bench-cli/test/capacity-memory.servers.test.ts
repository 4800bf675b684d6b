/** `bench capacity memory` on real CoreDNS, with a few objects. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type MemoryRecord, memoryKind } from '../src/experiments/capacity/memory/evidence.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const SMALL = [
  '--objects',
  '0,400',
  '--configurations',
  'autopath',
  '--trials',
  '2',
  '--rate',
  '1000',
  '--quick',
];

async function record(): Promise<MemoryRecord> {
  return (await createStore(world, 'results').loadAs(memoryKind, 'latest')).record;
}

it('is measured through all stages, can be interrupted and resumed, and leaves nothing behind', async () => {
  const first = world.bench('capacity', 'memory', ...SMALL, '--side-by-side', '1');
  await world.errContains('1/4');
  world.send('SIGINT');
  expect(await first).toBe(130);
  expect(world.err()).toMatch(/Continue with: pnpm bench capacity memory --resume \d{8}-/);
  const kept = await record();
  expect(kept).toMatchObject({ status: 'interrupted', experiment: 'capacity-memory' });
  expect(kept.trials).toHaveLength(1);

  expect(await world.bench('capacity', 'memory', '--resume', 'latest'), world.err()).toBe(0);
  const { status, programs, trials } = await record();
  expect(status).toBe('complete');
  expect(trials.slice(0, 1)).toEqual(kept.trials);
  expect(trials.map(({ key }) => key).toSorted()).toEqual([
    'coredns-cluster/autopath/0#0',
    'coredns-cluster/autopath/0#1',
    'coredns-cluster/autopath/400#0',
    'coredns-cluster/autopath/400#1',
  ]);
  for (const trial of trials) {
    if (trial.status === 'failed') throw new Error(trial.failure.message);
    const { stages, coldStart, relist, cacheEntries, load } = trial.evidence;
    // At the rate of the run, each second of filling would ask for the same 500 names of a kind.
    expect(cacheEntries?.success).toBeGreaterThan(2000);
    expect(cacheEntries?.denial).toBeGreaterThan(2000);
    expect(coldStart.peak.anonymousBytes).toBeGreaterThanOrEqual(stages.loaded.anonymousBytes * 0.95);
    expect(relist.peak.anonymousBytes).toBeGreaterThan(5e6);
    expect(stages.settled?.heap.collections).toBeGreaterThan(stages.loaded.heap.collections ?? 0);
    expect(stages.underLoad.residentBytes).toBeGreaterThan(stages.underLoad.anonymousBytes);
    expect(load.heldQps).toBeGreaterThan(100);
    expect(trial.figures.steady).toBe(stages.underLoad.anonymousBytes);
  }
  expect(programs[0]?.files.Corefile).toContain('pods verified');
  expect(world.out()).toContain('Memory of CoreDNS');
  // Everything that was started has ended.
  for (const { process } of world.started) expect(process.exit).toBeDefined();

  // The record is one of `bench report`, and the basis of a plan on this machine.
  expect(await world.bench('report', 'latest', '--format', 'markdown')).toBe(0);
  expect(world.out()).toMatch(/\| CoreDNS, 400 objects +\|/);
  const size = ['--pods', '380', '--services', '20', '--autopath'];
  expect(await world.bench('capacity', 'plan', ...size, '--json'), world.err()).toBe(0);
  expect(world.out()).toContain(`this machine's history, run ${kept.id}`);
}, 400_000);

it('a CoreDNS that dies while it settles ends its start at once, and that is said', async () => {
  const size = ['--objects', '0', '--configurations', 'default', '--trials', '1', '--rate', '1000'];
  const run = world.bench('capacity', 'memory', ...size);
  const settling = () => world.started.some(({ command }) => command.join(' ').includes('few.txt'));
  await expect.poll(settling, { timeout: 60_000 }).toBe(true);
  world.started.findLast(({ program }) => program === 'coredns')?.process.kill('SIGKILL');
  await run;
  const { trials } = await record();
  expect(trials).toMatchObject([{ status: 'failed', failure: { code: 'E_SERVER_DIED' } }]);
}, 120_000);
