/** `bench disrupt --in-place`: a rolling update of the cluster's own DNS, which is as before afterwards, also after SIGKILL. */
import { afterEach, describe, expect, it } from 'vitest';
import { engineKind, okTrials } from '../../src/engine/record.ts';
import { disruptEvidenceSchema } from '../../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../../src/experiments/disrupt/settings.ts';
import { filePrefix, leftovers } from './support/admin.ts';
import { clusterWorld, recordAs, suiteKubeconfig } from './support/bench.ts';
import { type Halted, startBench } from './support/bench-process.ts';
import { asBefore, note, snapshotOf, withoutTraces } from './support/stand-in.ts';

const KIND = engineKind<typeof disruptEvidenceSchema, DisruptSettings>('disrupt', disruptEvidenceSchema);
const PATH = '/apis/apps/v1/namespaces/kube-system/deployments/coredns';
const LEASE_NAMESPACE = 'kube-system';
const RATE = 50;
const DURATION = 10;

const flags = [
  ...['disrupt', '--target', 'kubernetes', '--in-place', '--yes-change-cluster-dns', '--lease', '20'],
  ...['--rate', String(RATE), '--duration', String(DURATION), '--timeout', '2', '--trials', '1'],
  ...['--loader-cpu', '250m'],
];

let running: Halted | undefined;
afterEach(() => {
  running?.child.kill('SIGKILL');
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
