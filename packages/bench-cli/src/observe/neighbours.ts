/**
 * What the rest of the machine did meanwhile: CPU time that the hypervisor took (steal), that other programs used, and how
 * slow the CPUs ran. Reads one file of a few lines and, where the machine has them, one for each CPU.
 */
import { clockTicksPerSecond, readIfThere } from '../machine/proc-files.ts';
import { sum } from '../stats/intervals.ts';
import type { World } from '../world.ts';

/**
 * Nobody knows when within the time that a reading takes its counters were read. On a busy machine this can be longer than the
 * windows between readings: CPU time of a second, divided by hundredths, would be that of more CPUs than there are.
 */
const MAX_DELAY = 0.05;

/** A reading that took too long is made again at once, at most so often in all. */
const ATTEMPTS = 3;

/** Since boot, over all CPUs. */
export interface MachineCounters {
  readonly atSeconds: number;
  /** Whether that is when the counters were read, to `MAX_DELAY`. */
  readonly isTimely: boolean;
  /** All but idle, waiting for disks, and stolen. */
  readonly busySeconds: number;
  readonly stealSeconds: number;
  /** Times that a core slowed down because it was too hot; null where the machine does not tell. */
  readonly thermalEvents: number | null;
  /** Now, average over the CPUs; null where the machine does not tell. */
  readonly hertz: number | null;
}

/** Parses the first line of /proc/stat (proc(5)), in ticks; null if it has another form. */
export function parseCpuLine(text: string): { busy: number; steal: number } | null {
  const fields = /^cpu\s+([\d ]+)$/m.exec(text)?.[1]?.trim().split(/\s+/).map(Number);
  // guest and guest_nice, behind steal, are already part of user and nice.
  const [user, nice, system, , , irq, softirq, steal] = fields ?? [];
  if (user === undefined || nice === undefined || system === undefined) return null;
  return { busy: user + nice + system + (irq ?? 0) + (softirq ?? 0), steal: steal ?? 0 };
}

const CPU_DIRECTORY = '/sys/devices/system/cpu';

async function numbersOf(world: World, file: string): Promise<number[]> {
  const texts = await Promise.all(
    world.machine.cpus.map((_, cpu) => readIfThere(world, `${CPU_DIRECTORY}/cpu${cpu}/${file}`)),
  );
  return texts.flatMap((text) => (text === null || !/^\d+\s*$/.test(text) ? [] : [Number(text)]));
}

/** Finds out once what this machine tells, and resolves with what reads it: null where the machine has no /proc/stat. */
export async function createMachineMeter(world: World): Promise<() => Promise<MachineCounters | null>> {
  const ticks = await clockTicksPerSecond(world);
  const hasFrequency = (await numbersOf(world, 'cpufreq/scaling_cur_freq')).length > 0;
  const hasThermal = (await numbersOf(world, 'thermal_throttle/core_throttle_count')).length > 0;
  const readOnce = async (): Promise<MachineCounters | null> => {
    const before = world.clock.monotonicSeconds();
    const text = await readIfThere(world, '/proc/stat');
    const after = world.clock.monotonicSeconds();
    const line = text === null ? null : parseCpuLine(text);
    if (line === null) return null;
    const kilohertz = hasFrequency ? await numbersOf(world, 'cpufreq/scaling_cur_freq') : [];
    const thermal = hasThermal ? await numbersOf(world, 'thermal_throttle/core_throttle_count') : null;
    return {
      atSeconds: (before + after) / 2,
      isTimely: after - before <= MAX_DELAY,
      busySeconds: line.busy / ticks,
      stealSeconds: line.steal / ticks,
      thermalEvents: thermal === null ? null : sum(thermal),
      hertz: kilohertz.length === 0 ? null : (sum(kilohertz) / kilohertz.length) * 1000,
    };
  };
  return async () => {
    let counters = await readOnce();
    for (let again = 1; again < ATTEMPTS && counters?.isTimely === false; again += 1)
      counters = await readOnce();
    return counters;
  };
}

/** Seconds that the threads of these processes waited for a CPU although they could run (schedstat, sched-stats.rst). */
export async function runQueueWait(world: World, pids: readonly number[]): Promise<number | null> {
  const waits = await Promise.all(
    pids.map(async (pid) => {
      const tasks = await world.fs.readdir(`/proc/${pid}/task`).catch(() => []);
      return Promise.all(tasks.map((task) => readIfThere(world, `/proc/${pid}/task/${task}/schedstat`)));
    }),
  );
  const nanoseconds = waits.flat().flatMap((text) => {
    const waited = text?.split(' ')[1];
    return waited === undefined ? [] : [Number(waited)];
  });
  return nanoseconds.length === 0 ? null : sum(nanoseconds) / 1e9;
}
