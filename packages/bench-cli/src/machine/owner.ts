/**
 * Names for what a run creates on the machine (control groups, directories), from which a later run can tell
 * whether the owner is still running: `dinodns-bench-<run id>@<pid namespace>-<pid>-<start>`. The start time
 * tells the owner from a later process with the same PID; the namespace keeps a run in one container from
 * treating the groups of a run in another container as abandoned.
 */

import { pidNamespace } from '../results/run-lock.ts';
import type { World } from '../world.ts';
import { readProcessStat } from './proc-files.ts';

export const OWNED_PREFIX = 'dinodns-bench-';

export interface Owner {
  readonly pidNamespace: string;
  readonly pid: number;
  readonly startTicks: number;
}

/** This process, as the owner of what it creates. */
export async function thisOwner(world: World): Promise<Owner> {
  const stat = await readProcessStat(world, world.processes.ownPid);
  return {
    pidNamespace: await pidNamespace(world),
    pid: world.processes.ownPid,
    startTicks: stat?.startTicks ?? 0,
  };
}

/** `runId` keeps its letters, digits, dots and hyphens. */
export function ownedName(runId: string, owner: Owner): string {
  const safe = runId.replaceAll(/[^\w.-]/g, '-');
  return `${OWNED_PREFIX}${safe}@${owner.pidNamespace}-${owner.pid}-${owner.startTicks}`;
}

/** The owner in a name; null for a name that `ownedName` did not make. */
export function ownerOf(name: string): Owner | null {
  const match = /^dinodns-bench-[\w.-]*@(\d+)-(\d+)-(\d+)(?:-\w+)?$/.exec(name);
  if (match === null) return null;
  const [, namespace = '', pid, startTicks] = match;
  return { pidNamespace: namespace, pid: Number(pid), startTicks: Number(startTicks) };
}

/** True only if it is certain that the owner has ended. */
export async function hasEnded(world: World, owner: Owner): Promise<boolean> {
  if (owner.pidNamespace !== (await pidNamespace(world))) return false;
  const stat = await readProcessStat(world, owner.pid);
  if (stat === null || stat.startTicks !== owner.startTicks) return true;
  // A killed process stays in the table until its parent reads its status, which may never happen.
  return stat.state === 'Z' || stat.state === 'X';
}
