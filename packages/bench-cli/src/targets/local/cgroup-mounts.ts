/**
 * Where this process's control groups are in the file system: /proc/self/mountinfo says where each
 * hierarchy is mounted and which part of it is visible there, /proc/self/cgroup which group is ours
 * (proc(5), cgroups(7)).
 */
import { dirname, resolve } from 'node:path';
import { readIfThere } from '../../machine/proc-files.ts';
import type { World } from '../../world.ts';

export interface CgroupMount {
  readonly version: 1 | 2;
  /** Controllers of a version 1 hierarchy; empty for version 2. */
  readonly controllers: readonly string[];
  readonly mountPoint: string;
  /** The group that is visible at the mount point; not `/` in many containers. */
  readonly root: string;
}

/** Mount points have spaces and backslashes as three octal digits. */
function unescapePath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

/** The cgroup lines of /proc/self/mountinfo. */
export function parseCgroupMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split('\n').flatMap((line): CgroupMount[] => {
    const [before, after] = line.split(' - ');
    const [, , , root, mountPoint] = before?.split(' ') ?? [];
    const [type, , options = ''] = after?.split(' ') ?? [];
    if (root === undefined || mountPoint === undefined) return [];
    const place = { mountPoint: unescapePath(mountPoint), root: unescapePath(root) };
    if (type === 'cgroup2') return [{ version: 2, controllers: [], ...place }];
    if (type === 'cgroup') return [{ version: 1, controllers: options.split(','), ...place }];
    return [];
  });
}

/**
 * Our group in the hierarchy of `controller`, or in version 2 for null, as /proc/self/cgroup has it.
 * Lines are `<id>:<controllers>:<path>`; version 2 is `0::<path>`.
 */
export function parseOwnCgroup(text: string, controller: string | null): string | null {
  for (const line of text.split('\n')) {
    const match = /^(\d+):([^:]*):(.*)$/.exec(line);
    if (match === null) continue;
    const [, id, controllers = '', path = ''] = match;
    const found =
      controller === null ? id === '0' && controllers === '' : controllers.split(',').includes(controller);
    if (found) return path;
  }
  return null;
}

/** Directory of our own group of `controller` (null: version 2), or null if it is not visible. */
export function ownCgroupDirectory(
  mountinfo: string,
  ownCgroups: string,
  controller: string | null,
): { directory: string; mountPoint: string } | null {
  const mount = parseCgroupMounts(mountinfo).find((candidate) =>
    controller === null ? candidate.version === 2 : candidate.controllers.includes(controller),
  );
  const path = parseOwnCgroup(ownCgroups, controller);
  if (mount === undefined || path === null) return null;
  const { mountPoint, root } = mount;
  // A leading dot keeps absolute paths below the mount point; `resolve` drops a trailing slash.
  if (root === '/') return { directory: resolve(mountPoint, `.${path}`), mountPoint };
  const inside = path === root || path.startsWith(`${root}/`);
  return { directory: inside ? resolve(mountPoint, `.${path.slice(root.length)}`) : mountPoint, mountPoint };
}

/** The same of a process as the system has it now. */
export async function cgroupOf(
  world: World,
  controller: string | null,
  pid: number | 'self' = 'self',
): Promise<ReturnType<typeof ownCgroupDirectory>> {
  const mountinfo = (await readIfThere(world, '/proc/self/mountinfo')) ?? '';
  return ownCgroupDirectory(mountinfo, (await readIfThere(world, `/proc/${pid}/cgroup`)) ?? '', controller);
}

/** `directory` and every directory above it, up to `top`. */
export function upTo(top: string, directory: string): string[] {
  const directories = [directory];
  for (let current = directory; current !== top && current.startsWith(`${top}/`); ) {
    current = dirname(current);
    directories.push(current);
  }
  return directories;
}
