/**
 * Runs test suites: `node run.ts SUITE… [arguments of vitest]`, where SUITE is one of `SUITES` or `all`. Vitest's
 * summary is followed by the run's leftovers, which are removed and fail the run, and by the tests that were left out.
 * The exit status is 0 only if all tests that ran passed and there were no leftovers.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closingLines, type OtherSuite } from './closing-lines.ts';
import { makeFreshPath } from './fresh-path.ts';
import { type LeftBy, lastingLeftovers, removeLeftovers } from './leftovers.ts';
import {
  allProcesses,
  FOLDER_VARIABLE,
  graceSeconds,
  markedProcesses,
  PATH_VARIABLE,
  RUN_VARIABLE,
  TEMPORARY_FOLDER,
} from './marks.ts';
import { runNamespacePrefix } from './namespaces.ts';
import { LEFT_OUT_FILE, type LeftOutTests } from './reporter.ts';
import { problemsOf } from './requirements.ts';
import { ALL_SUITES, KINDS, projectName, SUITES, type Suite } from './suites.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const WATCHDOG = fileURLToPath(new URL('watchdog.ts', import.meta.url));

const REMOVAL_SECONDS = 10;
/** How often the runner checks its processes, and whether its own starter is still alive. */
const LOOK_SECONDS = 1;

interface Run {
  readonly id: string;
  /** Temporary folders of the tests; nothing may be left in it. */
  readonly temporary: string;
  /** The runner's own files. */
  readonly folder: string;
}

function parse(words: readonly string[]): { suites: readonly Suite[]; rest: readonly string[] } {
  const end = words.findIndex((word) => word !== 'all' && !SUITES.some((suite) => suite === word));
  const names = end === -1 ? words : words.slice(0, end);
  const suites = names.includes('all') ? ALL_SUITES : SUITES.filter((suite) => names.includes(suite));
  if (suites.length === 0) throw new Error(`Which suite? One of ${SUITES.join(', ')}, or all.`);
  return { suites, rest: end === -1 ? [] : words.slice(end) };
}

function beginRun(): Run {
  const id = randomBytes(4).toString('hex');
  const folder = mkdtempSync(join(tmpdir(), 'dt-'));
  const temporary = join(folder, TEMPORARY_FOLDER);
  mkdirSync(temporary);
  // Tests that become another user must reach their files.
  chmodSync(folder, 0o755);
  return { id, folder, temporary };
}

/** Vitest with these suites, as a child in the same terminal. */
function startVitest(run: Run, suites: readonly Suite[], rest: readonly string[]): ChildProcess {
  const projects = KINDS.filter(({ suite }) => suites.includes(suite)).map(
    (kind) => `--project=${projectName(kind)}`,
  );
  const env = {
    ...process.env,
    [RUN_VARIABLE]: run.id,
    [FOLDER_VARIABLE]: run.folder,
    [PATH_VARIABLE]: makeFreshPath(join(run.folder, 'bin')),
    // Hundreds of tests start one of our programs. With the compile cache, all but the first start twice as fast.
    NODE_COMPILE_CACHE: join(run.folder, 'compile-cache'),
  };
  // Tests of this runner use a configuration of their own, which has no such projects.
  const chosen = rest.includes('--config') ? [] : projects;
  return spawn(process.execPath, [VITEST, 'run', ...chosen, ...rest], { cwd: ROOT, env, stdio: 'inherit' });
}

/** Starts the process that cleans up if this one is killed; `dismiss` ends it. */
function startWatchdog(run: Run): { pid: number; dismiss(): Promise<unknown> } {
  const child = spawn(process.execPath, [WATCHDOG, run.id, run.folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  return {
    pid: child.pid ?? 0,
    dismiss: () => {
      child.stdin.end('done\n');
      return once(child, 'exit');
    },
  };
}

/** The npm, pnpm and shell processes that started this one; a user may stop the tests by stopping them. */
function starters(): readonly number[] {
  const byPid = new Map(allProcesses().map((entry) => [entry.pid, entry]));
  const found: number[] = [];
  for (let entry = byPid.get(process.ppid); entry !== undefined; entry = byPid.get(entry.parent)) {
    if (!/\b(npm|npx|pnpm)\b|^(\S*\/)?sh -c /.test(entry.command)) break;
    found.push(entry.pid);
  }
  return found;
}

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Checks periodically: collects the processes of the run, and calls `onOrphaned` once a starter has died. */
function lookAround(run: Run, onOrphaned: () => void): { owners: Set<string>; stop(): void } {
  const owners = new Set<string>();
  const parents = starters();
  const timer = setInterval(() => {
    for (const { pid, startTicks } of markedProcesses(`${RUN_VARIABLE}=${run.id}`))
      owners.add(`${pid}-${startTicks}`);
    if (!parents.every(isAlive)) onOrphaned();
  }, LOOK_SECONDS * 1000);
  return { owners, stop: () => clearInterval(timer) };
}

function readLeftOut(run: Run): LeftOutTests[] {
  const path = join(run.folder, LEFT_OUT_FILE);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
}

function otherSuites(suites: readonly Suite[]): OtherSuite[] {
  return SUITES.filter((suite) => !suites.includes(suite)).map((suite) => ({
    suite,
    problems: problemsOf(suite),
  }));
}

function print(lines: readonly string[]): void {
  if (lines.length > 0) process.stderr.write(`\n${lines.join('\n')}\n`);
}

async function main(): Promise<number> {
  const { suites, rest } = parse(process.argv.slice(2));
  const run = beginRun();
  const watchdog = startWatchdog(run);
  const vitest = startVitest(run, suites, rest);
  const around = lookAround(run, () => process.kill(process.pid, 'SIGKILL'));
  // A terminal sends Ctrl-C to vitest as well; signals sent only to this process are forwarded.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => vitest.kill(signal));
  const [code, signal] = await once(vitest, 'exit');
  around.stop();
  const by: LeftBy = {
    mark: `${RUN_VARIABLE}=${run.id}`,
    except: new Set([process.pid, watchdog.pid]),
    namespacePrefix: runNamespacePrefix(run.id),
    folder: run.temporary,
    owners: around.owners,
  };
  const left = await lastingLeftovers(by, graceSeconds());
  await removeLeftovers(by, REMOVAL_SECONDS);
  print(
    left.length === 0
      ? []
      : ['Left behind by the tests, and removed now:', ...left.map(({ name }) => `  ${name}`)],
  );
  print(closingLines(readLeftOut(run), otherSuites(suites)));
  rmSync(run.folder, { recursive: true, force: true });
  await watchdog.dismiss();
  if (signal !== null) return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
  return left.length > 0 ? code || 1 : code;
}

process.exitCode = await main();
