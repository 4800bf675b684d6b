/**
 * CPU time of a changing set of processes, added up from /proc alone, where no control group counts.
 *
 * A process that has ended is gone from /proc. If its parent waited for it, its time moved into the
 * parent's children's time; if not (the parent ignores SIGCHLD, or ended first), what was last seen of it
 * is kept. The sum therefore never falls, and is low by at most what an ended process used after the
 * last look.
 */
import type { ProcessStat } from '../machine/proc-stat.ts';

export interface ProcessAccount {
  /** Processes at the last look, by pid and start time. */
  readonly live: ReadonlyMap<string, ProcessStat>;
  /** Ticks of ended processes that no living one carries. */
  readonly retainedTicks: number;
}

export const EMPTY_ACCOUNT: ProcessAccount = { live: new Map(), retainedTicks: 0 };

const keyOf = (stat: ProcessStat) => `${stat.pid}@${stat.startTicks}`;
const childTicks = (stat: ProcessStat) => stat.childUserTicks + stat.childSystemTicks;
const allTicks = (stat: ProcessStat) => stat.userTicks + stat.systemTicks + childTicks(stat);

/** The nearest ancestor that still lives, through parents that ended since the last look. */
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

/** The account after a further look at the members; ended ones that nobody waited for (`Z`) belong to them. */
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

/** Ticks used so far by all that were ever seen. */
export function totalTicks(account: ProcessAccount): number {
  return [...account.live.values()].reduce((sum, stat) => sum + allTicks(stat), account.retainedTicks);
}

/**
 * The members of a group that is known by its first processes only: those, everything in their sessions
 * (bench starts each in a session of its own) and all descendants. Processes that have ended but were not
 * waited for are among them: they still carry their CPU time.
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

/** False for a process that has ended and only waits to be waited for. */
export function isRunning(stat: ProcessStat): boolean {
  return stat.state !== 'Z' && stat.state !== 'X';
}
