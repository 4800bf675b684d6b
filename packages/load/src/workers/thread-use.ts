/** A thread's CPU time, and how long it waited for a CPU. */
import { readFileSync } from 'node:fs';

export interface ThreadUse {
  /** CPU time, user and system, ns. */
  readonly cpuNs: number;
  /** Time the thread was ready to run and waited for a CPU, ns; null where only CPU time is known. */
  readonly waitedNs: number | null;
}

/**
 * Of the calling thread, since it started; null if the platform does not report it. Linux: /proc/thread-self/schedstat
 * (Documentation/scheduler/sched-stats.rst: time on the CPU, time on a run queue, time slices).
 */
export function threadUse(): ThreadUse | null {
  try {
    const [cpu, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
    if (cpu !== undefined && waited !== undefined && cpu > 0) return { cpuNs: cpu, waitedNs: waited };
  } catch {
    // Not Linux, or a kernel without CONFIG_SCHED_INFO.
  }
  // Node.js 23.9 and later.
  if (typeof process.threadCpuUsage !== 'function') return null;
  const { user, system } = process.threadCpuUsage();
  return { cpuNs: (user + system) * 1000, waitedNs: null };
}

/** The use between two readings. */
export function useBetween(before: ThreadUse | null, after: ThreadUse | null): ThreadUse | null {
  if (before === null || after === null) return null;
  const waited =
    before.waitedNs === null || after.waitedNs === null ? null : after.waitedNs - before.waitedNs;
  return { cpuNs: after.cpuNs - before.cpuNs, waitedNs: waited };
}
