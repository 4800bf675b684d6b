/**
 * Control groups version 1: limits in the `cpu` hierarchy (cpu.cfs_quota_us), exact CPU time in
 * `cpuacct`. The two are often mounted together.
 */

import { join } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import type { World } from '../../world.ts';
import { readCgroupCounters, removeAbandonedCgroups } from './cgroup-directory.ts';
import { cgroupOf } from './cgroup-mounts.ts';
import {
  type Attempt,
  CFS_PERIOD_MICROSECONDS,
  type CgroupTree,
  openTree,
  quotaMicroseconds,
} from './cgroup-tree.ts';

async function setQuota(world: World, directory: string, cores: number): Promise<void> {
  await world.fs.writeFile(join(directory, 'cpu.cfs_period_us'), String(CFS_PERIOD_MICROSECONDS));
  try {
    await world.fs.writeFile(join(directory, 'cpu.cfs_quota_us'), String(quotaMicroseconds(cores)));
  } catch (error) {
    // More than a parent group allows (sched-bwc.rst): the parent's smaller limit applies, as in version 2.
    if (systemErrorCode(error) !== 'EINVAL') throw error;
  }
}

/** Groups named `runName` below our own, with limits if `limits`, else only counting; or why there are none. */
export async function openCgroupV1(
  world: World,
  runName: string,
  limits: boolean,
): Promise<Attempt<CgroupTree>> {
  const accounting = await cgroupOf(world, 'cpuacct');
  const cpu = await cgroupOf(world, 'cpu');
  if (accounting === null) return { problem: 'no cpuacct hierarchy is mounted' };
  if (limits && cpu === null) return { problem: 'no cpu hierarchy is mounted' };

  const accountingRun = join(accounting.directory, runName);
  const cpuRun = limits && cpu !== null ? join(cpu.directory, runName) : null;
  const shared = cpuRun === null || cpuRun === accountingRun;
  await removeAbandonedCgroups(world, accounting.directory);
  if (!shared && cpu !== null) await removeAbandonedCgroups(world, cpu.directory);

  return openTree(
    world,
    {
      runDirectories: shared ? [accountingRun] : [cpuRun, accountingRun],
      prepare: async (name, cpuAllowance) => {
        await world.fs.mkdir(join(accountingRun, name), { recursive: true });
        if (cpuRun === null) return;
        await world.fs.mkdir(join(cpuRun, name), { recursive: true });
        if (cpuAllowance !== null) await setQuota(world, join(cpuRun, name), cpuAllowance);
      },
      counters: (name) =>
        readCgroupCounters(world, join(accountingRun, name), cpuRun === null ? null : join(cpuRun, name)),
    },
    limits,
  );
}
