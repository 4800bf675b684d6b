/**
 * CPU time of a changing set of processes, added up from /proc, where no control group counts it.
 *
 * A process that has ended is gone from /proc. If its parent waited for it, its time moved into the parent's
 * children's time; if not (the parent ignores SIGCHLD, or ended first), its last known time is kept. So the sum
 * never decreases, and is low by at most what an ended process used after the last reading.
 */
import type { ProcessStat } from '../machine/proc-stat.ts';

export interface ProcessAccount {
  /** Processes at the last reading, by PID and start time. */
  readonly live: ReadonlyMap<string, ProcessStat>;
  /** Ticks of ended processes that are in no living process's children's time. */
  readonly retainedTicks: number;
}

export const EMPTY_ACCOUNT: ProcessAccount = { live: new Map(), retainedTicks: 0 };

const keyOf = (stat: ProcessStat) => `${stat.pid}@${stat.startTicks}`;
const childTicks = (stat: ProcessStat) => stat.childUserTicks + stat.childSystemTicks;
const allTicks = (stat: ProcessStat) => stat.userTicks + stat.systemTicks + childTicks(stat);

/** The nearest living ancestor, through parents that ended since the last reading. */
function livingAncestor(
  stat: ProcessStat,
  before: ReadonlyMap<number, ProcessStat>,
  now: ReadonlyMap<number, ProcessStat>,
): ProcessStat | undefined {
  let parentPid = stat.parentPid;
  for (;;) {
    const living = now.get(parentPid);
    if (living !== undefined) return living;
    const ended = before.get(parentPid);
    if (ended === undefined) return undefined;
    parentPid = ended.parentPid;
  }
}

const byPid = (stats: Iterable<ProcessStat>) => new Map([...stats].map((stat) => [stat.pid, stat]));

/** The account after another reading of the members, zombies (`Z`) included. */
export function updateAccount(account: ProcessAccount, members: readonly ProcessStat[]): ProcessAccount {
  const live = new Map(members.map((stat) => [keyOf(stat), stat]));
  const before = byPid(account.live.values());
  const now = byPid(members);
  let { retainedTicks } = account;
  const endedByHeir = new Map<ProcessStat, number>();
  for (const [key, stat] of account.live) {
    if (live.has(key)) continue;
    const heir = livingAncestor(stat, before, now);
    if (heir === undefined) retainedTicks += allTicks(stat);
    else endedByHeir.set(heir, (endedByHeir.get(heir) ?? 0) + allTicks(stat));
  }
  for (const [heir, ticks] of endedByHeir) {
    const heirBefore = account.live.get(keyOf(heir));
    const inherited = heirBefore === undefined ? 0 : childTicks(heir) - childTicks(heirBefore);
    retainedTicks += Math.max(0, ticks - inherited);
  }
  return { live, retainedTicks };
}

/** Ticks used so far by all processes ever seen. */
export function totalTicks(account: ProcessAccount): number {
  return [...account.live.values()].reduce((sum, stat) => sum + allTicks(stat), account.retainedTicks);
}

/**
 * The members of a group of which only the first processes are known: those, everything in their sessions (bench
 * starts each in its own session) and all descendants. Zombies are included: they still carry their CPU time.
 */
export function membersOf(all: readonly ProcessStat[], roots: ReadonlySet<number>): ProcessStat[] {
  const members = new Map<number, ProcessStat>();
  for (const stat of all) {
    if (roots.has(stat.pid) || roots.has(stat.session)) members.set(stat.pid, stat);
  }
  for (let found = true; found; ) {
    found = false;
    for (const stat of all) {
      if (members.has(stat.pid) || !members.has(stat.parentPid)) continue;
      members.set(stat.pid, stat);
      found = true;
    }
  }
  return [...members.values()];
}

/** False for a zombie: a process that has ended and was not waited for. */
export function isRunning(stat: ProcessStat): boolean {
  return stat.state !== 'Z' && stat.state !== 'X';
}
