/**
 * Keeps two benches from writing to one run. A lock is an empty file whose name identifies its holder: host, process
 * ID with its namespace, and start time, so that a lock of a dead process is recognized even if its process ID is in use again. Each
 * process creates its own file before it looks for others: of two that start at once, at least one sees the other,
 * so never both continue (and sometimes neither).
 */

import { join } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { makeDirectories } from './make-directories.ts';
import { isTemporaryName, writeError } from './write-whole.ts';

type LockWorld = Pick<World, 'fs' | 'machine' | 'processes'>;

/** A process as the kernel knows it. `start` is in clock ticks since boot, `unknown` without /proc. */
interface Holder {
  readonly host: string;
  readonly pid: number;
  readonly start: string;
  /** In which its ID is known; undefined of a bench that did not say. */
  readonly namespace: string | undefined;
}

const LOCK_NAME = /^lock,(?<host>[\w.-]*),(?<pid>\d+),(?<start>\d+|unknown)(?:,(?<namespace>\d+))?$/;

function hostOf({ machine }: LockWorld): string {
  return machine.hostname.replaceAll(/[^\w.-]/g, '-').slice(0, 100);
}

function lockName({ host, pid, start, namespace }: Holder): string {
  return `lock,${host},${pid},${start},${namespace}`;
}

function parseLockName(name: string): Holder | null {
  const { host, pid, start, namespace } = LOCK_NAME.exec(name)?.groups ?? {};
  return host === undefined || pid === undefined || start === undefined
    ? null
    : { host, pid: Number(pid), start, namespace };
}

/**
 * When the process started, from /proc/<pid>/stat: field 22 (see proc(5)), counted after the command's name, which
 * may contain spaces and parentheses. Null if it is dead or a zombie, `unknown` without /proc.
 */
async function processStart({ fs }: LockWorld, pid: number): Promise<string | null> {
  try {
    const stat = await fs.readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? 'unknown');
  } catch {
    const hasProc = await fs.access('/proc/self/stat').then(
      () => true,
      () => false,
    );
    return hasProc ? null : 'unknown';
  }
}

/** In which process IDs have their meaning: that of a container is another one. `0` where it cannot be read. */
export async function pidNamespace({ fs }: Pick<World, 'fs'>): Promise<string> {
  try {
    // `pid:[4026531836]`
    return /\d+/.exec(await fs.readlink('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

/** A process of another host or container, or on a system without /proc, cannot be checked: it counts as alive. */
async function isAlive(world: LockWorld, holder: Holder): Promise<boolean> {
  if (holder.host !== hostOf(world)) return true;
  if (holder.namespace !== undefined && holder.namespace !== (await pidNamespace(world))) return true;
  const start = await processStart(world, holder.pid);
  return start !== null && (start === holder.start || start === 'unknown' || holder.start === 'unknown');
}

/** Removes what dead processes left behind and returns the name of a lock that is held, if any. */
async function sweep(world: LockWorld, directory: string, ownName: string): Promise<string | undefined> {
  let held: string | undefined;
  for (const name of await world.fs.readdir(directory)) {
    const holder = parseLockName(name);
    if (name === ownName) continue;
    if (holder !== null && (await isAlive(world, holder))) held = name;
    else if (holder !== null) await world.fs.rm(join(directory, name), { force: true });
  }
  if (held !== undefined) return held;
  for (const name of await world.fs.readdir(directory)) {
    if (isTemporaryName(name)) await world.fs.rm(join(directory, name), { force: true });
  }
  return undefined;
}

/**
 * Locks the run in `directory` (created if missing) and returns a function that unlocks it. Locks and partial files
 * of dead processes are removed. Rejects with `E_USAGE` if another bench holds the run, and with
 * `E_DISK_FULL` or `E_WRITE_FAILED`. A process must not lock a run twice.
 */
export async function lockRun(world: LockWorld, directory: string): Promise<() => Promise<void>> {
  const { fs, processes } = world;
  const start = (await processStart(world, processes.ownPid)) ?? 'unknown';
  const namespace = await pidNamespace(world);
  const ownName = lockName({ host: hostOf(world), pid: processes.ownPid, start, namespace });
  const ownPath = join(directory, ownName);
  try {
    await makeDirectories(fs, directory);
    await (await fs.open(ownPath, 'wx')).close();
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') throw lockedError(directory, ownName);
    throw writeError(ownPath, error);
  }
  // One that cannot be removed, as on a disk that became read-only, ends with this process: what failed before is the error to tell.
  const unlock = () => fs.rm(ownPath, { force: true }).catch(() => undefined);
  try {
    const held = await sweep(world, directory, ownName);
    if (held !== undefined) throw lockedError(directory, held);
  } catch (error) {
    await unlock();
    throw writeError(directory, error);
  }
  return unlock;
}

function lockedError(directory: string, name: string): BenchError {
  const holder = parseLockName(name);
  const who = `process ${holder?.pid} on ${holder?.host}`;
  return new BenchError('E_USAGE', `${directory} is in use by another bench (${who})`, {
    fix: `Wait until it has ended. If there is no such process, delete ${join(directory, name)}.`,
  });
}
