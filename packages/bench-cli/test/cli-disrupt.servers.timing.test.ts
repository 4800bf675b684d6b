/** `bench disrupt` with real servers, and faults whose effect is known. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileNeeds } from '@dinodns-bench/test-support';
import { expect } from 'vitest';
import { engineKind, okTrials } from '../src/engine/record.ts';
import {
  type DisruptEvidence,
  type DisruptRecord,
  disruptEvidenceSchema,
} from '../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../src/experiments/disrupt/settings.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { describe, it } = fileNeeds('coredns', 'unbound');

/** With a world of its own, in which nothing runs on. */
async function inWorld(act: (world: TestWorld) => Promise<void>): Promise<void> {
  const world = await testWorld();
  try {
    await act(world);
  } finally {
    await world.remove();
  }
  for (const { process: running, command } of world.started)
    expect(running.exit, command.join(' ')).toBeDefined();
}

const { schema } = engineKind<typeof disruptEvidenceSchema, DisruptSettings>(
  'disrupt',
  disruptEvidenceSchema,
);

async function folderOf(world: TestWorld): Promise<string> {
  const results = join(world.directory, 'results');
  const [id] = (await readdir(results)).filter((name) => /^\d{8}-/.test(name));
  return join(results, `${id}`);
}

async function readRecord(world: TestWorld): Promise<DisruptRecord> {
  return schema.parse(JSON.parse(await readFile(join(await folderOf(world), 'run.json'), 'utf8')));
}

/** The only trial of a fault. */
function trialOf(record: DisruptRecord, fault: string): DisruptEvidence {
  const item = record.cases.find(({ subject }) => subject === fault);
  const [trial] = okTrials(record, item?.key ?? '');
  if (trial === undefined) throw new Error(JSON.stringify(record.trials));
  return trial.evidence;
}

const RATE = 200;
const ONCE = ['--rate', String(RATE), '--trials', '1', '--warmup', '0', '--zones', '10', '--timeout', '1'];

/** What the machine alone may add to a time: it is shared with other tests. */
const SLACK_SECONDS = 1;

/** The record of a run with one trial of each fault and of the control, of which nothing is lost. */
async function recordOf(world: TestWorld, seconds: number, ...flags: string[]): Promise<DisruptRecord> {
  const status = await world.bench('disrupt', ...ONCE, '--duration', String(seconds), ...flags);
  expect(status, world.err()).toBe(0);
  const record = await readRecord(world);
  const control = trialOf(record, 'control');
  // What other programs took meanwhile is known, of one of them at least, however busy the machine.
  expect(record.trials.some((trial) => trial.status === 'ok' && trial.taken !== undefined)).toBe(true);
  expect([control.queriesSent, control.queriesLost, control.errors]).toEqual([seconds * RATE, 0, 0]);
  expect(control.longestGapSeconds).toBeLessThan(SLACK_SECONDS);
  expect(control.sockets).toMatchObject({ count: 20, losing: 0 });
  expect(control.sockets?.each).toHaveLength(20);
  // Also of sockets that get names of one kind only.
  expect(control.sockets?.longestGapSeconds).toBeLessThan(SLACK_SECONDS);
  return record;
}

/** Of an upstream or a path, and of the load around it. */
const AWAY = ['--outage', '2'];
const AWAY_SECONDS = 5;

const behindSilence = (server: string) =>
  inWorld(async (world) => {
    const flags = ['--servers', server, '--fault', 'upstream-silent', ...AWAY];
    const record = await recordOf(world, AWAY_SECONDS, ...flags);
    const { fault, longestGapSeconds, queriesLost, errors, sockets } = trialOf(record, 'upstream-silent');
    // Each of them, that is: its first query of the fault is about a tenth of a second after its begin.
    for (const { gaps } of sockets?.each ?? [])
      expect(Math.max(...gaps.map(({ fromSeconds, toSeconds }) => toSeconds - fromSeconds))).toBeGreaterThan(
        1.7,
      );
    expect(sockets?.longestGapSeconds).toBeLessThan(longestGapSeconds + 0.5);
    expect(fault.end - fault.begin).toBeGreaterThan(1.99);
    expect(longestGapSeconds).toBeGreaterThan(1.95);
    expect(longestGapSeconds).toBeLessThan(fault.end - fault.begin + SLACK_SECONDS);
    // No query of the first second can be answered within its time-out.
    expect(queriesLost + errors).toBeGreaterThanOrEqual(RATE);
    expect(world.out()).toContain('Against control');
    const page = await readFile(join(await folderOf(world), 'report.html'), 'utf8');
    expect(page).toContain('Answers over time');
    // They fail all alike.
    expect(page).not.toContain('Each socket over time');
  });

const whileDown = () =>
  inWorld(async (world) => {
    const record = await recordOf(world, 5, '--servers', 'coredns', '--outage', '1.5');
    const { fault, ...found } = trialOf(record, 'restart');
    // Down for 1.5 s, and until it answers again.
    expect(found.longestGapSeconds).toBeGreaterThan(1.5);
    expect(found.longestGapSeconds).toBeLessThan(fault.end - fault.begin + SLACK_SECONDS);
    expect(found.recoveredSeconds ?? 5).toBeGreaterThan(1.4);
    expect(found.queriesSent).toBe(5 * RATE);
    // Those that it received and did not answer any more are lost besides.
    expect(Math.abs(found.queriesLost - found.longestGapSeconds * RATE)).toBeLessThan(0.25 * RATE);
  });

const behindLostPath = () =>
  inWorld(async (world) => {
    const flags = ['--servers', 'coredns', '--fault', 'path-lost', ...AWAY];
    const record = await recordOf(world, AWAY_SECONDS, ...flags);
    const { fault, longestGapSeconds, queriesLost, errors, sockets } = trialOf(record, 'path-lost');
    expect(longestGapSeconds).toBeGreaterThan(1.95);
    expect(longestGapSeconds).toBeLessThan(fault.end - fault.begin + SLACK_SECONDS);
    expect(Math.abs(queriesLost - (fault.end - fault.begin) * RATE)).toBeLessThan(0.25 * RATE);
    expect([errors, sockets?.losing]).toEqual([0, 20]);
    for (const { gaps } of sockets?.each ?? [])
      expect(Math.max(...gaps.map(({ fromSeconds, toSeconds }) => toSeconds - fromSeconds))).toBeGreaterThan(
        1.7,
      );
    expect(sockets?.longestGapSeconds).toBeLessThan(longestGapSeconds + SLACK_SECONDS);
    const page = await readFile(join(await folderOf(world), 'report.html'), 'utf8');
    expect(page).toContain('Each socket over time');
  });

const CACHED_SECONDS = 1;

/** Of an upstream that is silent for three seconds, answers that were kept for one. */
const servedStale = ([server, mayServe]: readonly [server: string, mayServe: 'off' | 'on']) =>
  inWorld(async (world) => {
    const flags = ['--servers', server, '--fault', 'upstream-silent', '--rate', String(RATE)];
    const factors = ['--factors', `cache=${CACHED_SECONDS};serve_stale=${mayServe}`];
    const status = await world.bench('disrupt', ...ONCE, '--duration', '6', ...flags, ...factors);
    expect(status, world.err()).toBe(0);
    const record = await readRecord(world);
    const [control, stale = 0] = ['control', 'upstream-silent'].map((fault) => trialOf(record, fault).stale);
    if (mayServe === 'off') {
      expect([control, stale]).toEqual([0, 0]);
      return;
    }
    // From two seconds after they were made until the end of the fault, all are stale: at least a second, less than three.
    expect(stale).toBeGreaterThan(0.5 * RATE);
    expect(stale).toBeLessThan((3 - CACHED_SECONDS + SLACK_SECONDS) * RATE);
    expect(control).toBeLessThan(0.5 * RATE);
  });

const withoutWorker = () =>
  inWorld(async (world) => {
    const flags = ['--servers', 'dinodns', '--fault', 'worker-kill', '--tier', '2', '--outage', '0'];
    const { fault, queriesLost } = trialOf(await recordOf(world, 5, ...flags), 'worker-kill');
    expect(queriesLost).toBeLessThan(RATE / 2);
    // Another one was started after a pause of 0.1 s.
    expect(fault.end - fault.begin).toBeGreaterThan(0.1);
    expect(fault.end).toBeLessThan(5);
  });

describe('bench disrupt', { timeout: 120_000 }, () => {
  // All of one length together, since most of it is waiting. A report of one that is over would delay the faults of a longer one.
  describe('in five seconds', { concurrent: true }, () => {
    it('shows a gap of two seconds where an upstream was silent for two, and none in the control', async () => {
      await Promise.all(['coredns', 'unbound'].map(behindSilence));
    });

    it('loses what the rate predicts while a server is down, and little when one of two workers is killed', async () => {
      await Promise.all([whileDown(), withoutWorker()]);
    });

    it('shows a gap of two seconds on every socket where the path was lost for two', behindLostPath);
  });

  it('shows stale answers of CoreDNS and of Unbound only where they may be served', async () => {
    const all = ['coredns', 'unbound'].flatMap((server) => [
      [server, 'off'] as const,
      [server, 'on'] as const,
    ]);
    await Promise.all(all.map(servedStale));
  });
});
