/** A node that is lost: what it takes with it fails with its name, and what it guarded is guarded elsewhere. */
import { describe, expect, it } from 'vitest';
import { core, leftovers, runNamespaces, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT } from './support/bench.ts';
import { startBench } from './support/bench-process.ts';
import { cutOff, NODES, repairCluster } from './support/components.ts';
import { asBefore, makeStandIn, note, removeStandIn, swapFlags, withoutTraces } from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const { first, second } = NODES;
const suite = swapSuite('lost', ['in-place', 'optional']);

const cordon = (name: string, value: boolean) =>
  core().patchNode({ name, body: [{ op: 'add', path: '/spec/unschedulable', value }] });

/** DNS on the first node. */
async function dnsOnFirst() {
  await cordon(second, true);
  try {
    return await makeStandIn(`dns-${suite.name}`, suite.images.ours);
  } finally {
    await cordon(second, false);
  }
}

describe('a node that is lost', () => {
  it('with the guard of a killed swap is replaced as its place, and the trial of a server there fails with its name', async () => {
    const dns = await dnsOnFirst();
    const world = await clusterWorld();
    const swap = await startBench(
      [...swapFlags(dns, suite.images.clusters), '--placements', 'BA', '--loader-node', second],
      { kubeconfig: suite.kubeconfig, prefix: suite.name, at: 'placement 1: measuring' },
    );
    try {
      expect(await swap.exited, swap.said()).toBeNull();
      const nodes = ['--server-node', second, '--loader-node', first];
      const running = world.bench('run', ...SHORT, '--observe', 'none', ...nodes, '--duration', '200');
      await expect.poll(() => runningPods('loader')).toHaveLength(1);
      await cutOff();
      const started = performance.now();
      try {
        await asBefore(dns);
        await note('the node of the guard lost, and the tool killed', (performance.now() - started) / 1000);
      } finally {
        await repairCluster();
      }
      expect(await running).toBe(4);
      const [trial] = (await recordOf(world)).trials;
      expect(trial).toMatchObject({
        status: 'failed',
        failure: {
          code: 'E_SERVER_DIED',
          message: expect.stringContaining(`on node ${second} became unready`),
        },
      });
      await withoutTraces(suite.name, dns.namespace);
      expect(await world.bench('cleanup'), world.err()).toBe(0);
      expect(await runNamespaces()).toEqual([]);
      expect(await leftovers()).toEqual([]);
    } finally {
      swap.child.kill('SIGKILL');
      await removeStandIn(dns);
      await world.remove();
    }
  });
});
