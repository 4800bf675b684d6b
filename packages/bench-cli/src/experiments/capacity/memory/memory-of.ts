/** The memory of a process, as the kernel and Go see it. */
import { bytesIn, readIfThere } from '../../../machine/proc-files.ts';
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
    systemBytes: bytes('sys'),
    nextCollectionBytes: bytes('next_gc'),
    collections: metricIn(metrics, 'go_gc_duration_seconds_count') ?? 0,
  };
}
