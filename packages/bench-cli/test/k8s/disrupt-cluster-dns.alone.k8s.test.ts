/** `bench disrupt --in-place`: a rolling update of the cluster's own DNS, which is as before afterwards, also after SIGKILL. */
import { afterEach, describe, expect, it } from 'vitest';
import { engineKind, okTrials } from '../../src/engine/record.ts';
import { disruptEvidenceSchema } from '../../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../../src/experiments/disrupt/settings.ts';
import { LABELS } from '../../src/targets/kubernetes/objects/labels.ts';
import { core, filePrefix, leftovers, SELECTOR } from './support/admin.ts';
import { clusterWorld, recordAs, suiteKubeconfig } from './support/bench.ts';
import { type Halted, startBench } from './support/bench-process.ts';
import { BENCH_K8S_COMPONENTS, pidOf } from './support/components.ts';
import { asBefore, note, snapshotOf, withoutTraces } from './support/stand-in.ts';

const KIND = engineKind<typeof disruptEvidenceSchema, DisruptSettings>('disrupt', disruptEvidenceSchema);
const PATH = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
const LEASE_NAMESPACE = 'kube-system';
const RATE = 50;
/** With the usual lameduck of 5 s. */
const DURATION = 12;
/** By default, of one pod. */
const SOCKETS = 20;

const flags = [
  ...['disrupt', '--target', 'kubernetes', '--in-place', '--yes-change-cluster-dns', '--lease', '20'],
  ...['--rate', String(RATE), '--duration', String(DURATION), '--timeout', '2', '--trials', '1'],
  ...['--loader-cpu', '250m'],
];

let running: Halted | undefined;
afterEach(() => {
  running?.child.kill('SIGKILL');
});

/** Whether a load generator of the file runs. */
async function isUnderLoad(): Promise<boolean> {
  const { items } = await core().listPodForAllNamespaces({
    labelSelector: `${SELECTOR},${LABELS.component}=loader`,
  });
  return items.some(
    ({ metadata, status }) =>
      metadata?.namespace?.startsWith(`${filePrefix()}-`) === true &&
      metadata.deletionTimestamp === undefined &&
      status?.phase === 'Running',
  );
}

describe.skipIf(BENCH_K8S_COMPONENTS === undefined)('while kube-proxy hangs', () => {
  it('entries to a pod that was deleted are used to the end, and what they carry is lost', async () => {
    const [rate, duration, begin] = [100, 10, 2];
    const world = await clusterWorld();
    const proxy = await pidOf('kube-proxy');
    try {
      const run = world.bench(
        ...['disrupt', '--target', 'kubernetes', '--workload', 'kube-system/deployment/coredns'],
        ...['--fault', 'delete', '--factors', 'replicas=1;lameduck=0', '--conntrack', '--trials', '1'],
        ...['--rate', String(rate), '--duration', String(duration), '--timeout', '2', '--loader-cpu', '250m'],
      );
      // The control.
      await world.errContains('1/2');
      await expect.poll(isUnderLoad, { timeout: 90_000, interval: 100 }).toBe(true);
      process.kill(proxy, 'SIGSTOP');
      expect(await run, world.err()).toBe(0);
      const record = await recordAs(world, KIND);
      const [control, fault] = record.cases.flatMap(({ key }) => okTrials(record, key));
      if (control === undefined || fault === undefined) throw new Error(JSON.stringify(record.trials));
      expect(control.evidence.conntrack).toMatchObject({ stale: 0, lastSeconds: null });
      const { conntrack, queriesLost } = fault.evidence;
      // Each socket goes on sending, and nothing leads it elsewhere.
      expect(conntrack?.stale).toBeGreaterThan(0.7 * SOCKETS);
      expect(conntrack?.lastSeconds).toBeGreaterThan(duration - begin - 2);
      expect(queriesLost).toBeGreaterThan(0.7 * rate * (duration - begin));
      expect(world.out()).toContain('Connection tracking');
    } finally {
      process.kill(proxy, 'SIGCONT');
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });
});

describe('a rolling update of the DNS of the cluster', () => {
  it('replaces its pods while it is asked, and is put back', async () => {
    const before = await snapshotOf(PATH);
    const world = await clusterWorld();
    try {
      expect(await world.bench(...flags), world.err()).toBe(0);
      const record = await recordAs(world, KIND);
      const [control, rollout] = record.cases.flatMap(({ key }) => okTrials(record, key));
      if (control === undefined || rollout === undefined) throw new Error(JSON.stringify(record.trials));
      expect([control.evidence.queriesSent, control.evidence.queriesLost]).toEqual([RATE * DURATION, 0]);
      expect(control.evidence.endpoints).toEqual({ goneSeconds: null, backSeconds: null });
      const { endpoints, queriesSent, nodes } = rollout.evidence;
      expect(endpoints?.goneSeconds).toBeGreaterThan(0);
      expect([queriesSent, nodes?.length]).toEqual([RATE * DURATION, control.evidence.nodes?.length]);
      expect(world.err()).toMatch(/reverted: .*annotation of the pod template/);
    } finally {
      await world.remove();
    }
    await asBefore({ path: PATH, before });
    await withoutTraces(filePrefix(), LEASE_NAMESPACE);
    expect(await leftovers()).toEqual([]);
  });

  it('is put back by the guard if bench is killed in the middle', async () => {
    const before = await snapshotOf(PATH);
    running = await startBench(flags, {
      ...{ kubeconfig: suiteKubeconfig(), prefix: filePrefix() },
      at: 'applied:',
    });
    expect(await running.exited, running.said()).toBeNull();
    const changed = await snapshotOf(PATH);
    expect(JSON.stringify(changed)).toContain('dinodns-bench/rollout');
    const seconds = await asBefore({ path: PATH, before });
    await note('kube-system/coredns: killed in the middle of a rolling update of bench disrupt', seconds);
    await withoutTraces(filePrefix(), LEASE_NAMESPACE);
  });
});
