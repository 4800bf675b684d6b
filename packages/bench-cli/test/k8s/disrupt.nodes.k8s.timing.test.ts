/** `bench disrupt --fault drain` on two nodes: pods are evicted from one, and it takes pods again afterwards. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineKind, okTrials } from '../../src/engine/record.ts';
import { disruptEvidenceSchema } from '../../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../../src/experiments/disrupt/settings.ts';
import type { TestWorld } from '../support/test-world.ts';
import { filePrefix, leftovers } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';
import { NODES } from './support/components.ts';
import { snapshotOf, until, withoutTraces } from './support/stand-in.ts';

const KIND = engineKind<typeof disruptEvidenceSchema, DisruptSettings>('disrupt', disruptEvidenceSchema);
const { first, second } = NODES;
const RATE = 100;
const DURATION = 8;

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(() => world.remove());

describe('a node that is drained', () => {
  it('loses its pods, which start on the other one, and is as before afterwards', async () => {
    const snapshots = () => Promise.all([first, second].map((name) => snapshotOf(`/api/v1/nodes/${name}`)));
    const before = await snapshots();
    const status = await world.bench(
      ...['disrupt', '--target', 'kubernetes', '--fault', 'drain', '--factors', 'replicas=2;lameduck=0'],
      ...['--rate', String(RATE), '--duration', String(DURATION), '--timeout', '2', '--trials', '1'],
      ...['--loader-cpu', '250m', '--lease', '20'],
    );
    expect(status, world.err()).toBe(0);
    const record = await recordAs(world, KIND);
    const [control, drained] = record.cases.flatMap(({ key }) => okTrials(record, key));
    if (control === undefined || drained === undefined) throw new Error(JSON.stringify(record.trials));
    expect([control.evidence.queriesSent, control.evidence.queriesLost]).toEqual([RATE * DURATION, 0]);
    const { nodes, endpoints, queriesLost } = drained.evidence;
    expect([...(nodes ?? [])].sort()).toEqual([first, second]);
    expect(endpoints?.goneSeconds).toBeGreaterThan(0);
    expect(endpoints?.backSeconds).toBeGreaterThanOrEqual(endpoints?.goneSeconds ?? 0);
    // The pod on the other node answers: half of the queries at least.
    expect(queriesLost).toBeLessThan((RATE * DURATION) / 2);
    expect(world.err()).toMatch(/reverted: .*unschedulable/);
    // Kubernetes takes the taint away a moment after the mark.
    await until(snapshots, before);
    await withoutTraces(filePrefix(), 'kube-system');
    expect(await leftovers()).toEqual([]);
  });
});
