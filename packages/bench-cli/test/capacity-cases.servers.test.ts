/** `bench capacity throughput` and `bench capacity caching` on real servers, with trials of a second. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import type { CasesResult } from '../src/experiments/capacity/cases/cases-record.ts';
import { okTrials } from '../src/experiments/capacity/cases/summaries.ts';
import { capacityKind } from '../src/experiments/capacity/record.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'dnsmasq');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

async function result(): Promise<CasesResult> {
  const { measured } = (await createStore(world, 'results').loadAs(capacityKind, 'latest')).record;
  if (measured.what !== 'throughput' && measured.what !== 'caching') throw new Error('another measurement');
  return measured;
}

/** The only trial of a case at a load. */
function trialOf(measured: CasesResult, key: string, load: 'saturation' | 'half' = 'saturation') {
  const [trial] = okTrials(measured, key, load);
  if (trial === undefined) throw new Error(`${key} was not measured: ${JSON.stringify(measured.trials)}`);
  return trial;
}

it('autopath makes one query of a lookup, which its counter proves; half load is half; what is interrupted goes on', async () => {
  const flags = ['--config', 'default,autopath', '--lookup', 'external', '--trials', '1', '--duration', '1'];
  const first = world.bench('capacity', 'throughput', ...flags);
  await world.errContains('1/2');
  world.send('SIGINT');
  expect(await first).toBe(130);
  expect(world.err()).toMatch(/Continue with: pnpm bench capacity throughput --resume \d{8}-/);
  expect(await world.bench('capacity', 'throughput', '--resume', 'latest'), world.err()).toBe(0);

  const measured = await result();
  expect(measured.trials).toHaveLength(4);
  const plain = trialOf(measured, 'coredns-cluster/default/external');
  const autopath = trialOf(measured, 'coredns-cluster/autopath/external');
  expect(plain.queriesPerSecond / plain.lookupsPerSecond).toBeCloseTo(5, 0);
  expect(autopath.queriesPerSecond / autopath.lookupsPerSecond).toBeCloseTo(1, 0);
  expect(plain.counters.autopath_success).toBeUndefined();
  expect(autopath.counters.autopath_success).toBeGreaterThan(0);
  for (const { lookupsPerSecond, lookupLatencySeconds, cpuCores, checkedAnswers } of [plain, autopath]) {
    expect(lookupsPerSecond).toBeGreaterThan(50);
    expect(lookupLatencySeconds.mean).toBeGreaterThan(0);
    expect(cpuCores).toBeGreaterThan(0);
    expect(checkedAnswers).toBeGreaterThan(0);
  }
  const half = trialOf(measured, 'coredns-cluster/default/external', 'half');
  expect(half.wantedLookupsPerSecond).toBeCloseTo(plain.lookupsPerSecond / 2, -1);
  expect(half.lookupsPerSecond).toBeLessThan(0.75 * plain.lookupsPerSecond);
  expect(world.out()).toContain('Throughput of CoreDNS by configuration and lookup');
  for (const { process } of world.started) expect(process.exit).toBeDefined();
}, 120_000);

it('caching tiers answer from their caches, and forward what they do not keep', async () => {
  const flags = ['--cache', 'cached', '--lookup', 'external', '--trials', '1', '--duration', '1'];
  expect(await world.bench('capacity', 'caching', ...flags), world.err()).toBe(0);
  const measured = await result();
  // With negative answers in its cache, CoreDNS asks its upstream for each of 100 names a few times, however many
  // lookups a machine can make; without them, one query of each lookup.
  const kept = trialOf(measured, 'coredns-cluster/default/external/cached');
  expect(kept.counters.forwarded).toBeLessThan(1000);
  const asked = trialOf(measured, 'coredns-cluster/no negative cache/external/cached');
  expect((asked.counters.forwarded ?? 0) / asked.lookupsPerSecond).toBeGreaterThan(0.9);
  const tier = 'dnsmasq + CoreDNS backend';
  expect(trialOf(measured, `${tier}/default/external/cached`).lookupsPerSecond).toBeGreaterThan(50);
  expect(trialOf(measured, `${tier}/negative cache/external/cached`).memoryBytes).toBeGreaterThan(10e6);
  // NodeLocal DNSCache has its own cache in front, and its counters are those of the front.
  const local = trialOf(
    measured,
    'CoreDNS as NodeLocal DNSCache + CoreDNS/documented Corefile/external/cached',
  );
  expect(local.counters.cache_hits).toBeGreaterThan(3 * (local.counters.forwarded ?? 0));
  expect(world.out()).toContain('dnsmasq + CoreDNS backend');
  for (const { process } of world.started) expect(process.exit).toBeDefined();
}, 120_000);
