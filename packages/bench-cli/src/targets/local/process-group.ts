/**
 * A group without a control group: its members are the processes passed to `adopt`, those of their sessions and
 * their descendants; its counters come from /proc in clock ticks.
 */
import { clockTicksPerSecond, readProcessStat } from '../../machine/proc-files.ts';
import type { ProcessStat } from '../../machine/proc-stat.ts';
import {
  EMPTY_ACCOUNT,
  isRunning,
  membersOf,
  totalTicks,
  updateAccount,
} from '../../observe/process-accounting.ts';
import { createProcessTable, type ProcessTable } from '../../observe/process-table.ts';
import type { World } from '../../world.ts';
import type { ResourceGroup } from './resource-group.ts';

const REMOVAL_SECONDS = 3;
const RETRY_SECONDS = 0.01;

/** The same processes as they are now, without those that ended or whose PID now belongs to another process. */
async function readAgain(world: World, members: readonly ProcessStat[]): Promise<ProcessStat[]> {
  const now = await Promise.all(members.map(({ pid }) => readProcessStat(world, pid)));
  return now
    .filter((stat) => stat !== null)
    .filter(({ pid, startTicks }) =>
      members.some((member) => member.pid === pid && member.startTicks === startTicks),
    );
}

/** A group that sets no limit; `wrap` returns the command as it is. Groups of one run share the table. */
export async function createProcessGroup(
  world: World,
  table: ProcessTable = createProcessTable(world),
): Promise<ResourceGroup> {
  const ticksPerSecond = await clockTicksPerSecond(world);
  const roots = new Map<number, Promise<ProcessStat | null>>();
  let account = EMPTY_ACCOUNT;

  const members = async () => {
    const { stats, fresh } = await table.all();
    const mine = new Set<number>();
    for (const [pid, atStart] of roots) {
      const current = stats.find((stat) => stat.pid === pid);
      const known = await atStart;
      // A later process may have the PID of one that ended.
      if (current === undefined || known === null || current.startTicks === known.startTicks) mine.add(pid);
    }
    const found = membersOf(stats, mine);
    return fresh ? found : readAgain(world, found);
  };

  return {
    wrap: (command) => command,
    adopt: (pid) => {
      roots.set(pid, readProcessStat(world, pid));
      table.forget();
    },
    counters: async () => {
      account = updateAccount(account, await members());
      return { cpuSource: 'proc', cpuSeconds: totalTicks(account) / ticksPerSecond, throttling: null };
    },
    pids: async () => (await members()).filter(isRunning).map(({ pid }) => pid),
    remove: async () => {
      const deadline = world.clock.monotonicSeconds() + REMOVAL_SECONDS;
      while (world.clock.monotonicSeconds() < deadline) {
        table.forget();
        const running = (await members()).filter(isRunning);
        if (running.length === 0) break;
        for (const { pid } of running) world.processes.signal(pid, 'SIGKILL');
        await world.clock.sleep(RETRY_SECONDS);
      }
      roots.clear();
    },
  };
}
