/** The cluster's own DNS, measured as it is. */
import { describe, expect, it } from 'vitest';
import { CLUSTER_WORKLOADS } from '../../src/targets/kubernetes/cluster-workloads.ts';
import { findClusterDns } from '../../src/targets/kubernetes/existing-service.ts';
import { adminClient, leftovers } from './support/admin.ts';
import { clusterWorld, recordOf } from './support/bench.ts';

/** Versions of the Service and its pods, which change with any change. */
async function versions(): Promise<string[]> {
  const client = await adminClient();
  const signal = AbortSignal.timeout(60_000);
  const dns = await findClusterDns(client, signal);
  const service = await client.get('Service', dns.name, dns.namespace, signal);
  return [
    service?.metadata?.resourceVersion ?? '',
    ...dns.pods.map(({ metadata }) => metadata?.resourceVersion ?? ''),
  ];
}

describe('--servers cluster-dns', () => {
  it.each(CLUSTER_WORKLOADS)(
    'answers "%s" as the cluster says it must, and is not changed',
    async (workload) => {
      const world = await clusterWorld();
      try {
        const before = await versions();
        const flags = [
          '--servers',
          'cluster-dns',
          '--workload',
          workload,
          '--duration',
          '1',
          '--warmup',
          '0',
        ];
        const status = await world.bench('run', '--target', 'kubernetes', ...flags, '--trials', '1');
        expect(status, world.err()).toBe(0);
        const record = await recordOf(world);
        const [trial] = record.trials;
        if (trial?.status !== 'ok') throw new Error('the trial failed');
        expect(trial.checkedAnswers).toBe(record.workloads[0]?.distinctQueries);
        expect(trial.load.queriesCompleted).toBeGreaterThan(0);
        expect(Object.keys(trial.load.responseCodes)).toContain(workload === 'nx' ? 'NXDOMAIN' : 'NOERROR');
        expect(await versions()).toEqual(before);
        expect(await leftovers()).toEqual([]);
      } finally {
        await world.remove();
      }
    },
  );

  it('is refused beside other servers, with other workloads, and on this machine', async () => {
    const world = await clusterWorld();
    try {
      expect(await world.bench('run', '--servers', 'cluster-dns')).toBe(2);
      expect(await world.bench('run', '--target', 'kubernetes', '--servers', 'cluster-dns,coredns')).toBe(2);
      const half = ['--servers', 'cluster-dns', '--workload', 'half'];
      expect(await world.bench('run', '--target', 'kubernetes', ...half)).toBe(2);
    } finally {
      await world.remove();
    }
  });
});
