/** The memory of a process, as the kernel and Go see it: at one moment, and over a few seconds. */
import { bytesIn, readIfThere } from '../../../machine/proc-files.ts';
import { percentileOf } from '../../../stats/percentile.ts';
import type { World } from '../../../world.ts';
import type { MemoryReading, MemoryStage } from './evidence.ts';

const known = (text: string, field: string) => bytesIn(text, field) ?? 0;

/** What is known of a process that lives. */
type Reading = { readonly [K in keyof MemoryReading]: K extends 'residentBytes' ? number : MemoryReading[K] };

/** What Go says of itself. */
export type GoHeap = { readonly [K in keyof MemoryStage['heap']]: number };

/** Null once the process has ended. */
export async function readMemory(world: World, pid: number): Promise<Reading | null> {
  const [status, rollup] = await Promise.all([
    readIfThere(world, `/proc/${pid}/status`),
    readIfThere(world, `/proc/${pid}/smaps_rollup`),
  ]);
  if (status === null || !status.includes('VmRSS')) return null;
  return {
    residentBytes: known(status, 'VmRSS'),
    anonymousBytes: known(status, 'RssAnon'),
    proportionalBytes: rollup === null ? null : known(rollup, 'Pss'),
  };
}

/** What is known of a peak at one moment. */
export interface PeakReading {
  /** The most resident memory since the start of the process or since `forgetPeak`: the kernel keeps it. */
  readonly residentBytes: number;
  /** The anonymous part of that, at least: what is not of files now. Pages of the program are read once and stay. */
  readonly anonymousBytes: number;
}

/** The peak so far; zeros once the process has ended. */
export async function readPeak(world: World, pid: number): Promise<PeakReading> {
  const status = (await readIfThere(world, `/proc/${pid}/status`)) ?? '';
  const residentBytes = known(status, 'VmHWM');
  const files = known(status, 'RssFile') + known(status, 'RssShmem');
  const anonymousBytes = Math.max(known(status, 'RssAnon'), residentBytes - files);
  return { residentBytes, anonymousBytes };
}

/** Begins a new peak (proc(5), `clear_refs`: 5). */
export async function forgetPeak(world: World, pid: number): Promise<void> {
  await world.fs.writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** A value of a Prometheus exposition, the sum of all with this name; null without any. */
export function metricIn(text: string, name: string, labels = ''): number | null {
  const pattern = new RegExp(`^${name}(?:\\{([^}]*)\\})? (\\S+)$`, 'gm');
  const values = [...text.matchAll(pattern)].filter(([, found = '']) => found.includes(labels));
  return values.length === 0 ? null : values.reduce((sum, [, , value]) => sum + Number(value), 0);
}

/** What Go says of its heap. */
export function goHeapIn(metrics: string): GoHeap {
  const bytes = (name: string) => metricIn(metrics, `go_memstats_${name}_bytes`) ?? 0;
  return {
    allocatedBytes: bytes('heap_alloc'),
    inUseBytes: bytes('heap_inuse'),
    releasedBytes: bytes('heap_released'),
    nextCollectionBytes: bytes('next_gc'),
    collections: metricIn(metrics, 'go_gc_duration_seconds_count') ?? 0,
  };
}

/** Reading costs the kernel a walk over the page tables: milliseconds for a gigabyte. */
const INTERVAL_SECONDS = 0.5;

const percentile95 = (values: readonly number[]) => percentileOf(values, 95);

export function summarizeReadings(readings: readonly MemoryReading[], heap: GoHeap): MemoryStage {
  const proportional = readings.flatMap(({ proportionalBytes }) => proportionalBytes ?? []);
  return {
    residentBytes: percentile95(readings.flatMap(({ residentBytes }) => residentBytes ?? [])),
    anonymousBytes: percentile95(readings.map(({ anonymousBytes }) => anonymousBytes)),
    proportionalBytes: proportional.length === 0 ? null : percentile95(proportional),
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
