/**
 * Control groups version 2: limits in cpu.max, CPU time and throttling in cpu.stat
 * (cgroup-v2.rst in the kernel's documentation).
 *
 * A group has the cpu controller only if its parent delegates it, and a group that delegates controllers may not
 * hold processes itself. Our own group holds this process, so the run's group is made in the nearest ancestor
 * that already delegates the cpu controller; nothing outside the run's group is changed.
 */
import { join } from 'node:path';
import type { World } from '../../world.ts';
import { listsController, readCgroupCounters, removeAbandonedCgroups } from './cgroup-directory.ts';
import { cgroupOf, upTo } from './cgroup-mounts.ts';
import {
  type Attempt,
  CFS_PERIOD_MICROSECONDS,
  type CgroupTree,
  openTree,
  quotaMicroseconds,
} from './cgroup-tree.ts';

function openIn(
  world: World,
  parent: string,
  runName: string,
  limits: boolean,
): Promise<Attempt<CgroupTree>> {
  const run = join(parent, runName);
  return openTree(
    world,
    {
      runDirectories: [run],
      prepare: async (name, cpuAllowance) => {
        // The run's group holds no processes, so it may delegate the controller.
        if (limits) await world.fs.writeFile(join(run, 'cgroup.subtree_control'), '+cpu');
        await world.fs.mkdir(join(run, name), { recursive: true });
        if (cpuAllowance === null) return;
        const limit = `${quotaMicroseconds(cpuAllowance)} ${CFS_PERIOD_MICROSECONDS}`;
        await world.fs.writeFile(join(run, name, 'cpu.max'), limit);
      },
      counters: (name) => readCgroupCounters(world, join(run, name)),
    },
    limits,
  );
}

/** Groups named `runName`, with limits if `limits`, else only counting; or why there are none. */
export async function openCgroupV2(
  world: World,
  runName: string,
  limits: boolean,
): Promise<Attempt<CgroupTree>> {
  const own = await cgroupOf(world, null);
  if (own === null) return { problem: 'it is not mounted' };
  if (limits && !(await listsController(world, join(own.mountPoint, 'cgroup.controllers'), 'cpu'))) {
    return { problem: `it has no cpu controller here (${own.mountPoint}/cgroup.controllers)` };
  }
  const problems: string[] = [];
  for (const parent of upTo(own.mountPoint, own.directory)) {
    await removeAbandonedCgroups(world, parent);
    if (limits && !(await listsController(world, join(parent, 'cgroup.subtree_control'), 'cpu'))) {
      problems.push(`${parent} does not pass the cpu controller on`);
      continue;
    }
    const attempt = await openIn(world, parent, runName, limits);
    if ('ok' in attempt) return attempt;
    problems.push(attempt.problem);
  }
  return { problem: problems.join(', ') };
}
