/** `bench capacity survive` on a cluster: the kubelet kills CoreDNS under a limit that is too small, and nothing is left. Alone: it ends where the API server gets slow. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { surviveKind } from '../../src/experiments/capacity/survive/evidence.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
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

/** 60 Services and their EndpointSlices, with 600 endpoints. */
const SMALL = [
  ...['--target', 'kubernetes', '--objects', '660', '--services', '60', '--trials', '1', '--starts', '1'],
  ...['--resolution', '50%', '--outage', '2s', '--rate', '100'],
];

it('finds a limit between one under which the kubelet killed the pod and one that was survived', async () => {
  expect(await world.bench('capacity', 'survive', ...SMALL), world.err()).toBe(0);
  const { status, trials, closing, environment } = await recordAs(world, surviveKind);
  expect(status).toBe('complete');
  expect(environment.cluster?.nodes.length).toBeGreaterThan(0);
  expect(closing?.join(' ')).toContain('DNS of the cluster');
  const [trial] = trials;
  if (trial?.status !== 'ok') throw new Error(trial?.failure.message);
  const { limitBytes, killedBytes, starts, streamed, read } = trial.evidence;
  // With the objects of the cluster: the Service of its API server, at least.
  expect(read?.services).toBeGreaterThan(60);
  expect(read?.endpoints).toBeGreaterThan(600);
  expect(killedBytes).toBeLessThan(limitBytes);
  const killed = starts.filter(({ outcome }) => outcome === 'killed');
  expect(killed.length, world.err()).toBeGreaterThan(0);
  for (const { container, peakBytes } of killed) {
    expect(container).toMatchObject({ reason: 'OOMKilled', exitCode: 137, restarts: 0 });
    expect(peakBytes).toBeNull();
  }
  const survived = starts.filter(({ outcome }) => outcome === 'survived');
  expect(survived.map((start) => start.limitBytes)).toContain(limitBytes);
  for (const { container, scenarios, peakBytes } of survived) {
    expect(container).toMatchObject({ reason: 'Completed', exitCode: 0, restarts: 0 });
    expect(peakBytes).toBeGreaterThan(5e6);
    expect(scenarios.map(({ name }) => name)).toEqual([
      'cold start',
      'relist',
      'replaced endpoints',
      'API server outage',
    ]);
    for (const { name, rightSeconds, queries } of scenarios) {
      expect(rightSeconds, name).toBeGreaterThan(0);
      if (name !== 'cold start') expect(queries?.sent, name).toBeGreaterThan(50);
    }
  }
  // The API server decides, by its etcd, whether it offers streams: all resources are read in one way.
  expect([0, 3]).toContain(streamed.length);
  expect(world.out()).toContain('The smallest memory limit that CoreDNS survives');
  expect(world.out()).toContain('Limits that survived');
});
