/**
 * A control group with a memory limit, as a container has: version 2 (memory.max), else version 1
 * (memory.limit_in_bytes). A process that needs more is killed by the kernel.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
 */
import { basename, join } from 'node:path';
import { BenchError } from '../../errors.ts';
import { ownedName, thisOwner } from '../../machine/owner.ts';
import { bytesIn, readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import type { World } from '../../world.ts';
import { cgroupProblem, listsController, removeAbandonedCgroups, removeCgroup } from './cgroup-directory.ts';
import { cgroupOf, upTo } from './cgroup-mounts.ts';
import { joiningCgroups } from './wrapping.ts';

export interface MemoryGroup {
  /**
   * Copies a program into the directory, and resolves with the copy. Its pages count against the limit, as those of a container's
   * program do: the kernel charges a page of a file to the group that reads it first, and others have read the original.
   * Rejects with `E_LIMITS_UNAVAILABLE` for a directory in memory, whose pages cannot be dropped, and with `E_SERVER_START`.
   */
  copyProgram(path: string, directory: string): Promise<string>;
  /** Turns a command into one that runs inside the group from its first instruction. */
  wrap(command: readonly string[]): readonly string[];
  /** How many processes the kernel has killed for the limit. Version 2: none for that of a group above, or because the machine is full. */
  kills(): Promise<number>;
  /** How many pages of files were dropped, and had to be read again; null where the kernel does not say. */
  rereads(): Promise<number | null>;
  /** Kills what is left in it and deletes it. */
  remove(): Promise<void>;
}

/** The files of one version, with what is written to each before the first process. */
interface Version {
  readonly version: 'cgroup-v1' | 'cgroup-v2';
  /** The directory that the group is made in; null where there is none. */
  parent(world: World): Promise<string | null>;
  readonly limits: (bytes: number) => readonly { file: string; text: string; isOptional?: true }[];
  /** Where `oom_kill N` is: processes of the group that were killed, for whatever limit. Version 2 has `oom N` as well, for this one. */
  readonly eventsFile: string;
}

/** The nearest directory above our own that passes the memory controller on. */
async function delegatingParent(world: World): Promise<string | null> {
  const own = await cgroupOf(world, null);
  for (const directory of own === null ? [] : upTo(own.mountPoint, own.directory))
    if (await listsController(world, join(directory, 'cgroup.subtree_control'), 'memory')) return directory;
  return null;
}

const VERSIONS: readonly Version[] = [
  {
    version: 'cgroup-v2',
    parent: delegatingParent,
    limits: (bytes) => [
      { file: 'memory.max', text: String(bytes) },
      { file: 'memory.swap.max', text: '0', isOptional: true },
    ],
    eventsFile: 'memory.events',
  },
  {
    version: 'cgroup-v1',
    parent: async (world) => (await cgroupOf(world, 'memory'))?.directory ?? null,
    limits: (bytes) => [
      { file: 'memory.limit_in_bytes', text: String(bytes) },
      // Only where the kernel accounts for swap.
      { file: 'memory.memsw.limit_in_bytes', text: String(bytes), isOptional: true },
    ],
    // Its `memory.failcnt` stays 0 in new kernels.
    eventsFile: 'memory.oom_control',
  },
];

/** Of <linux/magic.h>: tmpfs and its predecessor. */
const IN_MEMORY = [0x0102_1994, 0x8584_58f6];
const COPY_SECONDS = 60;

async function demandDisk(world: World, directory: string): Promise<void> {
  const { type } = await world.fs.statfs(directory);
  if (!IN_MEMORY.includes(type)) return;
  throw new BenchError(
    'E_LIMITS_UNAVAILABLE',
    `${directory} is in memory, and would count against the limit`,
    {
      fix: 'Set XDG_CACHE_HOME to a directory on a disk.',
    },
  );
}

/**
 * How much the kernel reads from the disk around a page that is missing, in KiB; null where it does not say. The more, the sooner a group
 * that is full gets nowhere: each page of its program that comes back drops as many others.
 */
export async function readAhead(world: World, directory: string): Promise<number | null> {
  const { dev } = await world.fs.stat(directory);
  // As makedev(3) packs them.
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  for (const path of [`class/bdi/${major}:${minor}`, `dev/block/${major}:${minor}/../queue`]) {
    const text = await readIfThere(world, `/sys/${path}/read_ahead_kb`);
    if (text !== null) return Number(text);
  }
  return null;
}

/** Where the kernel does not limit swap, what a group needs above its limit would go there, and nothing would be killed. */
async function demandNoSwap(world: World): Promise<void> {
  if ((bytesIn(await readIfThere(world, '/proc/meminfo'), 'SwapTotal') ?? 0) === 0) return;
  throw new Error('this machine swaps, and its kernel does not limit that: `swapoff -a` turns it off');
}

async function openIn(
  world: World,
  { limits, eventsFile }: Version,
  directory: string,
  limitBytes: number,
): Promise<MemoryGroup> {
  await world.fs.mkdir(directory);
  try {
    for (const { file, text, isOptional } of limits(limitBytes)) {
      const path = join(directory, file);
      if (isOptional === true && (await readIfThere(world, path)) === null) await demandNoSwap(world);
      else await world.fs.writeFile(path, text);
    }
  } catch (error) {
    await removeCgroup(world, directory).catch(() => undefined);
    throw error;
  }
  const counted = async (file: string, line: RegExp) => {
    const count = line.exec((await readIfThere(world, join(directory, file))) ?? '')?.[1];
    return count === undefined ? null : Number(count);
  };
  const wrap = (command: readonly string[]) => joiningCgroups([join(directory, 'cgroup.procs')], command);
  return {
    wrap,
    async copyProgram(path, into) {
      await demandDisk(world, into);
      const copy = join(into, basename(path));
      // Pages that are not on the disk yet cannot be dropped.
      const command = wrap(['/bin/sh', '-c', 'cp -- "$1" "$2" && sync "$2"', 'copy', path, copy]);
      const { code, stderr } = await runToEnd(world, command, { timeoutSeconds: COPY_SECONDS });
      if (code === 0) return copy;
      throw new BenchError('E_SERVER_START', `${path} cannot be copied to ${copy}: ${stderr.trim()}`, {
        fix: 'Set XDG_CACHE_HOME to a writable directory with some free space.',
      });
    },
    kills: async () => {
      const lacks = await counted(eventsFile, /^oom (\d+)$/m);
      return lacks === 0 ? 0 : ((await counted(eventsFile, /^oom_kill (\d+)$/m)) ?? 0);
    },
    rereads: () => counted('memory.stat', /^workingset_refault(?:_file)? (\d+)$/m),
    remove: async () => {
      await removeCgroup(world, directory);
    },
  };
}

/**
 * Groups of killed runs in the same place are removed first.
 * @throws BenchError `E_LIMITS_UNAVAILABLE` where no group with a memory limit can be made.
 */
export async function openMemoryGroup(world: World, name: string, limitBytes: number): Promise<MemoryGroup> {
  const owned = ownedName(name, await thisOwner(world));
  const problems: string[] = [];
  for (const version of VERSIONS) {
    const parent = await version.parent(world);
    if (parent === null) {
      problems.push(`${version.version}: there is no group that may limit memory`);
      continue;
    }
    await removeAbandonedCgroups(world, parent);
    try {
      return await openIn(world, version, join(parent, owned), limitBytes);
    } catch (error) {
      problems.push(`${version.version}: ${cgroupProblem(error, parent)}`);
    }
  }
  throw new BenchError('E_LIMITS_UNAVAILABLE', 'no memory limit can be set on this machine', {
    evidence: problems,
    fix: 'Run as a user who may make control groups (root, in a container with them), or verify a plan on a cluster: bench capacity plan --verify --target kubernetes.',
  });
}
