/** What tests leave behind: processes, network namespaces, control groups and temporary folders. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { markedProcesses } from './marks.ts';

export interface Leftover {
  /** `process 123: node server.ts`, `network namespace x`, … */
  readonly name: string;
  remove(): void;
}

export interface LeftBy {
  /** `DINODNS_TEST_RUN=…` or `DINODNS_TEST_FILE=…`. */
  readonly mark: string;
  /** A process whose descendants count too, whatever their environment. */
  readonly ancestor?: number;
  /** Processes to ignore: the ones that run the tests. */
  readonly except: ReadonlySet<number>;
  /** Prefix of the names of network namespaces. */
  readonly namespacePrefix: string;
  /** A folder that must be empty. */
  readonly folder: string;
  /** Owners of control groups, as `<pid>-<start>`. */
  readonly owners: ReadonlySet<string>;
}

/** Where `ip netns` keeps the names. */
const NAMESPACES = '/run/netns';
const COMMAND_LENGTH = 160;

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** The control groups in which this process may make others: its own, in every hierarchy. */
function ownControlGroups(): string[] {
  if (!existsSync('/proc/self/cgroup')) return [];
  return readFileSync('/proc/self/cgroup', 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, controllers = '', path = '/'] = line.split(':');
      const mounts = controllers === '' ? ['', 'unified'] : [controllers.replace('name=', '')];
      return mounts.map((mount) => join('/sys/fs/cgroup', mount, path));
    });
}

/** The names of `bench`'s control groups give their owner: `dinodns-bench-<run>@<namespace>-<pid>-<start>`. */
function controlGroupsOf(owners: ReadonlySet<string>): Leftover[] {
  return ownControlGroups().flatMap((parent) =>
    namesIn(parent)
      .filter((name) => owners.has(/^dinodns-bench-.*@\d+-(\d+-\d+)/.exec(name)?.[1] ?? ''))
      .map((name) => ({
        name: `control group ${join(parent, name)}`,
        remove: () => removeGroup(join(parent, name)),
      })),
  );
}

function removeGroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroup(join(path, entry.name));
  }
  rmdirSync(path);
}

/** The current leftovers, in the order in which they can be removed. */
export function findLeftovers({
  mark,
  ancestor,
  except,
  namespacePrefix,
  owners,
  folder,
}: LeftBy): Leftover[] {
  const processes = markedProcesses(mark, ancestor).filter(({ pid }) => !except.has(pid));
  const namespaces = namesIn(NAMESPACES).filter((name) => name.startsWith(namespacePrefix));
  const files = namesIn(folder).map((name) => join(folder, name));
  return [
    ...processes.map(({ pid, command }) => ({
      name: `process ${pid}: ${command.slice(0, COMMAND_LENGTH)}`,
      remove: () => killNow(pid),
    })),
    ...namespaces.map((name) => ({
      name: `network namespace ${name}`,
      remove: () => execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' }),
    })),
    ...controlGroupsOf(owners),
    ...files.map((path) => ({
      name: `temporary file or folder ${path}`,
      remove: () => rmSync(path, { recursive: true, force: true }),
    })),
  ];
}

/** Like `findLeftovers`, but waits up to `graceSeconds` for processes that are about to end. */
export async function lastingLeftovers(by: LeftBy, graceSeconds: number): Promise<Leftover[]> {
  const end = performance.now() + graceSeconds * 1000;
  for (;;) {
    const left = findLeftovers(by);
    if (left.length === 0 || performance.now() > end) return left;
    await delay(20);
  }
}

/** Removes all leftovers, including new ones; gives up after `seconds`. */
export async function removeLeftovers(by: LeftBy, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let left = findLeftovers(by); left.length > 0 && performance.now() < end; left = findLeftovers(by)) {
    for (const { remove } of left) {
      try {
        remove();
      } catch {
        // Still in use by a process that is ending: the next round tries again.
      }
    }
    await delay(20);
  }
}
