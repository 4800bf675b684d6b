/** A node that is lost or drained: what it takes with it fails with its name, and what it guarded is guarded elsewhere. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/cluster-changes/cluster-api.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { adminApi, core, leftovers, runNamespaces, runningPods } from './support/admin.ts';
import { clusterWorld, recordOf, SHORT } from './support/bench.ts';
import { cutOff, killSecondKubelet, NODES, repairCluster } from './support/components.ts';
import {
  asBefore,
  IMAGE,
  makeStandIn,
  note,
  removeStandIn,
  type StandIn,
  swapFlags,
  until,
  withoutTraces,
} from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const { first, second } = NODES;
const suite = swapSuite('lost', ['in-place', 'optional']);
let dns: StandIn;

beforeAll(async () => {
  dns = await makeStandIn(`dns-${suite.name}`, suite.images.ours, 'DaemonSet');
});
afterAll(() => removeStandIn(dns));

const cordon = (unschedulable: boolean) =>
  core().patchNode({
    name: second,
    body: [{ op: 'add', path: '/spec/unschedulable', value: unschedulable }],
  });

/** Evicts the pods of a run from the second node, as `kubectl drain` does: those of a DaemonSet stay. */
async function evict(prefix: string): Promise<void> {
  const { items } = await core().listPodForAllNamespaces({ fieldSelector: `spec.nodeName=${second}` });
  const evicted = items.flatMap(({ metadata: { name = '', namespace = '' } = {} }) =>
    namespace.startsWith(prefix) ? [{ name, namespace }] : [],
  );
  expect(evicted.map(({ name }) => name).join()).toContain('guard');
  for (const metadata of evicted)
    await core().createNamespacedPodEviction({ ...metadata, body: { metadata } });
}

/** The images of the DNS on the first node, by pod that is ready. */
async function readyOnFirst(namespace: string): Promise<string[]> {
  const { items } = await core().listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${first}` });
  return items.flatMap(({ spec, status }) =>
    status?.containerStatuses?.every(({ ready }) => ready) === true ? (spec?.containers[0]?.image ?? '') : [],
  );
}

describe('a killed swap of DNS on two nodes is put back', () => {
  it('by a guard that moves when its node is drained', async () => {
    await suite.whileOther(second, swapFlags(dns, suite.images.clusters), async (child, prefix) => {
      await cordon(true);
      try {
        await evict(prefix);
        child.kill('SIGKILL');
        const seconds = await asBefore(dns);
        await note('the node of the guard drained, and the tool killed', seconds);
        await withoutTraces(prefix, dns.namespace);
      } finally {
        await cordon(false);
      }
    });
  });

  it('by a guard whose node has lost its kubelet, on that node as soon as it is back', async () => {
    await suite.whileOther(second, swapFlags(dns, suite.images.clusters), async (child, prefix) => {
      await killSecondKubelet();
      try {
        child.kill('SIGKILL');
        await until(async () => textAt(await read(await adminApi(), dns.path), IMAGE), dns.image);
      } finally {
        await repairCluster();
      }
      await asBefore(dns);
      await withoutTraces(prefix, dns.namespace);
    });
  });

  it('by a new guard if the node of the first is lost; the trial of a server there fails with its name', async () => {
    const world = await clusterWorld();
    try {
      const nodes = ['--server-node', second, '--loader-node', first];
      const running = world.bench('run', ...SHORT, '--observe', 'none', ...nodes, '--duration', '300');
      await suite.whileOther(second, swapFlags(dns, suite.images.clusters), async (child, prefix) => {
        await expect.poll(() => runningPods('loader')).toHaveLength(1);
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
      await world.remove();
    }
  });
});
