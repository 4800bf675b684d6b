/** The cluster's own DNS, measured as it is. Alone: it is asked for the Services and pods of the cluster, which must stay. */
import { describe, expect, it } from 'vitest';
import { CLUSTER_WORKLOADS } from '../../src/targets/kubernetes/cluster-workloads.ts';
import { findClusterDns } from '../../src/targets/kubernetes/existing-service.ts';
import { adminClient, leftovers } from './support/admin.ts';
import { clusterWorld, recordOf } from './support/bench.ts';

/** What could be changed of the Service and its pods, and nothing of their state, which the kubelet reports at any time. */
async function dnsNow(): Promise<unknown> {
  const client = await adminClient();
  const signal = AbortSignal.timeout(60_000);
  const dns = await findClusterDns(client, signal);
  const service = await client.get('Service', dns.name, dns.namespace, signal);
  const pods = dns.pods.map(({ metadata, spec }) => {
    const { uid, labels, annotations } = metadata ?? {};
    return { uid, labels, annotations, spec };
  });
  return { service, pods };
}

describe('--servers cluster-dns', () => {
  it('answers every workload as the cluster says it must, and is not changed', async () => {
    const world = await clusterWorld();
    try {
      const before = await dnsNow();
      const workloads = CLUSTER_WORKLOADS.join();
      const flags = ['--servers', 'cluster-dns', '--workload', workloads, '--duration', '1', '--warmup', '0'];
      const run = ['run', '--target', 'kubernetes', ...flags, '--trials', '1'];
      expect(await world.bench(...run), world.err()).toBe(0);
      const { trials, cases, workloads: asked } = await recordOf(world);
      expect(asked.map(({ name }) => name)).toEqual(CLUSTER_WORKLOADS);
      for (const { name, distinctQueries } of asked) {
        const key = cases.find(({ workload }) => workload === name)?.key;
        const trial = trials.find(({ caseKey }) => caseKey === key);
        if (trial?.status !== 'ok') throw new Error(`the trial of ${name} failed`);
        expect(trial.checkedAnswers, name).toBe(distinctQueries);
        expect(trial.load.queriesCompleted, name).toBeGreaterThan(0);
        expect(Object.keys(trial.load.responseCodes)).toContain(name === 'nx' ? 'NXDOMAIN' : 'NOERROR');
      }
      expect(await dnsNow()).toEqual(before);
      expect(await leftovers()).toEqual([]);
    } finally {
      await world.remove();
    }
  });
});
