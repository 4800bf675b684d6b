/** `bench disrupt` with real servers, and faults whose effect is known. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileNeeds } from '@dinodns-bench/test-support';
import { expect } from 'vitest';
import { engineKind, okTrials } from '../src/engine/record.ts';
import {
  type DisruptEvidence,
  type DisruptRecord,
  disruptEvidenceSchema,
} from '../src/experiments/disrupt/evidence.ts';
import type { DisruptSettings } from '../src/experiments/disrupt/settings.ts';
import { readAllProcessStats } from '../src/machine/proc-files.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import { uniqueRunId } from './local-fixtures.ts';
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

function demandUndisturbed(control: DisruptEvidence, seconds: number): void {
  expect([control.queriesSent, control.queriesLost, control.errors]).toEqual([seconds * RATE, 0, 0]);
  expect(control.longestGapSeconds).toBeLessThan(SLACK_SECONDS);
}

describe('bench disrupt', { concurrent: true, timeout: 120_000 }, () => {
  it.each(['coredns', 'unbound'])(
    'shows a gap of three seconds where the upstream of %s was silent for three, and none in the control',
    (server) =>
      inWorld(async (world) => {
        const flags = ['--servers', server, '--fault', 'upstream-silent', '--duration', '6'];
        expect(await world.bench('disrupt', ...ONCE, ...flags), world.err()).toBe(0);
        const record = await readRecord(world);
        const { fault, longestGapSeconds, queriesLost, errors } = trialOf(record, 'upstream-silent');
        expect(fault.end - fault.begin).toBeGreaterThan(2.99);
        expect(longestGapSeconds).toBeGreaterThan(2.95);
        expect(longestGapSeconds).toBeLessThan(fault.end - fault.begin + SLACK_SECONDS);
        // No query of the first two seconds can be answered within its time-out.
        expect(queriesLost + errors).toBeGreaterThanOrEqual(2 * RATE);
        demandUndisturbed(trialOf(record, 'control'), 6);
        expect(world.out()).toContain('Against control');
        const page = await readFile(join(await folderOf(world), 'report.html'), 'utf8');
        expect(page).toContain('Answers over time');
      }),
  );
  it('loses what the rate predicts while a server is down', () =>
    inWorld(async (world) => {
      const flags = ['--servers', 'coredns', '--outage', '1.5', '--duration', '5'];
      expect(await world.bench('disrupt', ...ONCE, ...flags), world.err()).toBe(0);
      const record = await readRecord(world);
      const { fault, queriesSent, queriesLost, longestGapSeconds, recoveredSeconds } = trialOf(
        record,
        'restart',
      );
      // Down for 1.5 s, and until it answers again.
      expect(longestGapSeconds).toBeGreaterThan(1.5);
      expect(longestGapSeconds).toBeLessThan(fault.end - fault.begin + SLACK_SECONDS);
      expect(queriesSent).toBe(5 * RATE);
      // Those that it received and did not answer any more are lost besides.
      expect(Math.abs(queriesLost - longestGapSeconds * RATE)).toBeLessThan(0.25 * RATE);
      expect(recoveredSeconds ?? 0).toBeGreaterThan(1.4);
      demandUndisturbed(trialOf(record, 'control'), 5);
    }));

  it('loses little when one of two workers is killed', () =>
    inWorld(async (world) => {
      const flags = ['--servers', 'dinodns', '--fault', 'worker-kill', '--tier', '2', '--outage', '0'];
      expect(await world.bench('disrupt', ...ONCE, ...flags, '--duration', '4'), world.err()).toBe(0);
      const record = await readRecord(world);
      const { fault, queriesLost } = trialOf(record, 'worker-kill');
      expect(queriesLost).toBeLessThan(RATE / 2);
      // Another one was started after a pause of 0.1 s.
      expect(fault.end - fault.begin).toBeGreaterThan(0.1);
      expect(fault.end).toBeLessThan(4);
      demandUndisturbed(trialOf(record, 'control'), 4);
    }));

  it('starts nothing again after Ctrl-C while a server is down', ({ expect: here }) =>
    inWorld(async (world) => {
      const running = world.bench('disrupt', ...ONCE, '--servers', 'coredns', '--duration', '6');
      const servers = () => world.started.filter(({ command }) => command.includes('-conf'));
      // The first one is that of the control.
      await here
        .poll(() => servers().length === 2 && servers()[1]?.process.exit, { timeout: 60_000 })
        .toBeTruthy();
      world.send('SIGINT');
      expect(await running).toBe(130);
      expect(world.err()).toContain('1 trial saved');
      expect(servers()).toHaveLength(2);
    }));

  it('leaves nothing running when bench is killed', ({ expect: here }) =>
    inWorld(async (world) => {
      const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
      const flags = [...ONCE, '--servers', 'coredns', '--fault', 'upstream-silent'];
      const bench = spawn(world.processes.nodePath, [main, 'disrupt', ...flags], {
        cwd: world.directory,
        stdio: 'ignore',
        env: { ...process.env, DINODNS_BENCH_PROVISION: 'false', TMPDIR: world.directory },
      });
      const descendants = async () => {
        const stats = await readAllProcessStats(world);
        return stats.filter(({ parentPid, state }) => parentPid === bench.pid && state !== 'Z');
      };
      // The server and the load generator.
      await here.poll(async () => (await descendants()).length, { timeout: 60_000 }).toBe(2);
      const pids = (await descendants()).map(({ pid }) => pid);
      bench.kill('SIGKILL');
      const left = async () =>
        (await readAllProcessStats(world)).filter(({ pid, state }) => pids.includes(pid) && state !== 'Z');
      await here.poll(left, { timeout: 5000 }).toEqual([]);
      // As the next run does: removes the control groups.
      await (await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' })).close();
    }));
});
