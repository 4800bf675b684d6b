/** How long the hypervisor gave this machine's CPUs to others while they had work. */
import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of /proc/stat, is 100 on all of Linux's platforms that Node.js has (proc_stat(5)). */
const TICKS_PER_SECOND = 100;
/** Of the line `cpu`: its name, then user, nice, system, idle, iowait, irq, softirq, and steal. */
const STEAL_FIELD = 8;

/** Seconds since the machine started, summed over its CPUs; null for text without them. */
export function parseSteal(stat: string): number | null {
  const ticks = Number(/^cpu .*/m.exec(stat)?.[0].split(/ +/)[STEAL_FIELD]);
  return Number.isNaN(ticks) ? null : ticks / TICKS_PER_SECOND;
}

function stealSeconds(): number | null {
  try {
    return parseSteal(readFileSync('/proc/stat', 'utf8'));
  } catch {
    // Not Linux.
    return null;
  }
}

/** A clock of stolen time: each call returns the seconds since it was started, or null where they are not known. */
export function startStealClock(): () => number | null {
  const start = stealSeconds();
  return () => {
    const now = stealSeconds();
    return start === null || now === null ? null : now - start;
  };
}
