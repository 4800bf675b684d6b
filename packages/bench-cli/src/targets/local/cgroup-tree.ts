/**
 * The control groups of one run. `openCgroupV1` and `openCgroupV2` make them and try them: a probe process must
 * get into a group, with a limit if limits are requested.
 */
import { join } from 'node:path';
import type { GroupCounters } from '../../observe/group.ts';
import { runToEnd } from '../../process.ts';
import type { World } from '../../world.ts';
import { cgroupProblem, processesIn, removeCgroup } from './cgroup-directory.ts';
import type { ResourceGroup } from './resource-group.ts';
import { joiningCgroups } from './wrapping.ts';

/** The kernel's default and Kubernetes' (`--cpu-cfs-quota-period`), so that throttling has the same period. */
export const CFS_PERIOD_MICROSECONDS = 100_000;

/** The kernel refuses a quota below 1 ms. */
const MIN_QUOTA_MICROSECONDS = 1000;

/** Quota for one period; 0.5 cores → 50,000 µs. */
export function quotaMicroseconds(cores: number): number {
  return Math.max(MIN_QUOTA_MICROSECONDS, Math.round(cores * CFS_PERIOD_MICROSECONDS));
}

export interface CgroupTree {
  create(name: string, cpuAllowance: number | null): Promise<ResourceGroup>;
  /** Removes the remaining groups. Safe to call twice. */
  close(): Promise<void>;
}

export type Attempt<T> = { readonly ok: T } | { readonly problem: string };

/** How one version makes a group: its directories exist when `prepare` resolves. */
export interface CgroupKind {
  /** The run's own directories, one for each hierarchy; the first lists the members. */
  readonly runDirectories: readonly [string, ...string[]];
  prepare(name: string, cpuAllowance: number | null): Promise<void>;
  counters(name: string): Promise<GroupCounters | null>;
}

function createGroup(world: World, kind: CgroupKind, name: string): ResourceGroup {
  const directories = kind.runDirectories.map((directory) => join(directory, name));
  const procsFiles = directories.map((directory) => join(directory, 'cgroup.procs'));
  return {
    wrap: (command) => joiningCgroups(procsFiles, command),
    adopt: () => undefined,
    counters: async () => {
      const counters = await kind.counters(name);
      if (counters === null) throw new Error(`${directories.join(', ')}: no CPU time can be read`);
      return counters;
    },
    pids: () => processesIn(world, join(kind.runDirectories[0], name)),
    remove: async () => {
      for (const directory of directories) await removeCgroup(world, directory);
    },
  };
}

async function probe(tree: CgroupTree, world: World, limits: boolean): Promise<string | null> {
  const group = await tree.create('probe', limits ? 1 : null);
  try {
    const { code, stderr } = await runToEnd(world, group.wrap(['/bin/sh', '-c', 'exit 0']));
    await group.counters();
    return code === 0 ? null : `a process cannot be moved into a group (${stderr.trim()})`;
  } finally {
    await group.remove();
  }
}

/** Makes the run's directories and checks that groups work there; else removes everything and says why. */
export async function openTree(
  world: World,
  kind: CgroupKind,
  limits: boolean,
): Promise<Attempt<CgroupTree>> {
  const tree: CgroupTree = {
    create: async (name, cpuAllowance) => {
      await kind.prepare(name, cpuAllowance);
      return createGroup(world, kind, name);
    },
    close: async () => {
      for (const directory of kind.runDirectories) await removeCgroup(world, directory);
    },
  };
  let problem: string | null;
  try {
    for (const directory of kind.runDirectories) await world.fs.mkdir(directory, { recursive: true });
    problem = await probe(tree, world, limits);
  } catch (error) {
    problem = cgroupProblem(error, join(kind.runDirectories[0], '..'));
  }
  if (problem === null) return { ok: tree };
  await tree.close().catch(() => undefined);
  return { problem };
}
