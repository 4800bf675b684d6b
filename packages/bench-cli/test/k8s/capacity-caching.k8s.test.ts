/** `bench capacity` on a cluster, of which it needs nothing but room for its pods: caching tiers, a plan's verification, and a refusal. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { cachingKind } from '../../src/experiments/capacity/cases/evidence.ts';
import { BENCH_VERSION } from '../../src/version.ts';
import type { TestWorld } from '../support/test-world.ts';
import { benchRoles, makeAccount, removeAccount } from './support/account.ts';
import { leftovers, runNamespaces, without } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  // The garbage collector takes a moment for what belonged to the namespace. Each look asks for every kind of object.
  await expect.poll(leftovers, { interval: 1000 }).toEqual([]);
});

describe('bench capacity caching --target kubernetes', () => {
  it('measures CoreDNS and dnsmasq in front of it, each in a pod with an upstream of its own', async () => {
    const tiers = ['--dnsmasq-image', `dinodns-bench/dnsmasq:${BENCH_VERSION}`];
    // On a busy node, few lookups are answered in a second, and what CoreDNS needs besides is shared by these.
    const flags = ['--cache', 'cached', '--lookup', 'external', '--trials', '1', '--duration', '5'];
    const run = world.bench('capacity', 'caching', '--target', 'kubernetes', ...tiers, ...flags);
    expect(await run, world.err()).toBe(0);
    const record = await recordAs(world, cachingKind);
    const { programs } = record;
    expect(programs.map(({ name }) => name)).toEqual(['coredns-cluster', 'dnsmasq + CoreDNS backend']);
    // CPU of a lookup: its rate depends on whatever else runs on the node.
    const cost = (subject: string) => {
      const trial = record.trials.find((found) => found.case === `${subject}/external/cached`);
      if (trial?.status !== 'ok') throw new Error(JSON.stringify(trial));
      const { queriesPerSecond, lookupsPerSecond, cpuCores, memoryBytes } = trial.evidence.saturation;
      // An external name costs five queries: four that do not exist, and itself. And some of lookups that had not ended.
      expect(queriesPerSecond / lookupsPerSecond).toBeGreaterThan(4.5);
      // More than idle; how much depends on the rate.
      expect(cpuCores).toBeGreaterThan(0.01);
      expect(memoryBytes).toBeGreaterThan(5e6);
      return (cpuCores ?? 0) / lookupsPerSecond;
    };
    // With the negative answers in its cache, a tier asks nobody; without, it asks its upstream four times for a lookup.
    expect(cost('dnsmasq')).toBeGreaterThan(cost('dnsmasq+negative'));
    expect(cost('coredns-cluster+no-denial')).toBeGreaterThan(cost('coredns-cluster'));
    expect(world.out()).toContain('Against CoreDNS in a cluster');
    expect(await world.bench('report', 'latest', '--format', 'markdown'), world.err()).toBe(0);
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

describe('bench capacity survive --target kubernetes', () => {
  it('without the right to change endpoints is refused before anything is made', async () => {
    const suite = `bench-survive-${Math.random().toString(36).slice(2, 8)}`;
    const roles = (await benchRoles()).map((role) => ({
      ...role,
      rules: without(role.rules ?? [], 'endpointslices', 'patch'),
    }));
    const kubeconfig = await makeAccount(suite, roles, tmpdir());
    onTestFinished(async () => {
      await removeAccount(suite);
      await rm(kubeconfig, { force: true });
    });
    const other = await clusterWorld(kubeconfig);
    onTestFinished(() => other.remove());
    const flags = ['--target', 'kubernetes', '--objects', '660', '--services', '60', '--trials', '1'];
    await expect
      .poll(async () => ({ status: await other.bench('capacity', 'survive', ...flags), err: other.err() }))
      .toMatchObject({
        status: 3,
        err: expect.stringContaining('this user may not patch endpointslices.discovery.k8s.io on'),
      });
    expect(await runNamespaces()).toEqual([]);
  });
});
