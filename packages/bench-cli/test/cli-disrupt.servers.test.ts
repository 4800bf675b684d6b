/** `bench disrupt` that is stopped in the middle leaves nothing running. What it measures: cli-disrupt.servers.timing.test.ts. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { readAllProcessStats } from '../src/machine/proc-files.ts';
import { createResourceGroups } from '../src/targets/local/resource-groups.ts';
import { uniqueRunId } from './local-fixtures.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(async () => {
  await world.remove();
  for (const { process: running, command } of world.started)
    expect(running.exit, command.join(' ')).toBeDefined();
});

const ONCE = [
  ...['disrupt', '--servers', 'coredns', '--rate', '200', '--trials', '1', '--warmup', '0'],
  ...['--zones', '10', '--timeout', '1'],
];

it('after Ctrl-C while a server is down', { timeout: 120_000 }, async () => {
  const running = world.bench(...ONCE, '--outage', '2', '--duration', '5');
  const servers = () => world.started.filter(({ command }) => command.includes('-conf'));
  // The first one is that of the control.
  await expect
    .poll(() => servers().length === 2 && servers()[1]?.process.exit, { timeout: 90_000 })
    .toBeTruthy();
  world.send('SIGINT');
  expect(await running).toBe(130);
  expect(world.err()).toContain('1 trial saved');
  expect(servers()).toHaveLength(2);
});

it('after SIGKILL', { timeout: 180_000 }, async () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const bench = spawn(world.processes.nodePath, [main, ...ONCE, '--fault', 'upstream-silent'], {
    cwd: world.directory,
    stdio: 'ignore',
    env: { ...process.env, DINODNS_BENCH_PROVISION: 'false', TMPDIR: world.directory },
  });
  const running = async () => (await readAllProcessStats(world)).filter(({ state }) => state !== 'Z');
  const children = async () => (await running()).filter(({ parentPid }) => parentPid === bench.pid);
  // The server and the load generator.
  await expect.poll(async () => (await children()).length, { timeout: 120_000 }).toBe(2);
  const pids = (await children()).map(({ pid }) => pid);
  bench.kill('SIGKILL');
  await expect.poll(async () => (await running()).filter(({ pid }) => pids.includes(pid))).toEqual([]);
  // As the next run does: removes the control groups.
  await (await createResourceGroups(world, { runId: uniqueRunId(), request: 'quota' })).close();
});
