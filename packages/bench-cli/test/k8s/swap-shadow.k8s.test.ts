/** A whole run of `bench swap` beside a cluster's DNS, with the rights of its role and no others. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { read } from '../../src/cluster-changes/cluster-api.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { swapKind } from '../../src/experiments/swap/record.ts';
import { createStore } from '../../src/results/store.ts';
import { adminApi, leftovers } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';
import { makeStandIn, removeStandIn, type StandIn } from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const suite = swapSuite('shadow', ['shadow']);
let dns: StandIn;

beforeAll(async () => {
  dns = await makeStandIn(`dns-${suite.name}`, suite.images.ours);
});
afterAll(() => removeStandIn(dns));

const flags = (...more: string[]) => [
  ...['swap', '--to', suite.images.clusters, '--workload', `${dns.namespace}/deployment/dns`],
  ...['--placements', 'AB', '--settle', '0', '--idle', '0', '--duration', '2', '--rate', '100'],
  ...['--loader-cpu', '400m', ...more],
];

describe('bench swap beside the DNS', () => {
  it('measures both versions, names what it saw, leaves nothing behind and the DNS untouched', async () => {
    const world = await clusterWorld(suite.kubeconfig);
    const versionOf = async () => textAt(await read(await adminApi(), dns.path), '/metadata/resourceVersion');
    try {
      const before = await versionOf();
      expect(await world.bench(...flags()), world.err()).toBe(0);
      expect(await versionOf()).toBe(before);
      const { record } = await createStore(world, 'results').loadAs(swapKind, 'latest');
      expect(record).toMatchObject({ status: 'complete', method: 'shadow', restore: null, failure: null });
      expect(record.versions.A.image).toBe(suite.images.ours);
      expect(record.versions.B.image).toBe(suite.images.clusters);
      expect(record.placements.map(({ side }) => side)).toEqual(['A', 'B']);
      for (const { side, pods, phases, failure, canary } of record.placements) {
        expect(failure).toBeNull();
        expect(canary).toBeNull();
        expect(pods.map(({ version }) => version)).toEqual([record.versions[side].version]);
        expect(phases.map(({ kind }) => kind)).toEqual(['internal', 'external']);
        for (const { observation, load } of phases) {
          expect(observation?.cpuSource).toBe('kubelet-summary');
          expect(load?.queriesCompleted).toBeGreaterThan(0);
        }
      }
      expect(record.results.map(({ side, workload }) => `${side} ${workload}`)).toEqual([
        'A internal',
        'A external',
        'B internal',
        'B external',
      ]);
      const shown = world.out().replaceAll(/\s+/g, ' ');
      expect(shown).toContain('they had none of its own background load');
      expect(shown).toContain('Complete: 2 of 2 placements measured.');
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });

  it('at a rate that cannot be held says so before the first trial, with one to try, and keeps no folder', async () => {
    const world = await clusterWorld(suite.kubeconfig);
    try {
      expect(await world.bench(...flags('--observe', 'none', '--rate', '1000000')), world.err()).toBe(5);
      expect(world.err()).toMatch(
        /E_NO_RATE\]: the rate cannot be held: [\d,]+ of 1,000,000 queries per second/,
      );
      expect(world.err()).toMatch(/fix: Give a lower one: --rate \d+/);
      expect(world.err()).not.toContain('placement 1');
      expect(await readdir(join(world.directory, 'results'))).toEqual([]);
    } finally {
      await world.remove();
    }
    expect(await leftovers()).toEqual([]);
  });
});
