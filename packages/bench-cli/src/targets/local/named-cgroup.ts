/** A control group that somebody else made: its counters and its processes, read and never changed. */
import { join } from 'node:path';
import { BenchError } from '../../errors.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { parseCpuacctUsage, parseCpuStatV1, parseCpuStatV2 } from '../../observe/cgroup-files.ts';
import type { GroupCounters, ObservedGroup } from '../../observe/group.ts';
import type { World } from '../../world.ts';
import { childGroups, processesIn } from './cgroup-directory.ts';

/** Version 2 has the CPU time in cpu.stat; version 1 in cpuacct.usage, with cpu.stat beside it where both are one hierarchy. */
async function readCounters(world: World, directory: string): Promise<GroupCounters | null> {
  const stat = await readIfThere(world, join(directory, 'cpu.stat'));
  const version2 = stat === null ? null : parseCpuStatV2(stat);
  if (version2 !== null) return { cpuSource: 'cgroup-v2', ...version2 };
  const usage = await readIfThere(world, join(directory, 'cpuacct.usage'));
  const cpuSeconds = usage === null ? null : parseCpuacctUsage(usage);
  if (cpuSeconds === null) return null;
  return { cpuSource: 'cgroup-v1', cpuSeconds, throttling: stat === null ? null : parseCpuStatV1(stat) };
}

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
    const read = await readCounters(world, directory);
    if (read !== null) return read;
    throw new BenchError('E_CONFIG', `${server}: ${directory} is not a control group that counts CPU time`, {
      evidence: [`neither ${directory}/cpuacct.usage nor a cpu.stat with usage_usec can be read`],
      fix: 'Give the directory of the group below /sys/fs/cgroup (version 1: in the cpuacct hierarchy), or name a process: /pid=1234.',
    });
  };
  await counters();
  return { counters, pids: () => allProcessesIn(world, directory) };
}
