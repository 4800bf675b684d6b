/** `bench swap --method in-place` on OpenShift: its operators, which would put the image back, are paused meanwhile. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/cluster-changes/cluster-api.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { accountMay, benchRoles, setRules } from './support/account.ts';
import { adminApi, without } from './support/admin.ts';
import { type Halted, type HaltOptions, restoreSeconds, startBench } from './support/bench-process.ts';
import {
  DNS_RESOURCE,
  makeDnsResource,
  makeOpenShift,
  NODE_IMAGE,
  type OpenShift,
  openShiftAsBefore,
  openShiftSwap,
  removeDnsResource,
  removeOpenShift,
  replicasOf,
  SIDECAR,
} from './support/openshift.ts';
import { IMAGE, note, setByOthers, snapshotOf, until, withoutTraces } from './support/stand-in.ts';
import { swapRole, swapSuite } from './support/swap-suite.ts';

const suite = swapSuite('operators', ['in-place', 'optional']);

let running: Halted | undefined;
afterEach(() => {
  running?.child.kill('SIGKILL');
});

async function start(flags: readonly string[], halt: Omit<HaltOptions, 'kubeconfig'>): Promise<Halted> {
  running = await startBench(flags, { kubeconfig: suite.kubeconfig, ...halt });
  return running;
}

const textOf = async (path: string, pointer: string) => textAt(await read(await adminApi(), path), pointer);

describe('on OpenShift, a swap', () => {
  const lease = 'openshift-dns';
  let openshift: OpenShift;
  beforeAll(async () => {
    openshift = await makeOpenShift(suite.images.ours);
  });
  afterAll(removeOpenShift);

  const swap = (halt: Omit<HaltOptions, 'kubeconfig'>, ...more: string[]) =>
    start([...openShiftSwap(suite.images.clusters), '--placements', 'BA', ...more], halt);
  const replicasNow = () => Promise.all(openshift.operators.map(({ path }) => replicasOf(path)));
  const allAsBefore = () => openShiftAsBefore(openshift);
  /** A swap that is stopped (SIGSTOP) while it measures the other version, for a look at the cluster. */
  const stoppedWhileMeasuring = async (prefix: string, load: 'internal' | 'external') => {
    const at = `placement 1: measuring ${load}`;
    const bench = await swap({ prefix, at, signal: 'SIGSTOP' });
    await bench.stops(at);
    return bench;
  };

  it('finds the DaemonSet with its sidecar, and says beforehand what it would pause, and in which order', async () => {
    const { ours, clusters } = suite.images;
    const bench = await swap({ prefix: `${suite.name}-dry` }, '--dry-run');
    expect(await bench.exited, bench.said()).toBe(0);
    const { dns } = openshift;
    expect(bench.told()).toContain(`DaemonSet openshift-dns/dns-default, container dns: ${ours}`);
    expect(bench.told()).toContain('Service openshift-dns/dns-default, 10.');
    expect(bench.told()).toContain(`sidecar ${SIDECAR}: ${NODE_IMAGE}, unchanged`);
    const changes = /Would be changed, in this order\n((?: {2}.*\n)+)/.exec(bench.told())?.[1]?.trim();
    expect(changes?.split(/\n\s*/)).toEqual([
      'replicas in Deployment openshift-cluster-version/cluster-version-operator: 2 → 0',
      'replicas in Deployment openshift-dns-operator/dns-operator: 1 → 0',
      `image of container dns in DaemonSet openshift-dns/dns-default: "${ours}" → "${clusters}"`,
    ]);
    expect(await snapshotOf(dns.path)).toEqual(dns.before);
  });

  it('pauses both operators, swaps the DNS container alone, and restores the recorded counts', async () => {
    const { dns } = openshift;
    const prefix = `${suite.name}-counts`;
    const bench = await stoppedWhileMeasuring(prefix, 'internal');
    expect(await replicasNow()).toEqual([0, 0]);
    expect(await textOf(dns.path, IMAGE)).toBe(suite.images.clusters);
    expect(await textOf(dns.path, '/spec/template/spec/containers/1/image')).toBe(NODE_IMAGE);
    bench.child.kill('SIGINT');
    bench.wake();
    expect(await bench.exited, bench.said()).toBe(130);
    expect(await replicasNow()).toEqual([1, 2]);
    await allAsBefore();
    await withoutTraces(prefix, lease);
    expect(bench.said()).toContain(
      'replicas in Deployment openshift-cluster-version/cluster-version-operator: 2 → 0, reverted',
    );
    await note('Ctrl-C on OpenShift, with both operators paused', restoreSeconds(bench));
    // They work again: what they would have done to the swap.
    await setByOthers(dns.path, IMAGE, suite.images.clusters);
    await until(() => textOf(dns.path, IMAGE), suite.images.ours);
    await allAsBefore();
  });

  describe('that has the resource of its DNS', () => {
    beforeAll(makeDnsResource);
    afterAll(removeDnsResource);

    it.each(['get', 'patch'])('without the right to %s it says so, and changes nothing', async (verb) => {
      const role = swapRole('in-place');
      const rules =
        (await benchRoles('rbac-swap.yaml')).find(({ metadata }) => metadata?.name === role)?.rules ?? [];
      const right = { verb, group: 'operator.openshift.io', resource: 'dnses', name: '' };
      await setRules(suite.name, role, without(rules, 'dnses', verb));
      try {
        await until(() => accountMay(suite.name, right), false);
        const bench = await swap({ prefix: `${suite.name}-${verb}` });
        expect(await bench.exited, bench.said()).toBe(3);
        expect(bench.said()).toContain(`this user may not ${verb} dnses.operator.openshift.io default`);
        expect(bench.said()).not.toContain('planned:');
        expect(await snapshotOf(openshift.dns.path)).toEqual(openshift.dns.before);
      } finally {
        await setRules(suite.name, role, rules);
        await until(() => accountMay(suite.name, right), true);
      }
    });

    it('makes it unmanaged and leaves the operators alone; killed meanwhile, the guard puts back both', async () => {
      const before = await snapshotOf(DNS_RESOURCE);
      const prefix = `${suite.name}-state`;
      // The second load: what would put the image back has had the time of the first one.
      const bench = await stoppedWhileMeasuring(prefix, 'external');
      expect(await textOf(DNS_RESOURCE, '/spec/managementState')).toBe('Unmanaged');
      expect(await textOf(openshift.dns.path, IMAGE)).toBe(suite.images.clusters);
      expect(await replicasNow()).toEqual([1, 2]);
      expect(bench.said()).not.toContain('replicas');
      bench.child.kill('SIGKILL');
      expect(await bench.exited, bench.said()).toBeNull();
      const started = performance.now();
      await allAsBefore();
      await note('killed on OpenShift, with its DNS unmanaged', (performance.now() - started) / 1000);
      await withoutTraces(prefix, lease);
      expect(await snapshotOf(DNS_RESOURCE)).toEqual(before);
    });
  });
});
