/**
 * Runs test suites: `node run.ts SUITE… [--again] [--timing=only|none] [arguments of vitest]`, where SUITE is one of `SUITES`
 * or `all`. With `--timing`, only the files that must run alone, or only the others.
 * Vitest's summary is followed by the run's leftovers, which are removed and fail the run, by the tests that failed, and
 * by those that were left out. With `--again`, a few failed files are run once more, alone, and that result counts.
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
import {
  AGAIN_FLAG,
  failedLines,
  isWorthRepeating,
  OUTCOME_FILE,
  readOutcome,
  totalLine,
} from './failed-files.ts';
import { makeFreshPath } from './fresh-path.ts';
import { type LeftBy, lastingLeftovers, removeLeftovers } from './leftovers.ts';
import {
  allProcesses,
  FOLDER_VARIABLE,
  graceSeconds,
  markedProcesses,
  PATH_VARIABLE,
  RUN_VARIABLE,
  runNamespacePrefix,
  TEMPORARY_FOLDER,
} from './marks.ts';
import { LEFT_OUT_FILE, type LeftOutTests } from './reporter.ts';
import { problemsOf } from './requirements.ts';
import { ALL_SUITES, KINDS, projectNames, SUITES, type Suite } from './suites.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');
const WATCHDOG = fileURLToPath(new URL('watchdog.ts', import.meta.url));

/**
 * What Node.js keeps of compiled code, for all runs: hundreds of tests start one of our programs, which starts twice as fast with it,
 * and each file of tests runs in a process of its own, which needs 0.2 s of CPU time less.
 */
const COMPILED = join(ROOT, 'node_modules/.cache/compiled');

const REMOVAL_SECONDS = 10;
/** How often the runner checks its processes, and whether its own starter is still alive. */
const LOOK_SECONDS = 1;

const TIMING_FLAG = '--timing=';

type Run = ReturnType<typeof beginRun>;

interface Request {
  readonly suites: readonly Suite[];
  readonly isRepeated: boolean;
  /** Whether files that must run alone are run. */
  readonly timing: 'with' | 'only' | 'none';
  /** Arguments of vitest. */
  readonly rest: readonly string[];
}

function parse(words: readonly string[]): Request {
  const end = words.findIndex((word) => word !== 'all' && !SUITES.some((suite) => suite === word));
  const names = end === -1 ? words : words.slice(0, end);
  const suites = names.includes('all') ? ALL_SUITES : SUITES.filter((suite) => names.includes(suite));
  if (suites.length === 0) throw new Error(`Which suite? One of ${SUITES.join(', ')}, or all.`);
  const others = end === -1 ? [] : words.slice(end);
  const given = others.find((word) => word.startsWith(TIMING_FLAG));
  const timing = given === undefined ? 'with' : given.slice(TIMING_FLAG.length);
  if (timing !== 'with' && timing !== 'only' && timing !== 'none')
    throw new Error(`${TIMING_FLAG}${timing}: pass only or none.`);
  return {
    suites,
    isRepeated: others.includes(AGAIN_FLAG),
    timing,
    rest: others.filter((word) => word !== AGAIN_FLAG && word !== given),
  };
}

function beginRun() {
  const id = randomBytes(4).toString('hex');
  const folder = mkdtempSync(join(tmpdir(), 'dt-'));
  const temporary = join(folder, TEMPORARY_FOLDER);
  mkdirSync(temporary);
  // Tests that become another user must reach their files.
  chmodSync(folder, 0o755);
  return {
    id,
    /** The runner's own files. */
    folder,
    /** Temporary folders of the tests; nothing may be left in it. */
    temporary,
    /** The programs of a fresh machine. */
    freshPath: makeFreshPath(join(folder, 'bin')),
  };
}

/** Vitest with these suites, as a child in the same terminal. */
function startVitest(run: Run, { suites, timing }: Request, rest: readonly string[]): ChildProcess {
  const projects = KINDS.filter(
    (kind) => suites.includes(kind.suite) && (timing === 'with' || kind.timing === (timing === 'only')),
  )
    .flatMap(projectNames)
    .map((name) => `--project=${name}`);
  const env = {
    ...process.env,
    [RUN_VARIABLE]: run.id,
    [FOLDER_VARIABLE]: run.folder,
    [PATH_VARIABLE]: run.freshPath,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? COMPILED,
  };
  // Tests of this runner use a configuration of their own, which has no such projects.
  const chosen = rest.some((word) => word.startsWith('--config')) ? [] : projects;
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

interface Exit {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
}

/** Runs vitest to its end, and the few files that failed once more if that is asked for. */
async function runVitest(run: Run, request: Request): Promise<Exit> {
  const { isRepeated, rest } = request;
  let vitest: ChildProcess;
  // A terminal sends Ctrl-C to vitest as well; signals sent only to this process are forwarded.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => vitest.kill(signal));
  const end = async (words: readonly string[]): Promise<Exit> => {
    rmSync(join(run.folder, OUTCOME_FILE), { force: true });
    vitest = startVitest(run, request, words);
    const [code, signal] = await once(vitest, 'exit');
    return { code, signal };
  };
  const exit = await end(rest);
  const first = readOutcome(run.folder);
  if (first === null) return exit;
  const repeats = isRepeated && exit.signal === null && isWorthRepeating(first);
  if (!repeats) {
    print(failedLines(first.failedFiles, null));
    return exit;
  }
  print(['The failed tests again, alone:']);
  const options = rest.filter((word) => word.startsWith('--'));
  const files = first.failedFiles.map(({ file }) => file);
  const second = await end([...options, '--no-file-parallelism', ...files]);
  const again = readOutcome(run.folder);
  if (again === null) return second;
  print([...failedLines(first.failedFiles, again.failedFiles), totalLine(first, again)]);
  return second;
}

async function main(): Promise<number> {
  const request = parse(process.argv.slice(2));
  const run = beginRun();
  const watchdog = startWatchdog(run);
  const around = lookAround(run, () => process.kill(process.pid, 'SIGKILL'));
  const { code, signal } = await runVitest(run, request);
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
  print(closingLines(readLeftOut(run), otherSuites(request.suites)));
  rmSync(run.folder, { recursive: true, force: true });
  await watchdog.dismiss();
  if (signal !== null) return 128 + constants.signals[signal];
  return left.length > 0 ? code || 1 : code;
}

process.exitCode = await main();
