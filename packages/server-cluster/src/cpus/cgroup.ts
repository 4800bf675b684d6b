/**
 * The CPU quota of a process, read from kernel files: cgroup v2 (`cpu.max`) and v1 (`cpu.cfs_quota_us` and
 * `cpu.cfs_period_us`). A quota applies to everything below its group, so the smallest on the path to the root
 * counts.
 */
import { join, posix } from 'node:path';

/** Reads a file; undefined if it does not exist or is not readable. */
export type ReadFile = (path: string) => string | undefined;

export interface Quota {
  /** CPUs, possibly a fraction. */
  readonly cpus: number;
  /** The file that sets the quota. */
  readonly file: string;
}

interface Mount {
  /** The mounted part of the hierarchy: `/`, or the container's own group. */
  readonly root: string;
  readonly point: string;
}

interface Hierarchy {
  readonly mount: Mount;
  /** The process's group, relative to the root of the hierarchy. */
  readonly path: string;
  readonly version: 1 | 2;
}

/** CPUs of a quota and its period in microseconds; undefined for no quota, which is `max` in cgroup v2 and -1 in v1. */
function ratio([quota, period]: readonly string[]): number | undefined {
  return Number(quota) > 0 && Number(period) > 0 ? Number(quota) / Number(period) : undefined;
}

/** The mount point of a cgroup file system that satisfies the condition (proc_pid_mountinfo(5)). */
function findMount(mountInfo: string, type: string, controller: string | undefined): Mount | undefined {
  for (const line of mountInfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root, point] = before.split(' ');
    const [fileSystem, , superOptions = ''] = after.split(' ');
    if (fileSystem !== type || root === undefined || point === undefined) continue;
    if (controller === undefined || superOptions.split(',').includes(controller)) return { root, point };
  }
  return undefined;
}

/** The process's group in each hierarchy that may limit CPU time (cgroups(7), /proc/pid/cgroup). */
function hierarchies(cgroup: string, mountInfo: string): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of cgroup.split('\n')) {
    const [id, controllers = '', ...rest] = line.split(':');
    const path = rest.join(':');
    if (path === '') continue;
    if (id === '0' && controllers === '') {
      const mount = findMount(mountInfo, 'cgroup2', undefined);
      if (mount !== undefined) found.push({ mount, path, version: 2 });
    } else if (controllers.split(',').includes('cpu')) {
      const mount = findMount(mountInfo, 'cgroup', 'cpu');
      if (mount !== undefined) found.push({ mount, path, version: 1 });
    }
  }
  return found;
}

/** The visible directories of the group and its ancestors. */
function directories({ mount, path }: Hierarchy): string[] {
  const relative = mount.root === '/' ? path : posix.relative(mount.root, path);
  const directories: string[] = [];
  // A path outside of the mount belongs to another cgroup namespace: only the mount itself is ours.
  let current = relative.startsWith('..') ? '/' : posix.join('/', relative);
  for (;;) {
    directories.push(join(mount.point, current));
    if (current === '/') return directories;
    current = posix.dirname(current);
  }
}

function quotaOf(directory: string, version: 1 | 2, readFile: ReadFile): Quota | undefined {
  const file = join(directory, version === 2 ? 'cpu.max' : 'cpu.cfs_quota_us');
  const text = readFile(file);
  if (text === undefined) return undefined;
  // Version 2 has the period in the same file.
  const period = version === 2 ? '' : readFile(join(directory, 'cpu.cfs_period_us'));
  const cpus = ratio(`${text.trim()} ${period}`.split(/\s+/));
  return cpus === undefined ? undefined : { cpus, file };
}

/** The smallest quota that applies to this process; undefined if there is none. */
export function cgroupQuota(readFile: ReadFile): Quota | undefined {
  const cgroup = readFile('/proc/self/cgroup');
  const mountInfo = readFile('/proc/self/mountinfo');
  if (cgroup === undefined || mountInfo === undefined) return undefined;
  let smallest: Quota | undefined;
  for (const hierarchy of hierarchies(cgroup, mountInfo)) {
    for (const directory of directories(hierarchy)) {
      const quota = quotaOf(directory, hierarchy.version, readFile);
      if (quota !== undefined && quota.cpus < (smallest?.cpus ?? Infinity)) smallest = quota;
    }
  }
  return smallest;
}
