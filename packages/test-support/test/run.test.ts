/** The runner of the tests itself: what it leaves out, what it finds left, and what happens when it is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allProcesses, COSTS_VARIABLE, GRACE_VARIABLE } from '../src/marks.ts';

const RUNNER = fileURLToPath(new URL('../src/run.ts', import.meta.url));
/** Nothing is about to end in these runs, and whether servers are required is no matter of theirs. */
const CLEAN = { [GRACE_VARIABLE]: '0.2', DINODNS_BENCH_REQUIRE_SERVERS: '', [COSTS_VARIABLE]: undefined };
const CONFIG = fileURLToPath(new URL('fixtures/vitest.config.ts', import.meta.url));

/** A runner of its own has to start, and in it vitest: that takes a second, and on a busy machine many. */
const START_MS = 60_000;
const PATIENCE = { timeout: 2 * START_MS };

let directory: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nested-run-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** A run of its own in this one: the fixture's tests, with its temporary files in `directory`. */
function startRun(fixture: string, env: NodeJS.ProcessEnv = {}, ...words: string[]) {
  const child = spawn(process.execPath, [RUNNER, 'workspace', ...words, `--config=${CONFIG}`, fixture], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', TMPDIR: directory, ...CLEAN, ...env },
  });
  children.push(child);
  return { child, ended: Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]) };
}

async function run(fixture: string, env?: NodeJS.ProcessEnv, ...words: string[]) {
  const [stdout, stderr, [status]] = await startRun(fixture, env, ...words).ended;
  return { stdout, stderr, status };
}

/** What the run in `directory` has started, directly or not, and that still runs `left-behind`. */
function leftBehind(): string[] {
  return allProcesses()
    .filter(
      ({ environment, command }) =>
        command.endsWith('left-behind') &&
        environment.some((word) => word.startsWith(`TMPDIR=${directory}/`)),
    )
    .map(({ command }) => command);
}

describe('what tests leave behind', PATIENCE, () => {
  it('is named, removed, and fails the run: a process, a grandchild, a folder', async () => {
    const { stdout, stderr, status } = await run('leaks', { FIXTURE_LEAKS: 'process,grandchild,folder' });
    expect(status).toBe(1);
    const said = `${stdout}${stderr}`;
    expect(said).toContain('This test file left behind');
    expect(new Set(said.match(/process \d+: .*left-behind/g))).toHaveProperty('size', 2);
    expect(said).toMatch(/temporary file or folder .*left-behind-/);
    expect(await readdir(directory)).toEqual([]);
    expect(leftBehind()).toEqual([]);
  });

  it.each(['failure', 'failure at the end'])('of a file with a %s is reported as both', async (failure) => {
    const { stdout, stderr, status } = await run('leaks', { FIXTURE_LEAKS: `${failure},process` });
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(/process \d+: .*left-behind/);
    expect(stdout).toMatch(/1 failed/);
    // Its temporary folder went with the file: it is none of what its tests left.
    expect(stderr).not.toContain('Left behind by the tests');
  });

  it('what a killed test process leaves behind is found at the end of the run', async () => {
    const { stderr, status } = await run('leaks', { FIXTURE_LEAKS: 'crash' });
    expect(status).toBe(1);
    expect(stderr).toMatch(/Left behind by the tests, and removed now:\n {2}process \d+: .*left-behind/);
    expect(leftBehind()).toEqual([]);
  });
});

describe('a run that is killed', PATIENCE, () => {
  /** Resolves once the test hangs. */
  async function hangingRun() {
    const { child, ended } = startRun('leaks', { FIXTURE_LEAKS: 'hang' });
    await expect.poll(leftBehind, { timeout: START_MS }).toHaveLength(1);
    return { child, ended };
  }

  it('with SIGKILL ends with everything that it has started', async () => {
    const { child } = await hangingRun();
    child.kill('SIGKILL');
    await expect.poll(leftBehind).toEqual([]);
    await expect.poll(() => readdir(directory)).toEqual([]);
  });

  it('with SIGTERM does, too, and says so by its status', async () => {
    const { child, ended } = await hangingRun();
    child.kill('SIGTERM');
    const [, , [status]] = await ended;
    expect(status).not.toBe(0);
    expect(leftBehind()).toEqual([]);
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('what a test needs and this machine lacks', PATIENCE, () => {
  const empty = { FIXTURE_SUITE: 'servers', FIXTURE_NEEDS: 'chromium', CHROMIUM_PATH: '' };

  it('leaves it out, and the last lines say what, why, and how to get it', async () => {
    const { stdout, stderr, status } = await run('needs', {
      ...empty,
      FIXTURE_SUITE: 'browser',
      PATH: '/nonexistent',
    });
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/1 passed \| 2 skipped/);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('To get what is missing: pnpm bench doctor --fix --for tests');
    expect(stderr).toMatch(/Left out: 2 tests\.\n {2}\S*needs\.fixture\.ts: 2 tests \(chromium is missing\)/);
  });

  it('is an error where nothing may be left out', async () => {
    const env = {
      ...empty,
      FIXTURE_SUITE: 'browser',
      PATH: '/nonexistent',
      DINODNS_BENCH_REQUIRE_SERVERS: '1',
    };
    const { stdout, stderr, status } = await run('needs', env);
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toContain('chromium is missing, and DINODNS_BENCH_REQUIRE_SERVERS=1');
  });

  it('may be asked for in its own suite only', async () => {
    const { stdout, stderr, status } = await run('needs', {
      FIXTURE_SUITE: 'workspace',
      FIXTURE_NEEDS: 'nsd',
    });
    expect(status).toBe(1);
    expect(`${stdout}${stderr}`).toContain('Move it to a file named *.servers.test.ts');
  });
});

describe('--again', PATIENCE, () => {
  const chance = (failures: number) => ({
    FIXTURE_COUNTER: join(directory, '..', `${basename(directory)}-count`),
    FIXTURE_FAILURES: String(failures),
  });
  afterEach(() => rm(chance(0).FIXTURE_COUNTER, { force: true }));

  it('passes, and names the test, if it failed only at first', async () => {
    const { stderr, status } = await run('chance', chance(1), '--again');
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(
      /Failed at first, and passed alone:\n {2}\S*chance\.fixture\.ts: fails by chance\n/,
    );
    expect(stderr).toContain('Tests  2 passed (2)');
    expect(await readdir(directory)).toEqual([]);
  });

  it('fails, and names the test, if it fails twice', async () => {
    const { stderr, status } = await run('chance', chance(2), '--again');
    expect(status).toBe(1);
    expect(stderr).toMatch(/Failed twice:\n {2}\S*chance\.fixture\.ts: fails by chance\n/);
    expect(stderr).toContain('Tests  1 failed | 1 passed (2)');
  });

  it('is not the default', async () => {
    const { stderr, status } = await run('chance', chance(1));
    expect(status).toBe(1);
    expect(stderr).toMatch(/Failed:\n {2}\S*chance\.fixture\.ts: fails by chance\n/);
  });
});

it('--timing with another word than only and none is refused', PATIENCE, async () => {
  const { stderr, status } = await run('chance', {}, '--timing=some');
  expect(status).toBe(1);
  expect(stderr).toContain('--timing=some: pass only or none.');
});
