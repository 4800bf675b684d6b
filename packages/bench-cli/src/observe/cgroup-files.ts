/**
 * Parsers for the CPU files of control groups: cpu.stat of version 1 (sched-bwc.rst in the kernel's
 * documentation: `throttled_time` in nanoseconds) and of version 2 (cgroup-v2.rst: everything in
 * microseconds), and cpuacct.usage (nanoseconds).
 */

import type { Throttling } from './group.ts';

/** The `name value` lines of a flat keyed file, such as cpu.stat and /proc/net/snmp6. */
export function parseKeyedNumbers(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [name, value] = line.trim().split(/\s+/);
    if (name !== undefined && name !== '' && value !== undefined && Number.isFinite(Number(value))) {
      values.set(name, Number(value));
    }
  }
  return values;
}

function throttlingOf(
  values: ReadonlyMap<string, number>,
  timeField: string,
  unitsPerSecond: number,
): Throttling | null {
  const periods = values.get('nr_periods');
  const throttledPeriods = values.get('nr_throttled');
  const time = values.get(timeField);
  if (periods === undefined || throttledPeriods === undefined || time === undefined) return null;
  return { periods, throttledPeriods, throttledSeconds: time / unitsPerSecond };
}

/** cpu.stat of version 1; null if the kernel has no CFS bandwidth control. */
export function parseCpuStatV1(text: string): Throttling | null {
  return throttlingOf(parseKeyedNumbers(text), 'throttled_time', 1e9);
}

/** cpu.stat of version 2; `throttling` is null unless the cpu controller is on. Null without `usage_usec`. */
export function parseCpuStatV2(text: string): { cpuSeconds: number; throttling: Throttling | null } | null {
  const values = parseKeyedNumbers(text);
  const usage = values.get('usage_usec');
  if (usage === undefined) return null;
  return { cpuSeconds: usage / 1e6, throttling: throttlingOf(values, 'throttled_usec', 1e6) };
}

/** cpuacct.usage in seconds; null if it is not a number. */
export function parseCpuacctUsage(text: string): number | null {
  return /^\d+$/.test(text.trim()) ? Number(text) / 1e9 : null;
}

/** cgroup.procs or `tasks`: one process id on each line. */
export function parseProcessIds(text: string): number[] {
  return text
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}
