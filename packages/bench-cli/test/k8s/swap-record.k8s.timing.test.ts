/** `bench swap --method in-place`: what its record says of CPU, of clients, and of what was put back. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SwapRecord, swapKind } from '../../src/experiments/swap/record.ts';
import { createStore } from '../../src/results/store.ts';
import { clusterWorld } from './support/bench.ts';
import { startBench } from './support/bench-process.ts';
import {
  asBefore,
  makeStandIn,
  removeStandIn,
  type StandIn,
  swapFlags,
  withoutTraces,
} from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const suite = swapSuite('record', ['in-place', 'optional']);
let dns: StandIn;

beforeAll(async () => {
  dns = await makeStandIn(`dns-${suite.name}`, suite.images.ours);
});
afterAll(() => removeStandIn(dns));

function checkPlacements({ placements, versions, settings }: SwapRecord): void {
  expect(placements.map(({ side }) => side).join('')).toBe('AB');
  for (const { side, pods, phases, failure, canary } of placements) {
    expect(failure).toBeNull();
    expect(canary?.sent).toBeGreaterThan(0);
    expect(pods.map(({ version, source }) => [version, source])).toEqual([
      [versions[side].version, 'metrics'],
    ]);
    expect(phases.map(({ kind }) => kind)).toEqual(['idle', 'internal', 'external', 'idle']);
    for (const { observation, load, kind } of phases) {
      expect(observation).toMatchObject({ cpuSource: 'kubelet-summary', processes: 1 });
      if (kind !== 'idle') expect(load?.queriesCompleted).toBeGreaterThan(settings.ratePerSecond);
    }
  }
}

describe('an in-place swap', () => {
  it('records CPU above idle, what the canary lost, and what was put back, in every report', async () => {
    const world = await clusterWorld(suite.kubeconfig);
    try {
      const flags = ['--observe', 'summary', '--idle', '1', '--duration', '2', '--rate', '500'];
      flags.push('--loader-cpu', '400m');
      expect(await world.bench(...swapFlags(dns, suite.images.clusters), ...flags), world.err()).toBe(0);
      const { record } = await createStore(world, 'results').loadAs(swapKind, 'latest');
      expect(record).toMatchObject({
        status: 'complete',
        method: 'in-place',
        failure: null,
        workload: { title: `Deployment ${dns.namespace}/dns`, service: 'dns', pods: 1 },
        versions: { A: { image: suite.images.ours }, B: { image: suite.images.clusters } },
      });
      checkPlacements(record);
      expect(record.placements.map(({ rolloutCanary }) => rolloutCanary === null)).toEqual([true, false]);
      expect(record.restore).toMatchObject({
        changes: [{ before: suite.images.ours, after: suite.images.clusters, state: 'reverted' }],
        superseded: [],
      });
      expect(record.restore?.seconds).toBeGreaterThan(0);
      expect(record.restore?.canary?.sent).toBeGreaterThan(0);
      for (const { netCores, loadedCores, idleCores } of record.results) {
        expect(netCores?.median).toBeGreaterThan(0);
        expect(loadedCores?.median).toBeGreaterThan(idleCores?.median ?? 1);
      }
      expect(world.out()).toMatch(/The canary lost \d+ of \d+ .*during 2 rolling updates/);
      expect(await world.bench('report', 'latest', '--format', 'md,csv,json,html,blog,svg,png')).toBe(0);
      await asBefore(dns);
    } finally {
      await world.remove();
    }
  });

  it('that is killed leaves a record that says how far it came', async () => {
    const out = join(suite.directory, 'killed');
    const at = 'placement 2: measuring';
    const running = await startBench([...swapFlags(dns, suite.images.clusters), '--out', out], {
      ...{ kubeconfig: suite.kubeconfig, prefix: suite.name, at },
    });
    expect(await running.exited, running.said()).toBeNull();
    const world = await clusterWorld(suite.kubeconfig);
    try {
      const { record, directory: run } = await createStore(world, out).loadAs(swapKind, 'latest');
      expect(record).toMatchObject({ status: 'running', endedAt: null, restore: null });
      expect(record.placements.map(({ side }) => side)).toEqual(['A']);
      expect(await world.bench('report', run, '--format', 'terminal'), world.err()).toBe(0);
      expect(world.out()).toContain('Not finished: 1 of 2 placements measured.');
      expect(world.out().replaceAll(/\s+/g, ' ')).toContain('the guard in the cluster does that');
    } finally {
      await world.remove();
    }
    await asBefore(dns);
    await withoutTraces(suite.name, dns.namespace);
  });
});

it('bench swap canary asks as a client does, and changes nothing', async () => {
  const world = await clusterWorld(suite.kubeconfig);
  try {
    const flags = ['--workload', `${dns.namespace}/deployment/dns`, '--duration', '3', '--json'];
    expect(await world.bench('swap', 'canary', ...flags), world.err()).toBe(0);
    const { sent, lost } = JSON.parse(world.out());
    expect(sent).toBeGreaterThan(40);
    expect(lost).toBe(0);
    await asBefore(dns);
  } finally {
    await world.remove();
  }
});
