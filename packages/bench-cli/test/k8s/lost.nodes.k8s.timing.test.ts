/**
 * A node that is drained, loses its kubelet and is lost: what it takes with it fails with its name, and what it guarded is guarded
 * elsewhere. Each test goes on where the one before has ended: to wait until Kubernetes takes a node for lost costs a minute, and to start
 * what measures meanwhile as much again.
 */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/cluster-changes/cluster-api.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { ownerOf } from '../../src/machine/owner.ts';
import { OWNER_ANNOTATION } from '../../src/targets/kubernetes/objects/labels.ts';
import type { TestWorld } from '../support/test-world.ts';
import { adminApi, core, leftovers, objects, runNamespaces, runningPods, SELECTOR } from './support/admin.ts';
import { clusterWorld, recordOf, startBench as startRun, UNOBSERVED } from './support/bench.ts';
import { type Halted, startBench } from './support/bench-process.ts';
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

/** More than the tests take. */
const LONG = ['--duration', '600'];

/** A swap of DNS on both nodes that measures the other version until it is killed. */
interface Swap {
  readonly dns: StandIn;
  readonly bench: Halted;
  /** Of its namespaces. */
  readonly prefix: string;
}

const swaps: Swap[] = [];

/** @param node Of its guard. */
async function startSwap(name: string, node: string): Promise<Swap> {
  const prefix = `${suite.name}-${name}`;
  const dns = await makeStandIn(`dns-${prefix}`, suite.images.ours, 'DaemonSet');
  // The guard begins when the Lease has ended. It is renewed four times as often, on a busy machine.
  const flags = ['--placements', 'BA', '--loader-node', node, '--lease', '15', ...LONG];
  const { kubeconfig, images } = suite;
  const bench = await startBench([...swapFlags(dns, images.clusters), ...flags], { kubeconfig, prefix });
  const swap = { dns, bench, prefix };
  swaps.push(swap);
  await bench.says('placement 1: measuring');
  return swap;
}

const LABEL = { pool: 'servers' };
const TAINT = { key: 'dedicated', value: 'servers', effect: 'NoSchedule' };

/** The second node takes servers only, meanwhile. */
async function dedicated(use: () => Promise<void>): Promise<void> {
  const patchNode = (labels: Record<string, string | null>, taints: unknown) =>
    objects().patch(
      { apiVersion: 'v1', kind: 'Node', metadata: { name: second, labels }, spec: { taints } } as never,
      ...([undefined, undefined, undefined, undefined, 'application/merge-patch+json'] as const),
    );
  await patchNode(LABEL, [TAINT]);
  try {
    await use();
  } finally {
    await patchNode({ pool: null }, null);
  }
}

/** The namespace of a run of another process. */
async function namespaceOf({ pid }: typeof killed): Promise<string> {
  const { items } = await core().listNamespace({ labelSelector: SELECTOR });
  const found = items.find(
    ({ metadata }) => ownerOf(metadata?.annotations?.[OWNER_ANNOTATION] ?? '')?.pid === pid,
  );
  return found?.metadata?.name ?? '';
}

let world: TestWorld;
let running: Promise<number>;
/** A run with a server on the node that is lost, whose bench is killed; its directory. */
let killedWorld: TestWorld;
let killed: ReturnType<typeof startRun>;
let drained: Swap;
let lost: Swap;

beforeAll(async () => {
  world = await clusterWorld();
  killedWorld = await clusterWorld();
  await dedicated(async () => {
    const servers = ['--server-node', 'pool=servers', '--server-tolerations', 'dedicated=servers:NoSchedule'];
    // Without a rate, the load would take half of a CPU until the node is lost.
    const few = ['--rate', '10'];
    const flags = ['run', ...UNOBSERVED, ...servers, ...few, '--loader-node', first, ...LONG] as const;
    running = world.bench(...flags);
    killed = startRun(killedWorld, ...flags);
    const ended = running.then((status) => {
      throw new Error(`it ended with ${status}: ${world.err()}`);
    });
    await Promise.race([until(async () => (await runningPods('server')).length, 2), ended]);
  });
  [drained, lost] = await Promise.all([startSwap('drained', first), startSwap('lost', second)]);
});
afterAll(async () => {
  await repairCluster();
  for (const { bench, dns } of swaps) {
    bench.child.kill('SIGKILL');
    await removeStandIn(dns);
  }
  killed.kill('SIGKILL');
  await killedWorld.remove();
  await world.remove();
});

const cordon = (name: string, unschedulable: boolean) =>
  core().patchNode({ name, body: [{ op: 'add', path: '/spec/unschedulable', value: unschedulable }] });

/** Evicts the pods of a run from a node, as `kubectl drain` does: those of a DaemonSet stay. */
async function evict(prefix: string, node: string): Promise<void> {
  const { items } = await core().listPodForAllNamespaces({ fieldSelector: `spec.nodeName=${node}` });
  const evicted = items.flatMap(({ metadata: { name = '', namespace = '' } = {} }) =>
    namespace.startsWith(prefix) ? [{ name, namespace }] : [],
  );
  expect(evicted.map(({ name }) => name).join()).toContain('guard');
  for (const metadata of evicted)
    await core().createNamespacedPodEviction({ ...metadata, body: { metadata } });
}

type PodList = Awaited<ReturnType<ReturnType<typeof core>['listPodForAllNamespaces']>>;

const readyOf = ({ items }: PodList) =>
  items.filter(({ status }) => status?.containerStatuses?.every(({ ready }) => ready) === true);

/** The nodes of the guards of a run that are ready. */
async function guardNodes(prefix: string): Promise<string[]> {
  const pods = await core().listPodForAllNamespaces({ labelSelector: 'app.kubernetes.io/name=guard' });
  return readyOf(pods).flatMap(({ metadata, spec }) =>
    metadata?.namespace?.startsWith(prefix) === true ? (spec?.nodeName ?? '') : [],
  );
}

/** The images of the DNS on the first node, by pod that is ready. */
async function readyOnFirst({ namespace }: StandIn): Promise<string[]> {
  const pods = await core().listNamespacedPod({ namespace, fieldSelector: `spec.nodeName=${first}` });
  return readyOf(pods).flatMap(({ spec }) => spec?.containers[0]?.image ?? '');
}

describe('of a cluster with two nodes', () => {
  it('a guard whose node is drained moves, and puts the DNS back of a swap that was killed, although its new node has lost its kubelet', async () => {
    const { bench, dns, prefix } = drained;
    await cordon(first, true);
    const started = performance.now();
    try {
      bench.child.kill('SIGKILL');
      await evict(prefix, first);
      await until(() => guardNodes(prefix), [second]);
    } finally {
      await cordon(first, false);
    }
    await killSecondKubelet();
    await until(async () => textAt(await read(await adminApi(), dns.path), IMAGE), dns.image);
    await note('the node of the guard drained, and the tool killed', (performance.now() - started) / 1000);
  });

  it('a guard whose node is lost is replaced on another node, where the DNS is put back', async () => {
    const { bench, dns } = lost;
    // The runs that lose their servers are under load.
    expect(await runningPods('loader')).toHaveLength(2);
    killed.kill('SIGKILL');
    await cutOff();
    bench.child.kill('SIGKILL');
    const started = performance.now();
    await until(() => readyOnFirst(dns), [dns.image]);
    await note('the node of the guard lost, and the tool killed', (performance.now() - started) / 1000);
  });

  it('a cleanup does not wait for the lost node: it removes the rest of a killed run, and says what is left where and what to do', async () => {
    const namespace = await namespaceOf(killed);
    const podsThere = async () => {
      const { items } = await core().listNamespacedPod({ namespace });
      return items.map(({ metadata, spec }) => `pod ${metadata?.name} is on node ${spec?.nodeName}`).sort();
    };
    expect((await podsThere()).join()).toContain(`is on node ${first}`);
    const cleaner = await clusterWorld();
    try {
      const started = performance.now();
      expect(await cleaner.bench('cleanup', '--run', namespace)).toBe(EXIT_STATUS.environment);
      const seconds = (performance.now() - started) / 1000;
      await note('cleanup while a node is lost', seconds);
      expect(seconds).toBeLessThan(60);
      expect(cleaner.out()).toMatch(new RegExp(`^${namespace} .* deleted, but not gone yet: `, 'm'));
      // Nothing that could be removed is left, and what is left is named.
      const left = await podsThere();
      expect(left).toEqual([expect.stringMatching(new RegExp(`^pod .*coredns.* is on node ${second}$`))]);
      const said = cleaner.err();
      for (const pod of left) expect(said).toContain(`${pod}, whose kubelet is silent; lost since 2`);
      expect(said).toContain(`namespace ${namespace} is left with pods of a lost node`);
      expect(said).toContain('Start the node again or, if it does not come back, delete it:');
      expect(said).toContain(`kubectl delete node ${second}`);
    } finally {
      await cleaner.remove();
    }
  });

  it('DNS on a lost node is as before when the node is back, and nothing is left of the swaps', async () => {
    await repairCluster();
    await Promise.all(
      swaps.map(async ({ dns, prefix }) => {
        await asBefore(dns);
        await withoutTraces(prefix, dns.namespace);
      }),
    );
  });

  it('a server on a lost node, which was dedicated to it, fails its trial with the name of the node', async () => {
    expect(await running).toBe(4);
    const { trials, environment } = await recordOf(world);
    expect(trials).toMatchObject([
      {
        status: 'failed',
        failure: {
          code: 'E_SERVER_DIED',
          message: expect.stringContaining(`on node ${second} became unready`),
        },
      },
    ]);
    expect(environment.cluster?.nodes.map(({ name, roles }) => [name, roles])).toEqual([
      [first, ['loader']],
      [second, ['server']],
    ]);
    expect(await world.bench('cleanup'), world.err()).toBe(0);
    expect(await runNamespaces()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });
});
