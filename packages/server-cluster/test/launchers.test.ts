/** Who stops the program that stands in front of the server stops the server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { childrenOf, isAlive, sleep, until } from './support/server-process.ts';

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
/** Seconds. The tests prove that it ends, not how soon: the machine may be busy. */
const PATIENCE = 20;
let directory = '';
let child: ChildProcess | undefined;
let serverPid = -1;

afterEach(async () => {
  child?.kill('SIGKILL');
  try {
    process.kill(serverPid, 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
  await rm(directory, { recursive: true, force: true });
});

/** Starts the server below programs of these names: each a shell script that waits for the next. */
async function startBelow(scripts: readonly string[], flags = ''): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'launchers-test-'));
  const bin = join(directory, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  let command = `"${process.execPath}" "${cli}" --port 0 --zones 3 ${flags}`;
  let program = '';
  for (const name of [...scripts].reverse()) {
    program = join(bin, name);
    // The exit keeps the shell from replacing itself with its last command.
    await writeFile(program, `#!/bin/sh\n${command}\nexit $?\n`);
    await chmod(program, 0o755);
    command = `"${program}"`;
  }
  child = spawn(program, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const line = await new Promise<string>((resolve) =>
    child?.stdout?.once('data', (data) => resolve(String(data))),
  );
  serverPid = (JSON.parse(line) as { pid: number }).pid;
  expect(serverPid).not.toBe(child.pid);
}

test.each([['pnpm'], ['npx']])('a server below %s ends with it', async (name) => {
  await startBelow([name]);
  child?.kill('SIGTERM');
  expect(await until(() => !isAlive(serverPid), PATIENCE)).toBe(true);
});

test('a signal to npx and the server together is one: queries under way are answered', async () => {
  await startBelow(['npx'], '--mode multi --workers 1');
  const [worker = -1] = childrenOf(serverPid);
  process.kill(worker, 'SIGSTOP');
  try {
    process.kill(-(child?.pid ?? 0), 'SIGTERM');
    // Every half a second, the server looks whether npx is still there.
    await sleep(1.5);
    expect(isAlive(serverPid)).toBe(true);
  } finally {
    process.kill(worker, 'SIGCONT');
  }
  expect(await until(() => !isAlive(serverPid), PATIENCE)).toBe(true);
});

test('a server below npx, pnpm and a shim ends with the first of them', async () => {
  await startBelow(['npx', 'pnpm', 'node']);
  child?.kill('SIGKILL');
  expect(await until(() => !isAlive(serverPid), PATIENCE)).toBe(true);
});

test("a server that somebody's own script has started goes on without it", async () => {
  await startBelow(['my-script']);
  child?.kill('SIGKILL');
  expect(await until(() => !isAlive(serverPid), 2)).toBe(false);
});
