/** `bench disrupt` on a cluster: faults of pods whose effect is known. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineKind, okTrials } from '../../src/engine/record.ts';
import {
  type DisruptEvidence,
  type DisruptRecord,
  disruptEvidenceSchema,
} from '../../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../../src/experiments/disrupt/settings.ts';
import type { TestWorld } from '../support/test-world.ts';
import { leftovers } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';

const KIND = engineKind<typeof disruptEvidenceSchema, DisruptSettings>('disrupt', disruptEvidenceSchema);

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(() => world.remove());

/** Twice a second from each socket: less is refused with `--conntrack`. */
const RATE = 400;
/** A hundred for each of two pods. */
const SOCKETS = 200;
const DURATION = 8;

/** kube-proxy's shortest time between two changes of its rules (`minSyncPeriod`), and the change itself. */
const PROXY_SECONDS = 1.2;
/** Of a hundred sockets for each pod, one may have a third more than its half. */
const CHANCE = 0.35;
/** What the machine alone may add to a time: it is shared with other tests. */
const SLACK_SECONDS = 0.15;

const flags = [
  ...['disrupt', '--target', 'kubernetes', '--workload', 'kube-system/deployment/coredns'],
  ...['--fault', 'kill,delete,scale-down', '--factors', 'replicas=2;lameduck=0', '--conntrack'],
  ...['--rate', String(RATE), '--duration', String(DURATION), '--timeout', '2', '--trials', '1'],
  ...['--loader-cpu', '300m'],
];

function trialOf(record: DisruptRecord, fault: string): DisruptEvidence {
  const item = record.cases.find(({ subject }) => subject === fault);
  const [trial] = okTrials(record, item?.key ?? '');
  if (trial === undefined) throw new Error(JSON.stringify(record.trials));
  return trial.evidence;
}

/** What is lost at most: half of the queries, about, since a socket stays with its pod, until kube-proxy knows that the pod is gone. */
const mostLost = (goneSeconds: number) =>
  (RATE / 2) * (goneSeconds + PROXY_SECONDS) * (1 + CHANCE) + SLACK_SECONDS * RATE;

/** Queries that were sent in a stretch of the load and lost. */
const lostIn = ({ timeline }: DisruptEvidence, from: number, to = DURATION) =>
  timeline.slice(Math.ceil(from * 10), to * 10).reduce((sum, { lost }) => sum + lost, 0);

const FAULT_BEGINS = 2;

/** Bounds the losses of a fault that took one of two pods. Resolves with the time until it was no endpoint. */
function expectPredicted(evidence: DisruptEvidence): number {
  const { endpoints, queriesLost, errors } = evidence;
  const { goneSeconds } = endpoints ?? {};
  if (goneSeconds == null) throw new Error(JSON.stringify(endpoints));
  expect(queriesLost).toBeLessThan(mostLost(goneSeconds));
  expect(errors).toBe(0);
  expect(lostIn(evidence, 0, FAULT_BEGINS - 0.1)).toBe(0);
  // Each reading is of the second before, in which kube-proxy may just have removed them.
  const { used, lastSeconds } = evidence.conntrack ?? {};
  expect(used).toBeGreaterThan(0.7 * SOCKETS);
  expect(lastSeconds ?? 0).toBeLessThan(goneSeconds + 2 * PROXY_SECONDS + 10 * SLACK_SECONDS);
  return goneSeconds;
}

describe('bench disrupt on a cluster', { timeout: 240_000 }, () => {
  it('loses what the time until a pod is no endpoint predicts when it is killed, deleted or one too many, and nothing in the control', async () => {
    expect(await world.bench(...flags), world.err()).toBe(0);
    const record = await recordAs(world, KIND);
    const control = trialOf(record, 'control');
    expect([control.queriesSent, control.queriesLost, control.errors]).toEqual([DURATION * RATE, 0, 0]);
    expect(control.endpoints).toEqual({ goneSeconds: null, backSeconds: null });

    expect(control.conntrack).toMatchObject({ stale: 0, lastSeconds: null });
    expect(control.conntrack?.used).toBeGreaterThan(0.7 * SOCKETS);

    // It answers no query from the fault until it is no endpoint; the others end when they are none, or about then.
    const killed = trialOf(record, 'kill');
    const killedGone = expectPredicted(killed);
    const atLeast = (RATE / 2) * killedGone * (1 - CHANCE) - SLACK_SECONDS * RATE;
    expect(killed.queriesLost).toBeGreaterThan(Math.max(0, atLeast));
    expect(killed.memory?.peak).toBeGreaterThan(2 ** 20);

    const deleted = trialOf(record, 'delete');
    expectPredicted(deleted);
    // Both have another pod, or the same one again.
    for (const evidence of [killed, deleted]) {
      const { backSeconds } = evidence.endpoints ?? {};
      if (backSeconds == null) throw new Error(JSON.stringify(evidence.endpoints));
      expect(lostIn(evidence, FAULT_BEGINS + backSeconds + PROXY_SECONDS)).toBe(0);
    }

    const fewer = trialOf(record, 'scale-down');
    expect(lostIn(fewer, FAULT_BEGINS + expectPredicted(fewer) + PROXY_SECONDS)).toBe(0);
    expect(fewer.endpoints?.backSeconds).toBeNull();
    expect(world.out()).toContain('Against control');
    expect(await leftovers()).toEqual([]);
  });
});
