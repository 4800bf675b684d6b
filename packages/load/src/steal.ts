/** How long the hypervisor gave this machine's CPUs to others while they had work. */
import { readFileSync } from 'node:fs';

/** USER_HZ, the unit of /proc/stat, is 100 on all of Linux's platforms that Node.js has (proc_stat(5)). */
const TICKS_PER_SECOND = 100;
/** Of the line `cpu`: its name, then user, nice, system, idle, iowait, irq, softirq, and steal. */
const STEAL_FIELD = 8;

/** Ticks since the machine started, summed over its CPUs; null for text without them. */
export function parseSteal(stat: string): number | null {
  const ticks = Number(/^cpu .*/m.exec(stat)?.[0].split(/ +/)[STEAL_FIELD]);
  return Number.isNaN(ticks) ? null : ticks;
}

function readStat(): string {
  try {
    return readFileSync('/proc/stat', 'utf8');
  } catch {
    // Not Linux.
    return '';
  }
}

/** Ticks are subtracted, not seconds, so that 0.01 s stays 0.01 s. */
function secondsBetween(start: number | null, end: number | null): number | null {
  return start === null || end === null ? null : (end - start) / TICKS_PER_SECOND;
}

/** Counts stolen seconds; null where they are not known. */
export function startStealClock(read: () => string = readStat) {
  const now = () => parseSteal(read());
  const start = now();
  let last = start;
  return {
    /** Since the clock was started. */
    total: () => secondsBetween(start, now()),
    /** Since the last lap, or since the clock was started. */
    lap() {
      const since = last;
      last = now();
      return secondsBetween(since, last);
    },
  };
}
