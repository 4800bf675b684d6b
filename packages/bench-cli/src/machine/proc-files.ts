/** Reads of /proc that expect processes to end between being listed and being read. */
import { systemErrorCode } from '@dinodns-bench/program';
import { runToEnd } from '../process.ts';
import type { World } from '../world.ts';
import { type ProcessStat, parseProcessStat } from './proc-stat.ts';

/** Text of a file, or null if it is gone or may not be read. Any other error is thrown. */
export async function readIfThere(world: World, path: string): Promise<string | null> {
  try {
    return await world.fs.readFile(path, 'utf8');
  } catch (error) {
    const code = systemErrorCode(error);
    // ESRCH: the process ended after its directory was opened. ENODEV: its control group was removed.
    if (code !== undefined && ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'ENODEV', 'ENOTDIR'].includes(code)) {
      return null;
    }
    throw error;
  }
}

/** One process from /proc; null if it has ended. */
export async function readProcessStat(world: World, pid: number | 'self'): Promise<ProcessStat | null> {
  const text = await readIfThere(world, `/proc/${pid}/stat`);
  return text === null ? null : parseProcessStat(text);
}

/** Every process that this one may see. */
export async function readAllProcessStats(world: World): Promise<ProcessStat[]> {
  const names = await world.fs.readdir('/proc');
  const stats = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readProcessStat(world, Number(name))),
  );
  return stats.filter((stat) => stat !== null);
}

/** On every architecture that Linux and Node.js share today. */
const USUAL_TICKS_PER_SECOND = 100;

/** Clock ticks per second of /proc/<pid>/stat, as `getconf CLK_TCK` says. */
export async function clockTicksPerSecond(world: World): Promise<number> {
  try {
    const { code, stdout } = await runToEnd(world, ['getconf', 'CLK_TCK']);
    const ticks = Number(stdout);
    return code === 0 && Number.isInteger(ticks) && ticks > 0 ? ticks : USUAL_TICKS_PER_SECOND;
  } catch {
    return USUAL_TICKS_PER_SECOND;
  }
}

/** Bytes of a field of /proc/PID/status or smaps_rollup; null for one that it does not have. proc_pid_status(5). */
export function bytesIn(text: string | null, field: string): number | null {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}

/** Resident memory of a process now, and its peak since it was started; null if it is gone. */
export async function readMemory(
  world: World,
  pid: number,
): Promise<{ bytes: number; peakBytes: number } | null> {
  const text = await readIfThere(world, `/proc/${pid}/status`);
  const [bytes, peakBytes] = [bytesIn(text, 'VmRSS'), bytesIn(text, 'VmHWM')];
  return bytes === null || peakBytes === null ? null : { bytes, peakBytes };
}
