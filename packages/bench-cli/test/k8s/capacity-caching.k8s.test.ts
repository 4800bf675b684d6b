/** `bench capacity` on a cluster, of which it needs nothing but room for its pods: caching tiers, and a plan's verification. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { capacityKind } from '../../src/experiments/capacity/record.ts';
import { BENCH_VERSION } from '../../src/version.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  // The garbage collector takes a moment for what belonged to the namespace.
  await expect.poll(leftovers).toEqual([]);
});

describe('bench capacity caching --target kubernetes', () => {
  it('measures CoreDNS and dnsmasq in front of it, each in a pod with an upstream of its own', async () => {
    const tiers = ['--dnsmasq-image', `dinodns-bench/dnsmasq:${BENCH_VERSION}`];
    const flags = ['--cache', 'cached', '--lookup', 'external', '--trials', '1', '--duration', '2'];
    const run = world.bench('capacity', 'caching', '--target', 'kubernetes', ...tiers, ...flags);
    expect(await run, world.err()).toBe(0);
    const { measured, programs } = await recordAs(world, capacityKind);
    if (measured.what !== 'caching') throw new Error('another measurement');
    expect(programs.map(({ name }) => name)).toEqual(['coredns-cluster', 'dnsmasq + CoreDNS backend']);
    const rate = (key: string) => {
      const trial = measured.trials.find((found) => found.case === key);
      if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
      // An external name costs five queries: four that do not exist, and itself.
      expect(trial.queriesPerSecond / trial.lookupsPerSecond).toBeCloseTo(5, 0);
      return trial.lookupsPerSecond;
    };
    const tier = 'dnsmasq + CoreDNS backend';
    // With the negative answers in its cache, dnsmasq asks nobody; without, its upstream answers after 2 ms.
    expect(rate(`${tier}/negative cache/external/cached`)).toBeGreaterThan(
      rate(`${tier}/default/external/cached`),
    );
    expect(rate('coredns-cluster/default/external/cached')).toBeGreaterThan(
      rate('coredns-cluster/no negative cache/external/cached'),
    );
    expect(world.out()).toContain('Each trial is a pod of its own');
  });
});

describe('bench capacity plan --verify --target kubernetes', () => {
  it('says that a limit that is too small does not hold', async () => {
    const size = ['--pods', '190', '--services', '10', '--basis', 'published'];
    const flags = ['--verify', '--target', 'kubernetes', '--verify-limit', '12Mi', '--json'];
    expect(await world.bench('capacity', 'plan', ...size, ...flags), world.err()).toBe(9);
    const { verification } = JSON.parse(world.out());
    expect(verification).toMatchObject({ held: false, target: 'kubernetes' });
    expect(verification.because).toContain('OOMKilled');
  });
});
