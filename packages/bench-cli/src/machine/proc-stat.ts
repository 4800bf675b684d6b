/** Parsers for the kernel's files about one process: /proc/<pid>/stat, status and smaps_rollup (proc(5)). */

/** The fields of /proc/<pid>/stat that bench uses. Times are in clock ticks (`getconf CLK_TCK`). */
export interface ProcessStat {
  readonly pid: number;
  /** One letter; `Z` and `X` are processes that have ended. */
  readonly state: string;
  readonly parentPid: number;
  readonly session: number;
  readonly userTicks: number;
  readonly systemTicks: number;
  /** Time of ended children that were waited for, and of their children. */
  readonly childUserTicks: number;
  readonly childSystemTicks: number;
  /** Since boot; with the PID, it identifies a process uniquely. */
  readonly startTicks: number;
}

/**
 * Parses /proc/<pid>/stat; null if the text is not of that form. The command is in parentheses and may
 * itself contain spaces and parentheses, so the last closing one ends it.
 */
export function parseProcessStat(text: string): ProcessStat | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const pid = Number(text.slice(0, open));
  const [state, ...rest] = text
    .slice(close + 1)
    .trim()
    .split(/\s+/);
  const numbers = rest.map(Number);
  // `rest` begins with field 4 of proc(5), the parent's pid.
  const field = (number: number) => numbers[number - 4];
  const [parentPid, session] = [field(4), field(6)];
  const [userTicks, systemTicks] = [field(14), field(15)];
  const [childUserTicks, childSystemTicks] = [field(16), field(17)];
  const startTicks = field(22);
  if (
    !Number.isInteger(pid) ||
    state === undefined ||
    parentPid === undefined ||
    session === undefined ||
    userTicks === undefined ||
    systemTicks === undefined ||
    childUserTicks === undefined ||
    childSystemTicks === undefined ||
    startTicks === undefined
  ) {
    return null;
  }
  return {
    pid,
    state,
    parentPid,
    session,
    userTicks,
    systemTicks,
    childUserTicks,
    childSystemTicks,
    startTicks,
  };
}

/** CPUs in the kernel's list format: `0-3,8` → 0, 1, 2, 3, 8. */
export function parseCpuList(text: string): number[] {
  return text
    .trim()
    .split(',')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number);
      if (first === undefined || last === undefined || !Number.isInteger(first) || !Number.isInteger(last)) {
        return [];
      }
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
    });
}
