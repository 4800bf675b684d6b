/** Readings of memory over a few seconds, and their summary. */
import { percentileOf } from '../../../stats/percentile.ts';
import type { World } from '../../../world.ts';
import type { MemoryReading, MemoryStage } from './evidence.ts';
import type { GoHeap } from './memory-of.ts';
import { readMemory } from './memory-of.ts';

/** Reading costs the kernel a walk over the page tables: milliseconds for a gigabyte. */
const INTERVAL_SECONDS = 0.5;

const percentile95 = (values: readonly number[]) => percentileOf(values, 95);

export function summarizeReadings(readings: readonly MemoryReading[], heap: GoHeap): MemoryStage {
  const proportional = readings.flatMap(({ proportionalBytes }) => proportionalBytes ?? []);
  return {
    residentBytes: percentile95(readings.flatMap(({ residentBytes }) => residentBytes ?? [])),
    anonymousBytes: percentile95(readings.map(({ anonymousBytes }) => anonymousBytes)),
    proportionalBytes: proportional.length === 0 ? null : percentile95(proportional),
    readings: readings.length,
    heap,
  };
}

/** Reads at every interval until `signal`; at least once. */
export async function readUntil(world: World, pid: number, signal: AbortSignal): Promise<MemoryReading[]> {
  const readings: MemoryReading[] = [];
  do {
    const reading = await readMemory(world, pid);
    if (reading !== null) readings.push(reading);
    await world.clock.sleep(INTERVAL_SECONDS, signal).catch(() => undefined);
  } while (!signal.aborted);
  return readings;
}

/** Reads for some seconds. Rejects with the reason of `signal` if that comes first. */
export async function readFor(
  world: World,
  pid: number,
  seconds: number,
  signal: AbortSignal,
): Promise<MemoryReading[]> {
  const end = new AbortController();
  const cancel = world.clock.after(seconds, () => end.abort());
  try {
    return await readUntil(world, pid, AbortSignal.any([end.signal, signal]));
  } finally {
    cancel();
    signal.throwIfAborted();
  }
}
