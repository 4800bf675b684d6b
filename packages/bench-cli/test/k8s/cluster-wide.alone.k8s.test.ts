/** What the whole cluster would notice, and so happens alone: its own processes fail, and all killed runs are removed. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers, runNamespaces, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT, startBench, UNOBSERVED } from './support/bench.ts';
import {
  BENCH_K8S_COMPONENTS,
  BENCH_K8S_REPAIR,
  killComponent,
  pidOf,
  repairCluster,
} from './support/components.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(async () => {
  await world.remove();
  expect(await leftovers()).toEqual([]);
});

describe('bench cleanup', () => {
  it('lists and removes what a run has left that was killed by SIGKILL, and leaves a running one alone', async () => {
    const child = startBench(world, 'run', ...UNOBSERVED, '--duration', '60');
    try {
      await expect.poll(() => runningPods('loader')).toHaveLength(1);
      // Its owner still lives: it is left alone.
      expect(await world.bench('cleanup')).toBe(0);
      expect(world.out()).toContain('kept: it is running');
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const [namespace, ...others] = await runNamespaces();
    if (namespace === undefined) throw new Error('nothing was left');
    expect(others).toEqual([]);
    expect(await world.bench('cleanup', '--older-than', '1h')).toBe(0);
    expect(world.out()).toContain(`kept: younger than --older-than`);
    expect(await world.bench('cleanup', '--dry-run')).toBe(0);
    expect(world.out()).toMatch(new RegExp(`${namespace} .* would be removed: its process has ended`));
    expect(await runNamespaces()).toEqual([namespace]);
    expect(await world.bench('cleanup')).toBe(0);
    expect(await runNamespaces()).toEqual([]);
  });
});

describe.skipIf(BENCH_K8S_COMPONENTS === undefined)('a cluster', () => {
  /** Does something in the middle of a trial, which goes on behind it for six seconds; the run must not mind. */
  async function disturb(flags: readonly string[], seconds: number, how: () => Promise<void>) {
    const running = world.bench('run', ...flags, '--duration', String(seconds + 6));
    await expect.poll(() => runningPods('loader')).toHaveLength(1);
    await how();
    expect(await running, world.err()).toBe(0);
    const [trial] = (await recordOf(world)).trials;
    expect(trial?.status).toBe('ok');
  }

  /** Stops a component for some seconds: connections stay, and nobody answers. */
  async function pause(component: string, seconds: number): Promise<void> {
    const pid = await pidOf(component);
    process.kill(pid, 'SIGSTOP');
    try {
      await world.clock.sleep(seconds);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  it('whose kubelet is stopped for 8 seconds, and then its API server for 10: the trial goes on', () =>
    disturb(SHORT, 18, async () => {
      await pause('kubelet', 8);
      await pause('kube-apiserver', 10);
    }));

  it.skipIf(BENCH_K8S_REPAIR === undefined)(
    'whose API server is killed and started again: the trial goes on',
    () =>
      // What the observation makes of an API server that is away is the same as above.
      disturb(UNOBSERVED, 10, async () => {
        await killComponent('kube-apiserver');
        // At once: that takes long enough, and on a busy machine nearly the minute that bench waits for an API server.
        await repairCluster();
      }),
  );
});
