/** Parsers for files that describe the machine. */

/** `PRETTY_NAME` of /etc/os-release (os-release(5)); null without one. */
export function parseOsName(osRelease: string): string | null {
  const value = /^PRETTY_NAME=(.*)$/m.exec(osRelease)?.[1]?.trim();
  if (value === undefined || value === '') return null;
  return /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
}

/**
 * The CPU's name from /proc/cpuinfo. arm64 has no `model name`: there it consists of the implementer's and the part's
 * numbers. Null if neither is present.
 */
export function parseCpuModel(cpuinfo: string): string | null {
  const field = (name: string) => new RegExp(`^${name}\\s*:\\s*(.+)$`, 'm').exec(cpuinfo)?.[1]?.trim();
  const name = field('model name');
  if (name !== undefined) return name;
  const [implementer, part] = [field('CPU implementer'), field('CPU part')];
  return implementer === undefined || part === undefined ? null : `implementer ${implementer}, part ${part}`;
}

/** True if the CPU says that a hypervisor is below (x86: the `hypervisor` flag). */
export function hasHypervisorFlag(cpuinfo: string): boolean {
  return /^flags\s*:.*\bhypervisor\b/m.test(cpuinfo);
}

/** 1-minute load average from /proc/loadavg. */
export function parseLoadAverage(text: string): number | null {
  const value = Number.parseFloat(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** A file that holds one number of at least zero. */
export function parseCount(text: string | null): number | null {
  return text !== null && /^\d+\s*$/.test(text) ? Number(text) : null;
}
