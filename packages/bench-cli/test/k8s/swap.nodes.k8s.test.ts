/** `bench swap` of DNS that runs on every node, on OpenShift and elsewhere. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SwapRecord } from '../../src/experiments/swap/evidence.ts';
import { createStore } from '../../src/results/store.ts';
import { swapRecordKind } from '../fixtures/make-swap.ts';
import { suiteName } from './support/admin.ts';
import { clusterWorld } from './support/bench.ts';
import { NODES, nameOnFirstNode } from './support/components.ts';
import {
  makeOpenShift,
  type OpenShift,
  openShiftAsBefore,
  openShiftSwap,
  removeOpenShift,
} from './support/openshift.ts';
import { snapshotOf, swapFlags, withoutTraces } from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

const { first, second } = NODES;
const suite = swapSuite('nodes', ['in-place', 'optional'], 'DaemonSet');
let openshift: OpenShift;

beforeAll(async () => {
  openshift = await makeOpenShift(suite.images.ours);
});
afterAll(removeOpenShift);

async function swap(flags: readonly string[], check: (seen: Seen) => Promise<void>): Promise<void> {
  const world = await clusterWorld(suite.kubeconfig);
  try {
    const status = await world.bench(...flags);
    const load = async () => (await createStore(world, 'results').loadAs(swapRecordKind, 'latest')).record;
    await check({ status, said: world.err(), load, directory: world.directory });
  } finally {
    await world.remove();
  }
}

interface Seen {
  readonly status: number;
  readonly said: string;
  readonly directory: string;
  load(): Promise<SwapRecord>;
}

describe('DNS on two nodes', () => {
  it('of OpenShift is swapped on both under load from both at once, and the report has a line for each sender', async () => {
    // Long enough that a loader that a busy node lets begin a second late has nine tenths in common with the other.
    const flags = ['--duration', '15', '--rate', '400', '--load-per-node'];
    await swap(
      [...openShiftSwap(suite.images.clusters), ...flags],
      async ({ status, said, load, directory }) => {
        expect(status, said).toBe(0);
        const record = await load();
        const placed = record.trials.flatMap((trial) => (trial.status === 'ok' ? [trial.evidence] : []));
        expect(placed.map(({ side }) => side)).toEqual(['A', 'B']);
        for (const { pods, phases } of placed) {
          expect(pods.map(({ node }) => node).sort()).toEqual([first, second]);
          expect(new Set(pods.map(({ version }) => version)).size).toBe(1);
          for (const { senders, load, loaders } of phases) {
            expect(loaders?.overlap).toBeGreaterThan(0.9);
            for (const { clock } of loaders?.each ?? []) expect(clock?.roundTripSeconds).toBeLessThan(0.5);
            expect(senders?.map(({ node }) => node).sort()).toEqual([first, second]);
            for (const { queriesCompleted } of senders ?? []) expect(queriesCompleted).toBeGreaterThan(2_000);
            expect(load?.queriesCompleted).toBe(senders?.reduce((sum, one) => sum + one.queriesCompleted, 0));
          }
        }
        const report = await readFile(join(directory, 'results', record.id, 'report.md'), 'utf8');
        for (const node of [first, second]) expect(report).toMatch(new RegExp(`\\| 2 B .*\\| ${node} +\\|`));
        expect(report).toMatch(/sent together for \d+\.\d % of the time or more/);
        expect(record.warnings.join()).toContain('are one machine');
      },
    );
    await openShiftAsBefore(openshift);
    await withoutTraces(suite.name, openshift.dns.namespace);
  });

  it('is not touched if the image is missing on one of them, which is named', async () => {
    const image = `only-on-first/${suiteName()}-swap:1`;
    await nameOnFirstNode(suite.images.ours, image);
    await swap([...swapFlags(suite.dns, image), '--pull-policy', 'Never'], async ({ status, said }) => {
      expect(status).toBe(3);
      expect(said).toMatch(new RegExp(`E_POD_IMAGE\\]: .*on node ${second} cannot get its image ${image}`));
      expect(said).not.toContain('planned:');
    });
    expect(await snapshotOf(suite.dns.path)).toEqual(suite.dns.before);
  });
});
