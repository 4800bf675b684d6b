/** What the whole cluster would notice, and so happens alone: its own processes fail, and all killed runs are removed. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers, runNamespaces, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT, startBench, UNOBSERVED } from './support/bench.ts';
import { BENCH_K8S_COMPONENTS, BENCH_K8S_REPAIR, pidOf, repairCluster } from './support/components.ts';

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
  /** Does something to a component in the middle of a trial; the run must not mind. */
  async function disturb(component: string, seconds: number, how: (pid: number) => Promise<void>) {
    const running = world.bench('run', ...SHORT, '--duration', String(seconds + 6));
    await expect.poll(() => runningPods('loader')).toHaveLength(1);
    await how(await pidOf(component));
    expect(await running, world.err()).toBe(0);
    const [trial] = (await recordOf(world)).trials;
    expect(trial?.status).toBe('ok');
  }

  /** Stops it for some seconds: connections stay, and nobody answers. */
  const pauseInMidTrial = (component: string, seconds: number) =>
    disturb(component, seconds, async (pid) => {
      process.kill(pid, 'SIGSTOP');
      try {
        await world.clock.sleep(seconds);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });

  it('whose kubelet is stopped for 8 seconds: the trial goes on', () => pauseInMidTrial('kubelet', 8));

  it('whose API server hangs for 10 seconds: the trial goes on', () => pauseInMidTrial('kube-apiserver', 10));

  it.skipIf(BENCH_K8S_REPAIR === undefined)(
    'whose API server is killed and comes back after 10 seconds: the trial goes on',
    () =>
      disturb('kube-apiserver', 10, async (pid) => {
        process.kill(pid, 'SIGKILL');
        await world.clock.sleep(10);
        await repairCluster();
      }),
  );
});
