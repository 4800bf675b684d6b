/** `bench capacity survive` on a real CoreDNS in real control groups: the kernel kills it under a limit that is too small. */
import { readdir } from 'node:fs/promises';
import { defineCluster, startApiServer } from '@dinodns-bench/cluster-objects';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { type SurviveRecord, surviveKind } from '../src/experiments/capacity/survive/evidence.ts';
import { createStore } from '../src/results/store.ts';
import { useCluster } from './support/api-server.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns', 'root');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

async function record(): Promise<SurviveRecord> {
  return (await createStore(world, 'results').loadAs(surviveKind, 'latest')).record;
}

/** Control groups of this process: those of other tests are not looked at. */
async function ownGroups(): Promise<string[]> {
  const all = await readdir('/sys/fs/cgroup', { recursive: true });
  return all.filter((name) => name.includes('capacity-survive') && name.includes(`-${process.pid}-`));
}

it('finds a limit between one that killed and one that was survived, and leaves nothing behind', async () => {
  const cluster = await startApiServer({
    cluster: defineCluster({ pods: 300, services: 100, endpoints: 600 }),
  });
  onTestFinished(() => cluster.close());
  await useCluster(world, cluster.url);
  const forced = ['--factors', 'lists=streamed'];
  const short = ['--trials', '1', '--starts', '1', '--resolution', '50%', '--outage', '1s', '--rate', '100'];
  expect(await world.bench('capacity', 'survive', '--from-cluster', ...forced, ...short), world.err()).toBe(
    0,
  );

  const { status, trials, cases, settings } = await record();
  expect(status).toBe('complete');
  // What was counted is what a run goes on with.
  expect(settings).toMatchObject({ fromCluster: false, objects: [cases[0]?.point.objects] });
  expect(cases[0]?.point.endpoints).toBeGreaterThanOrEqual(600);
  const [trial] = trials;
  if (trial?.status !== 'ok') throw new Error(trial?.failure.message);
  const { limitBytes, killedBytes, starts, streamed } = trial.evidence;
  expect(trial.figures.limit).toBe(limitBytes);
  // Observed: the kernel counted it.
  const killed = starts.filter(({ outcome }) => outcome === 'killed');
  expect(Math.max(...killed.map((start) => start.limitBytes))).toBe(killedBytes);
  expect(limitBytes).toBeGreaterThan(killedBytes ?? Number.POSITIVE_INFINITY);
  const survived = starts.filter((start) => start.limitBytes === limitBytes);
  expect(survived.map(({ outcome }) => outcome)).toEqual(['survived']);
  for (const { scenarios, peakBytes } of survived) {
    expect(scenarios.map(({ name }) => name)).toEqual([
      'cold start',
      'relist',
      'replaced endpoints',
      'API server outage',
    ]);
    for (const { rightSeconds, queries, name } of scenarios) {
      // In so small a cluster, no headless Service need be among the replaced ones.
      if (name !== 'replaced endpoints') expect(rightSeconds, name).toBeGreaterThanOrEqual(0);
      if (name !== 'cold start') expect(queries?.sent).toBeGreaterThan(0);
    }
    expect(peakBytes).toBeGreaterThan(5e6);
    expect(peakBytes).toBeLessThan(limitBytes);
  }
  expect(streamed.toSorted()).toEqual(['endpointslices', 'namespaces', 'services']);
  expect(cases[0]?.summary.limit?.median).toBe(limitBytes);
  expect(world.out()).toContain('Limits that survived');

  for (const { process: started } of world.started) expect(started.exit).toBeDefined();
  expect(await ownGroups()).toEqual([]);

  // A plan of this machine does not take it, and says why: a single start is no test of a limit.
  const before = world.out().length;
  const plan = ['--pods', '300', '--services', '90', '--json'];
  expect(await world.bench('capacity', 'plan', ...plan), world.err()).toBe(0);
  const planned = world.out().slice(before);
  expect(planned).not.toContain('survived by');
  expect(planned).toContain('was not used, because its limits took --starts 1: a plan needs at least 5.');
}, 240_000);
