/**
 * Control groups version 1: limits in the `cpu` hierarchy (cpu.cfs_quota_us), exact CPU time in
 * `cpuacct`. The two are often mounted together.
 */

import { join } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import { readIfThere } from '../../machine/proc-files.ts';
import { parseCpuacctUsage, parseCpuStatV1 } from '../../observe/cgroup-files.ts';
import type { World } from '../../world.ts';
import { removeAbandonedCgroups } from './cgroup-directory.ts';
import { ownCgroupDirectory } from './cgroup-mounts.ts';
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
  const mountinfo = (await readIfThere(world, '/proc/self/mountinfo')) ?? '';
  const own = (await readIfThere(world, '/proc/self/cgroup')) ?? '';
  const accounting = ownCgroupDirectory(mountinfo, own, 'cpuacct');
  const cpu = ownCgroupDirectory(mountinfo, own, 'cpu');
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
      version: 'cgroup-v1',
      runDirectories: shared ? [accountingRun] : [cpuRun, accountingRun],
      prepare: async (name, cpuAllowance) => {
        await world.fs.mkdir(join(accountingRun, name), { recursive: true });
        if (cpuRun === null) return;
        await world.fs.mkdir(join(cpuRun, name), { recursive: true });
        if (cpuAllowance !== null) await setQuota(world, join(cpuRun, name), cpuAllowance);
      },
      counters: async (name) => {
        const usage = await world.fs.readFile(join(accountingRun, name, 'cpuacct.usage'), 'utf8');
        const stat = cpuRun === null ? null : await readIfThere(world, join(cpuRun, name, 'cpu.stat'));
        return {
          cpuSource: 'cgroup-v1',
          cpuSeconds: parseCpuacctUsage(usage) ?? 0,
          throttling: stat === null ? null : parseCpuStatV1(stat),
        };
      },
    },
    limits,
  );
}
