/** `bench swap --method in-place`: what its record says of CPU, of clients, and of what was put back. */
import { describe, expect, it } from 'vitest';
import type { SwapRecord } from '../../src/experiments/swap/evidence.ts';
import { estimandName, MIN_RATE_RATIO } from '../../src/experiments/swap/figures.ts';
import { createStore } from '../../src/results/store.ts';
import { swapRecordKind } from '../fixtures/make-swap.ts';
import { clusterWorld } from './support/bench.ts';
import { asBefore, note, swapFlags } from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const suite = swapSuite('record', ['in-place', 'optional'], 'Deployment');

/** Placements that were measured. */
const measuredIn = ({ trials }: SwapRecord) =>
  trials.flatMap((trial) => (trial.status === 'ok' ? [trial] : []));

function checkPlacements(record: SwapRecord): void {
  const { settings, programs } = record;
  expect(measuredIn(record).map(({ evidence }) => evidence.side)).toEqual(['A', 'B']);
  for (const [index, { evidence }] of measuredIn(record).entries()) {
    const { pods, phases, canary } = evidence;
    expect(canary?.sent).toBeGreaterThan(0);
    expect(pods.map(({ version, source }) => [version, source])).toEqual([
      [programs[index]?.version, 'metrics'],
    ]);
    expect(phases.map(({ kind }) => kind)).toEqual(['idle', 'internal', 'external', 'idle']);
    for (const { observation, load, kind } of phases) {
      expect(observation).toMatchObject({ cpuSource: 'kubelet-summary', processes: 1 });
      if (kind !== 'idle') expect(load?.queriesCompleted).toBeGreaterThan(settings.rate);
    }
  }
}

describe('an in-place swap', () => {
  it('records CPU above idle, what the canary lost, and what was put back', async () => {
    const world = await clusterWorld(suite.kubeconfig);
    try {
      // Both as long: the kubelet's counters are read before and after, and what is used until then counts as well.
      const flags = ['--observe', 'summary', '--idle', '4', '--duration', '4', '--rate', '500'];
      flags.push('--loader-cpu', '400m');
      expect(await world.bench(...swapFlags(suite.dns, suite.images.clusters), ...flags), world.err()).toBe(
        0,
      );
      const { record } = await createStore(world, 'results').loadAs(swapRecordKind, 'latest');
      expect(record).toMatchObject({ status: 'complete', settings: { method: 'in-place' } });
      expect(record.programs.map(({ executable }) => executable)).toEqual([
        suite.images.ours,
        suite.images.clusters,
      ]);
      expect(record.conditions['DNS of the cluster']).toBe(
        `Deployment ${suite.dns.namespace}/dns, container coredns, Service dns`,
      );
      checkPlacements(record);
      expect(measuredIn(record).map(({ evidence }) => evidence.rolloutCanary === null)).toEqual([
        true,
        false,
      ]);
      const [restored, change, history, canary] = record.closing ?? [];
      const [, seconds] =
        /^Everything was as before ([\d.]+) s after the last placement\.$/.exec(restored ?? '') ?? [];
      expect(seconds, restored).toBeDefined();
      await note('no fault', Number(seconds));
      expect(change).toContain(`"${suite.images.ours}" → "${suite.images.clusters}", reverted`);
      expect(history).toContain('as its previous revision');
      expect(canary).toMatch(/The canary lost \d+ of \d+ .*during 2 rolling updates/);
      let held = 0;
      for (const { summary } of record.cases) {
        for (const names of ['internal', 'external'] as const) {
          // On a busy machine the rate may not be held, and then its CPU means nothing.
          const isHeld = (summary[estimandName('held', names)]?.median ?? 0) >= MIN_RATE_RATIO;
          const net = summary[estimandName('net', names)]?.median;
          expect(net !== undefined, JSON.stringify(summary)).toBe(isHeld);
          if (!isHeld) continue;
          held += 1;
          expect(net).toBeGreaterThan(0);
          expect(summary[estimandName('loaded', names)]?.median).toBeGreaterThan(summary.idle?.median ?? 1);
        }
      }
      expect(held).toBeGreaterThan(0);
      expect(world.out().replaceAll(/\s+/g, ' ')).toMatch(
        /The canary lost \d+ of \d+ .*during 2 rolling updates/,
      );
      await asBefore(suite.dns);
    } finally {
      await world.remove();
    }
  });
});

it('bench swap canary asks as a client does, and changes nothing', async () => {
  const world = await clusterWorld(suite.kubeconfig);
  try {
    const flags = ['--workload', `${suite.dns.namespace}/deployment/dns`, '--duration', '3', '--json'];
    expect(await world.bench('swap', 'canary', ...flags), world.err()).toBe(0);
    const { sent, lost } = JSON.parse(world.out());
    expect(sent).toBeGreaterThan(40);
    expect(lost).toBe(0);
    await asBefore(suite.dns);
  } finally {
    await world.remove();
  }
});
