/** CPU time and memory of a process and of all that it has started (Linux). */
import { readFileSync, writeFileSync } from 'node:fs';

/** `USER_HZ` of every Linux: the unit of times in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

/** The process and its descendants. */
export function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

/** User and system time of these processes so far. */
export function cpuSecondsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }, 0);
}

/** The most resident memory of each since its start or the last `forgetPeaks`, summed: what they share counts for each. */
export function peakBytesOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return sum + 1024 * Number(kibibytes);
  }, 0);
}

export function forgetPeaks(pids: readonly number[]): void {
  // proc_pid_clear_refs(5): 5 resets the peak.
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
