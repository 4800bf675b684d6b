/** A whole run of `bench swap` beside a cluster's DNS, with the rights of its role and no others. */
import { describe, expect, it } from 'vitest';
import { read } from '../../src/cluster-changes/cluster-api.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { createStore } from '../../src/results/store.ts';
import { swapRecordKind } from '../fixtures/make-swap.ts';
import { adminApi, leftovers } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';
import { swapSuite } from './support/swap-suite.ts';

const suite = swapSuite('shadow', ['shadow'], 'Deployment');

const flags = () => [
  ...['swap', '--to', suite.images.clusters, '--workload', `${suite.dns.namespace}/deployment/dns`],
  ...['--placements', 'AB', '--settle', '0', '--idle', '0', '--duration', '2', '--rate', '100'],
  ...['--loader-cpu', '400m', '--loader', 'dnsperf', '--loaders', '2'],
];

describe('bench swap beside the DNS', () => {
  it('measures both versions, also when it is stopped in between and goes on, here with two pods of dnsperf; names what it saw, leaves nothing behind and the DNS untouched', async () => {
    const world = await clusterWorld(suite.kubeconfig);
    const versionOf = async () =>
      textAt(await read(await adminApi(), suite.dns.path), '/metadata/resourceVersion');
    const latest = async () => (await createStore(world, 'results').loadAs(swapRecordKind, 'latest')).record;
    try {
      const resourceVersion = await versionOf();
      const running = world.bench(...flags());
      // If it ends too early, what it says is told instead of waiting for ever.
      await Promise.race([world.errContains('1/2'), running]);
      world.send('SIGINT');
      expect(await running, world.err()).toBe(130);
      expect(await leftovers()).toEqual([]);
      const before = await latest();
      expect(before.trials.map(({ order }) => order)).toEqual([0]);
      expect(await world.bench('swap', '--resume', 'latest'), world.err()).toBe(0);
      expect(await versionOf()).toBe(resourceVersion);
      const record = await latest();
      expect(record).toMatchObject({ status: 'complete', settings: { method: 'shadow' } });
      expect(record.closing).toBeUndefined();
      expect(record.programs.map(({ executable }) => executable)).toEqual([
        suite.images.ours,
        suite.images.clusters,
      ]);
      expect(record.conditions['load generator']).toMatch(/^dnsperf 2\./);
      expect(record.trials.map(({ order, status }) => [order, status])).toEqual([
        [0, 'ok'],
        [1, 'ok'],
      ]);
      expect(record.trials[0]).toEqual(before.trials[0]);
      for (const [index, trial] of record.trials.entries()) {
        if (trial.status === 'failed') continue;
        const { side, pods, phases, canary } = trial.evidence;
        expect(side).toBe(index === 0 ? 'A' : 'B');
        expect(canary).toBeNull();
        expect(pods.map(({ version }) => version)).toEqual([record.programs[index]?.version]);
        expect(phases.map(({ kind }) => kind)).toEqual(['internal', 'external']);
        for (const { observation, load, senders = [] } of phases) {
          expect(observation?.cpuSource).toBe('kubelet-summary');
          expect(senders).toHaveLength(2);
          for (const { queriesCompleted } of senders) expect(queriesCompleted).toBeGreaterThan(80);
          expect(load?.queriesSent).toBe(senders.reduce((sum, { queriesSent }) => sum + queriesSent, 0));
        }
      }
      const shown = world.out().replaceAll(/\s+/g, ' ');
      expect(shown).toContain('they had none of its own background load');
      expect(shown).toMatch(/2 trials; \S+ against \S+, beside the cluster's DNS: .+ for internal/);
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });
});
