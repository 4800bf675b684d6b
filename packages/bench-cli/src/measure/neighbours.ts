/** What the rest of the machine did during a part of a measurement. */
import { readProcessStat } from '../machine/proc-files.ts';
import {
  createMachineMeter,
  type MachineCounters,
  type MachineMeter,
  runQueueWait,
} from '../observe/neighbours.ts';
import type { Neighbours } from '../results/record.ts';
import type { World } from '../world.ts';

interface Reading {
  readonly machine: MachineCounters;
  readonly waitSeconds: number | null;
}

/** CPU seconds of what belongs to the measurement within a window. */
export interface OwnUse {
  readonly serverSeconds: number;
  readonly loaderSeconds: number;
}

export interface NeighbourMeter {
  /** Begins a window; `pids` are the server's. */
  begin(pids: readonly number[]): Promise<{ end(own: OwnUse): Promise<Neighbours | null> }>;
}

/** The difference of two readings. `benchSeconds`: what bench itself used. Pure. */
export function neighboursBetween(
  from: Reading,
  to: Reading,
  { serverSeconds, loaderSeconds }: OwnUse,
  benchSeconds: number,
): Neighbours {
  const seconds = Math.max(to.machine.atSeconds - from.machine.atSeconds, Number.EPSILON);
  const busy = to.machine.busySeconds - from.machine.busySeconds;
  const [before, after] = [from.machine.thermalEvents, to.machine.thermalEvents];
  return {
    stealCores: Math.max(0, to.machine.stealSeconds - from.machine.stealSeconds) / seconds,
    otherCores: Math.max(0, busy - serverSeconds - loaderSeconds - benchSeconds) / seconds,
    waitSeconds:
      from.waitSeconds === null || to.waitSeconds === null
        ? null
        : Math.max(0, to.waitSeconds - from.waitSeconds),
    hertz: to.machine.hertz,
    thermalEvents: before === null || after === null ? null : Math.max(0, after - before),
  };
}

async function ownSeconds(world: World, ticksPerSecond: number): Promise<number> {
  const stat = await readProcessStat(world, 'self');
  return stat === null ? 0 : (stat.userTicks + stat.systemTicks) / ticksPerSecond;
}

/** /proc/<pid>/stat counts in these on all architectures that Linux and Node.js share. */
const TICKS_PER_SECOND = 100;

async function readAll(world: World, meter: MachineMeter, pids: readonly number[]): Promise<Reading | null> {
  const machine = await meter.read();
  return machine === null ? null : { machine, waitSeconds: await runQueueWait(world, pids) };
}

export async function createNeighbourMeter(world: World): Promise<NeighbourMeter> {
  const meter = await createMachineMeter(world);
  return {
    begin: async (pids) => {
      const [from, benchBefore] = [
        await readAll(world, meter, pids),
        await ownSeconds(world, TICKS_PER_SECOND),
      ];
      return {
        end: async (own) => {
          const [to, benchAfter] = [
            await readAll(world, meter, pids),
            await ownSeconds(world, TICKS_PER_SECOND),
          ];
          return from === null || to === null
            ? null
            : neighboursBetween(from, to, own, benchAfter - benchBefore);
        },
      };
    },
  };
}
