/** `bench capacity throughput` and `bench capacity caching` on real servers, with trials of a second. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { okTrials } from '../src/engine/record.ts';
import { type CasesRecord, cachingKind, throughputKind } from '../src/experiments/capacity/cases/evidence.ts';
import { createStore } from '../src/results/store.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'dnsmasq');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const latest = async (kind: typeof throughputKind): Promise<CasesRecord> =>
  (await createStore(world, 'results').loadAs(kind, 'latest')).record;

/** The only trial of a case. */
function trialOf(record: CasesRecord, key: string) {
  const [trial] = okTrials(record, key);
  if (trial === undefined) throw new Error(`${key} was not measured: ${JSON.stringify(record.trials)}`);
  return trial.evidence;
}

it('autopath makes one query of a lookup, which its counter proves; half load is half; what is interrupted goes on', async () => {
  const flags = ['--lookup', 'external', '--trials', '1', '--duration', '1'];
  // As it was called before there was an engine.
  const first = world.bench('capacity', 'throughput', '--config', 'default,autopath', ...flags);
  await world.errContains('1/2');
  world.send('SIGINT');
  expect(await first).toBe(130);
  expect(world.err()).toContain('--config default,autopath is now --configurations default,autopath');
  expect(world.err()).toMatch(/Continue with: pnpm bench capacity throughput --resume \d{8}-/);
  expect(await world.bench('capacity', 'throughput', '--resume', 'latest'), world.err()).toBe(0);

  const record = await latest(throughputKind);
  expect(record.trials).toHaveLength(2);
  const plain = trialOf(record, record.cases[0]?.key ?? '');
  const autopath = trialOf(record, record.cases[1]?.key ?? '');
  const each = ({ saturation }: typeof plain) => saturation.queriesPerSecond / saturation.lookupsPerSecond;
  // And some of lookups that had not ended: of few lookups, they are many.
  expect(each(plain)).toBeGreaterThan(4.5);
  expect(each(autopath)).toBeCloseTo(1, 0);
  expect(plain.counters.autopath_success).toBeUndefined();
  expect(autopath.counters.autopath_success).toBeGreaterThan(0);
  for (const { saturation, checkedAnswers } of [plain, autopath]) {
    expect(saturation.lookupsPerSecond).toBeGreaterThan(50);
    expect(saturation.lookupLatencySeconds.mean).toBeGreaterThan(0);
    // As the limit is found: from 90 % of half a CPU on.
    expect(saturation.cpuCores).toBeGreaterThan(saturation.limitedBy === 'server' ? 0.449 : 0);
    expect(checkedAnswers).toBeGreaterThan(0);
  }
  const { half, saturation } = plain;
  expect(half?.lookupsPerSecond).toBeLessThan(0.75 * saturation.lookupsPerSecond);
  expect(world.out()).toContain('Throughput of CoreDNS by configuration and lookup');
  expect(world.out()).toContain('CPU bound');
  for (const { process } of world.started) expect(process.exit).toBeDefined();
}, 240_000);

it('caching tiers answer from their caches, and forward what they do not keep', async () => {
  const flags = ['--cache', 'cached', '--lookup', 'external', '--trials', '1', '--duration', '1'];
  expect(await world.bench('capacity', 'caching', ...flags), world.err()).toBe(0);
  const record = await latest(cachingKind);
  const at = (subject: string) => trialOf(record, `${subject}/external/cached/tier=0.5`);
  // With negative answers in its cache, CoreDNS asks its upstream for each of 100 names a few times, however many
  // lookups a machine can make; without them, one query of each lookup.
  expect(at('coredns-cluster').counters.forwarded).toBeLessThan(1000);
  const asked = at('coredns-cluster+no-denial');
  expect((asked.counters.forwarded ?? 0) / asked.saturation.lookupsPerSecond).toBeGreaterThan(0.9);
  expect(at('dnsmasq').saturation.lookupsPerSecond).toBeGreaterThan(50);
  expect(at('dnsmasq+negative').saturation.memoryBytes).toBeGreaterThan(10e6);
  // NodeLocal DNSCache has its own cache in front, and its counters are those of the front.
  const local = at('node-local');
  expect(local.counters.cache_hits).toBeGreaterThan(local.counters.forwarded ?? Number.POSITIVE_INFINITY);
  expect(world.out()).toContain('dnsmasq + CoreDNS backend');
  for (const { process } of world.started) expect(process.exit).toBeDefined();
}, 240_000);
