/** A node that is lost: what it takes with it fails with its name, and what it guarded is guarded elsewhere. */
import { describe, expect, it } from 'vitest';
import { core, leftovers, runNamespaces, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT } from './support/bench.ts';
import { cutOff, NODES, repairCluster } from './support/components.ts';
import {
  asBefore,
  makeStandIn,
  note,
  removeStandIn,
  swapFlags,
  until,
  withoutTraces,
} from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const { first, second } = NODES;
const suite = swapSuite('lost', ['in-place', 'optional']);

/** The images of the DNS on the first node, by pod that is ready. */
async function readyOnFirst(namespace: string): Promise<string[]> {
  const { items } = await core().listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${first}` });
  return items.flatMap(({ spec, status }) =>
    status?.containerStatuses?.every(({ ready }) => ready) === true ? (spec?.containers[0]?.image ?? '') : [],
  );
}

describe('a node that is lost', () => {
  it('with the guard of a killed swap is replaced as its place, and the trial of a server there fails with its name', async () => {
    const dns = await makeStandIn(`dns-${suite.name}`, suite.images.ours, 'DaemonSet');
    const world = await clusterWorld();
    try {
      const nodes = ['--server-node', second, '--loader-node', first];
      const running = world.bench('run', ...SHORT, '--observe', 'none', ...nodes, '--duration', '300');
      await expect.poll(() => runningPods('loader')).toHaveLength(1);
      await suite.whileOther(second, swapFlags(dns, suite.images.clusters), async (child, prefix) => {
        await cutOff();
        child.kill('SIGKILL');
        const started = performance.now();
        try {
          await until(() => readyOnFirst(dns.namespace), [dns.image]);
          await note('the node of the guard lost, and the tool killed', (performance.now() - started) / 1000);
        } finally {
          await repairCluster();
        }
        // The pod of the node that was lost is replaced when it is back.
        await asBefore(dns);
        await withoutTraces(prefix, dns.namespace);
      });
      expect(await running).toBe(4);
      const [trial] = (await recordOf(world)).trials;
      expect(trial).toMatchObject({
        status: 'failed',
        failure: {
          code: 'E_SERVER_DIED',
          message: expect.stringContaining(`on node ${second} became unready`),
        },
      });
      expect(await world.bench('cleanup'), world.err()).toBe(0);
      expect(await runNamespaces()).toEqual([]);
      expect(await leftovers()).toEqual([]);
    } finally {
      await removeStandIn(dns);
      await world.remove();
    }
  });
});
