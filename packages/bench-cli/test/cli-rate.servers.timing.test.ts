/** dnsperf at a rate, which a busy machine keeps it from holding. All else about `bench run`: cli-run.servers.test.ts. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { recordSchema } from '../src/results/record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('dnsperf');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

it('bench run says that a rate was the limit when it was held', { timeout: 60_000 }, async () => {
  const flags = ['--servers', 'dinodns', '--loader', 'dnsperf', '--rate', '2000', '--zones', '20'];
  flags.push('--duration', '1', '--warmup', '0', '--trials', '1', '--json');
  expect(await world.bench(...flags), world.err()).toBe(0);
  const [item] = recordSchema.parse(JSON.parse(world.out())).cases;
  expect(item?.limitedBy).toBe('rate');
  expect(item?.summary?.qps.median).toBeGreaterThan(1900);
  expect(item?.summary?.qps.median).toBeLessThan(2100);
});
