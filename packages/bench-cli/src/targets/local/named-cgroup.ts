/** A control group that somebody else made: its counters and its processes, read and never changed. */
import { BenchError } from '../../errors.ts';
import type { ObservedGroup } from '../../observe/group.ts';
import type { World } from '../../world.ts';
import { childGroups, processesIn, readCgroupCounters } from './cgroup-directory.ts';

async function allProcessesIn(world: World, directory: string): Promise<number[]> {
  const below = await Promise.all(
    (await childGroups(world, directory)).map((child) => allProcessesIn(world, child)),
  );
  return [...(await processesIn(world, directory)), ...below.flat()];
}

/** @throws BenchError `E_CONFIG` if `directory` is no control group that counts CPU time. */
export async function openNamedCgroup(
  world: World,
  server: string,
  directory: string,
): Promise<ObservedGroup> {
  const counters = async () => {
    const read = await readCgroupCounters(world, directory);
    if (read !== null) return read;
    throw new BenchError('E_CONFIG', `${server}: ${directory} is not a control group that counts CPU time`, {
      evidence: [`neither ${directory}/cpuacct.usage nor a cpu.stat with usage_usec can be read`],
      fix: 'Give the directory of the group below /sys/fs/cgroup (version 1: in the cpuacct hierarchy), or name a process: /pid=1234.',
    });
  };
  await counters();
  return { counters, pids: () => allProcessesIn(world, directory) };
}
