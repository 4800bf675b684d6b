/** `bench disrupt` on a cluster: faults of pods whose effect is known, and that nothing is left behind. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineKind, okTrials } from '../../src/engine/record.ts';
import {
  type DisruptEvidence,
  type DisruptRecord,
  disruptEvidenceSchema,
} from '../../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../../src/experiments/disrupt/settings.ts';
import { LABELS } from '../../src/targets/kubernetes/objects/labels.ts';
import type { TestWorld } from '../support/test-world.ts';
import { core, filePrefix, leftovers, SELECTOR } from './support/admin.ts';
import { clusterWorld, recordAs } from './support/bench.ts';

const KIND = engineKind<typeof disruptEvidenceSchema, DisruptSettings>('disrupt', disruptEvidenceSchema);

let world: TestWorld;
beforeEach(async () => {
  world = await clusterWorld();
});
afterEach(() => world.remove());

const RATE = 200;

/** kube-proxy's shortest time between two changes of its rules (`minSyncPeriod`), and the change itself. */
const PROXY_SECONDS = 1.2;
/** Of a hundred sockets for each pod, one may have a third more than its half. */
const CHANCE = 0.35;
/** What the machine alone may add to a time: it is shared with other tests. */
const SLACK_SECONDS = 0.15;

const flags = (...more: string[]) => [
  ...['disrupt', '--target', 'kubernetes', '--rate', String(RATE), '--timeout', '2', '--trials', '1'],
  ...['--loader-cpu', '300m', ...more],
];

function trialOf(record: DisruptRecord, fault: string): DisruptEvidence {
  const item = record.cases.find(({ subject }) => subject === fault);
  const [trial] = okTrials(record, item?.key ?? '');
  if (trial === undefined) throw new Error(JSON.stringify(record.trials));
  return trial.evidence;
}

/** Whether pods of the server end while the load generator runs. */
async function isRollingOut(): Promise<boolean> {
  const { items } = await core().listPodForAllNamespaces({ labelSelector: SELECTOR });
  const ours = items.filter(({ metadata }) => metadata?.namespace?.startsWith(`${filePrefix()}-`));
  const of = (component: string) =>
    ours.filter(({ metadata }) => metadata?.labels?.[LABELS.component] === component);
  return (
    of('server').some(({ metadata }) => metadata?.deletionTimestamp !== undefined) &&
    of('loader').some(
      ({ metadata, status }) => metadata?.deletionTimestamp === undefined && status?.phase === 'Running',
    )
  );
}

describe('bench disrupt on a cluster', { timeout: 120_000 }, () => {
  it('loses what the time until a killed pod is no endpoint predicts, and nothing in the control', async () => {
    const status = await world.bench(
      ...flags('--fault', 'kill', '--duration', '8', '--factors', 'replicas=2'),
    );
    expect(status, world.err()).toBe(0);
    const record = await recordAs(world, KIND);
    const control = trialOf(record, 'control');
    expect([control.queriesSent, control.queriesLost, control.errors]).toEqual([8 * RATE, 0, 0]);
    expect(control.endpoints).toEqual({ goneSeconds: null, backSeconds: null });
    const { endpoints, queriesLost, timeline, memory } = trialOf(record, 'kill');
    const { goneSeconds, backSeconds } = endpoints ?? {};
    if (goneSeconds == null || backSeconds == null) throw new Error(JSON.stringify(endpoints));
    // Half of the queries, about: a socket stays with its pod. kube-proxy applies a change within a second of the last one.
    const atLeast = (RATE / 2) * goneSeconds;
    const atMost = (RATE / 2) * (goneSeconds + PROXY_SECONDS);
    expect(queriesLost).toBeGreaterThan(Math.max(0, atLeast * (1 - CHANCE) - SLACK_SECONDS * RATE));
    expect(queriesLost).toBeLessThan(atMost * (1 + CHANCE) + SLACK_SECONDS * RATE);
    // Nothing is lost before the fault, and nothing once all is as before.
    const lostFrom = (from: number, to: number) =>
      timeline.slice(from * 10, to * 10).reduce((sum, { lost }) => sum + lost, 0);
    expect(lostFrom(0, 1.9)).toBe(0);
    expect(lostFrom(2 + Math.ceil(backSeconds) + PROXY_SECONDS, 8)).toBe(0);
    expect(memory?.peak).toBeGreaterThan(2 ** 20);
    expect(world.out()).toContain('Against control');
    expect(await leftovers()).toEqual([]);
  });

  it('leaves nothing behind when it is stopped in the middle of a rolling update', async () => {
    const running = world.bench(...flags('--duration', '8', '--factors', 'lameduck=0'));
    await expect.poll(isRollingOut, { timeout: 90_000, interval: 200 }).toBe(true);
    world.send('SIGINT');
    expect(await running, world.err()).toBe(130);
    expect(await leftovers()).toEqual([]);
  });
});
