/** What the rest of the machine did during a part of a measurement. */
import { readProcessStat } from '../machine/proc-files.ts';
import { createMachineMeter, type MachineCounters, runQueueWait } from '../observe/neighbours.ts';
import type { Neighbours } from '../results/record.ts';
import type { World } from '../world.ts';

/** Counters at one time. */
export interface NeighbourReading {
  readonly machine: MachineCounters;
  /** Of the server's threads; null where the kernel does not say. */
  readonly waitSeconds: number | null;
  /** CPU time of bench itself and of what it runs beside the server. */
  readonly benchSeconds: number;
}

/** CPU seconds of what belongs to the measurement within a window. */
export interface OwnUse {
  readonly serverSeconds: number;
  readonly loaderSeconds: number;
}

export interface NeighbourMeter {
  /** `pids` are the server's, `beside` those of what bench runs beside it. Null where the machine has no /proc/stat. */
  read(pids: readonly number[], beside?: readonly number[]): Promise<NeighbourReading | null>;
  /** Begins a window. */
  begin(pids: readonly number[]): Promise<{ end(own: OwnUse): Promise<Neighbours | null> }>;
}

/** The difference of two readings. Pure. */
export function neighboursBetween(
  from: NeighbourReading,
  to: NeighbourReading,
  { serverSeconds, loaderSeconds }: OwnUse,
): Neighbours {
  const seconds = Math.max(to.machine.atSeconds - from.machine.atSeconds, Number.EPSILON);
  const busy = to.machine.busySeconds - from.machine.busySeconds;
  const own = serverSeconds + loaderSeconds + (to.benchSeconds - from.benchSeconds);
  const [before, after] = [from.machine.thermalEvents, to.machine.thermalEvents];
  return {
    stealCores: Math.max(0, to.machine.stealSeconds - from.machine.stealSeconds) / seconds,
    otherCores: Math.max(0, busy - own) / seconds,
    waitSeconds:
      from.waitSeconds === null || to.waitSeconds === null
        ? null
        : Math.max(0, to.waitSeconds - from.waitSeconds),
    hertz: to.machine.hertz,
    thermalEvents: before === null || after === null ? null : Math.max(0, after - before),
  };
}

/** /proc/<pid>/stat counts in these on all architectures that Linux and Node.js share. */
const TICKS_PER_SECOND = 100;

async function ownSeconds(world: World, beside: readonly number[]): Promise<number> {
  const stats = await Promise.all((['self', ...beside] as const).map((pid) => readProcessStat(world, pid)));
  const ticks = stats.map((stat) => (stat === null ? 0 : stat.userTicks + stat.systemTicks));
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** What bench itself used is read after the counters of the machine; of another time, it would count as use of others. Seconds. */
const MAX_LAG = 0.25;

export async function createNeighbourMeter(world: World): Promise<NeighbourMeter> {
  const meter = await createMachineMeter(world);
  const read = async (pids: readonly number[], beside: readonly number[] = []) => {
    const machine = await meter();
    if (machine === null) return null;
    const waitSeconds = await runQueueWait(world, pids);
    const benchSeconds = await ownSeconds(world, beside);
    const isTimely = machine.isTimely && world.clock.monotonicSeconds() - machine.atSeconds <= MAX_LAG;
    return { machine: { ...machine, isTimely }, waitSeconds, benchSeconds };
  };
  return {
    read,
    begin: async (pids) => {
      const from = await read(pids);
      return {
        end: async (own) => {
          const to = await read(pids);
          const isKnown = from?.machine.isTimely === true && to?.machine.isTimely === true;
          return isKnown ? neighboursBetween(from, to, own) : null;
        },
      };
    },
  };
}
