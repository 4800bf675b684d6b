/** Which CPUs go to which server and which to the loaders, for CPU pinning. */
import { readIfThere } from '../../machine/proc-files.ts';
import { parseCpuList } from '../../machine/proc-stat.ts';
import type { World } from '../../world.ts';

export interface CpuAssignment {
  /** For each server instance, in order. */
  readonly servers: readonly (readonly number[])[];
  readonly loader: readonly number[];
  /** Some CPU has more than one owner: the trial is contended. */
  readonly overlap: boolean;
}

/**
 * Gives each instance the next ⌈allowance⌉ CPUs and the loaders the rest. If there are too few, instances
 * start over at the first CPU, an instance that wants more CPUs than there are gets all, and loaders without a
 * CPU of their own may use every one; `overlap` says so. `available` must not be empty.
 */
export function assignCpus(available: readonly number[], allowances: readonly number[]): CpuAssignment {
  let next = 0;
  const servers = allowances.map((allowance) => {
    const wanted = Math.min(Math.max(1, Math.ceil(allowance)), available.length);
    const set: number[] = [];
    for (let taken = 0; taken < wanted; taken += 1) {
      const cpu = available[(next + taken) % available.length];
      if (cpu !== undefined) set.push(cpu);
    }
    next += Math.max(1, Math.ceil(allowance));
    return set.sort((a, b) => a - b);
  });
  const rest = available.slice(next);
  return { servers, loader: rest.length > 0 ? rest : [...available], overlap: rest.length === 0 };
}

/** CPUs that this process may run on, by their numbers. */
export async function availableCpuNumbers(world: World): Promise<number[]> {
  const status = (await readIfThere(world, '/proc/self/status')) ?? '';
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1];
  const cpus = list === undefined ? [] : parseCpuList(list);
  return cpus.length > 0 ? cpus : world.machine.cpus.map((_, index) => index);
}
