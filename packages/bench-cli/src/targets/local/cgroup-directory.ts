/** What cgroup v1 and v2 share: directories that are groups, and how to empty and delete them. */

import { basename, join } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import { hasEnded, ownerOf } from '../../machine/owner.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import {
  parseCpuacctUsage,
  parseCpuStatV1,
  parseCpuStatV2,
  parseProcessIds,
} from '../../observe/cgroup-files.ts';
import type { GroupCounters } from '../../observe/group.ts';
import type { World } from '../../world.ts';

/** SIGKILL ends processes within milliseconds, unless they are stuck in I/O. */
const EMPTYING_SECONDS = 3;
const RETRY_SECONDS = 0.01;

/** Ids of the processes in a group, without those in groups below it. */
export async function processesIn(world: World, directory: string): Promise<number[]> {
  const text = await readIfThere(world, join(directory, 'cgroup.procs'));
  return text === null ? [] : parseProcessIds(text);
}

/** Whether a file of a version 2 group, such as cgroup.subtree_control, lists the controller. */
export async function listsController(world: World, file: string, controller: string): Promise<boolean> {
  return ((await readIfThere(world, file)) ?? '').trim().split(/\s+/).includes(controller);
}

/**
 * Version 2 has the CPU time in cpu.stat; version 1 in cpuacct.usage, with cpu.stat in another directory where the two are not
 * one hierarchy, and nowhere without limits (null). Null for a group that counts no CPU time.
 */
export async function readCgroupCounters(
  world: World,
  directory: string,
  statDirectory: string | null = directory,
): Promise<GroupCounters | null> {
  const stat = statDirectory === null ? null : await readIfThere(world, join(statDirectory, 'cpu.stat'));
  const version2 = stat === null ? null : parseCpuStatV2(stat);
  if (version2 !== null) return { cpuSource: 'cgroup-v2', ...version2 };
  const usage = await readIfThere(world, join(directory, 'cpuacct.usage'));
  const cpuSeconds = usage === null ? null : parseCpuacctUsage(usage);
  if (cpuSeconds === null) return null;
  return { cpuSource: 'cgroup-v1', cpuSeconds, throttling: stat === null ? null : parseCpuStatV1(stat) };
}

/** True once the directory is gone. */
async function removeDirectory(world: World, directory: string): Promise<boolean> {
  try {
    await world.fs.rmdir(directory);
    return true;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') return true;
    // EBUSY: a killed process has not quite ended.
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw error;
  }
}

/** Kills everything in the group and in those below it, and deletes them; false if that took too long. */
export async function removeCgroup(world: World, directory: string): Promise<boolean> {
  const deadline = world.clock.monotonicSeconds() + EMPTYING_SECONDS;
  for (;;) {
    for (const child of await childGroups(world, directory)) await removeCgroup(world, child);
    for (const pid of await processesIn(world, directory)) world.processes.signal(pid, 'SIGKILL');
    if (await removeDirectory(world, directory)) return true;
    if (world.clock.monotonicSeconds() >= deadline) return false;
    await world.clock.sleep(RETRY_SECONDS);
  }
}

/** Directories of the groups in a group; empty if it is gone. */
export async function childGroups(world: World, directory: string): Promise<string[]> {
  try {
    const entries = await world.fs.readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(directory, entry.name));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Removes the groups that runs left in `directory` when they were killed. Never fails. */
export async function removeAbandonedCgroups(world: World, directory: string): Promise<void> {
  // A directory that we may not read contains nothing of ours.
  const children = await childGroups(world, directory).catch(() => []);
  for (const child of children) {
    const owner = ownerOf(basename(child));
    if (owner === null || !(await hasEnded(world, owner))) continue;
    // Leftovers of another user, or that another run is removing now: continue with the others.
    await removeCgroup(world, child).catch(() => undefined);
  }
}

/** Why a group cannot be made or used, in words: the system's error code and the path. */
export function cgroupProblem(error: unknown, directory: string): string {
  const code = systemErrorCode(error);
  if (code === 'EROFS') return `${directory} is mounted read-only`;
  if (code === 'EACCES' || code === 'EPERM') return `no permission to create groups in ${directory}`;
  if (code === 'ENOENT') return `${directory} does not exist`;
  return `${directory}: ${error instanceof Error ? error.message : String(error)}`;
}
