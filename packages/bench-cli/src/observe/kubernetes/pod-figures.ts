/** Figures of pods over a trial, from the readings at its ends and the samples in between. Pure. */
import type { InstanceObservation, Observation, Sidecar } from '../../results/record.ts';
import { mean, sum } from '../../stats/intervals.ts';
import { addThrottling, type Throttling, throttlingBetween } from '../group.ts';
import type { PodReading, ThrottlingReading } from './pod-reading.ts';
import type { PodPlace } from './pod-source.ts';
import type { Settled } from './settled.ts';

export type Readings = ReadonlyMap<string, PodReading>;

export interface Sample {
  /** On the monotonic clock. */
  readonly atSeconds: number;
  readonly readings: Readings;
}

/** Whether the kubelet has taken a new reading since. */
export const isAnotherReading = (a: PodReading, b: PodReading) =>
  a.cpu.stamp !== b.cpu.stamp || a.cpu.cpuSeconds !== b.cpu.cpuSeconds;

/** Null if a reading is missing, or if the counter went back: that of a container that was restarted begins anew. */
export function cpuBetween(from: Readings, to: Readings, pod: string): number | null {
  const before = from.get(pod);
  const after = to.get(pod);
  if (before === undefined || after === undefined) return null;
  const used = after.cpu.cpuSeconds - before.cpu.cpuSeconds;
  return used < 0 ? null : used;
}

/** By the times that the kubelet gives for two readings, which are in whole seconds; null if one is missing or has no time. */
function secondsBetween(from: Readings, to: Readings, pod: string): number | null {
  const stampOf = (readings: Readings) => Date.parse(readings.get(pod)?.cpu.stamp ?? '');
  const seconds = (stampOf(to) - stampOf(from)) / 1000;
  return seconds > 0 ? seconds : null;
}

/** Cores that the pods used between two readings; null if one is missing or has no time. */
export function idleCoresBetween(
  from: Settled<PodReading>,
  to: Settled<PodReading>,
  pods: readonly PodPlace[],
): number | null {
  if (from.stale.length > 0 || to.stale.length > 0) return null;
  const cores = pods.map(({ name }) => {
    const used = cpuBetween(from.values, to.values, name);
    const seconds = secondsBetween(from.values, to.values, name);
    return used === null || seconds === null ? null : used / seconds;
  });
  return cores.includes(null) ? null : sum(cores.map((value) => value ?? 0));
}

function memoryOf(readings: Readings, pods: readonly PodPlace[]): number | null {
  const bytes = pods.map(({ name }) => readings.get(name)?.memoryBytes ?? null);
  return bytes.includes(null) ? null : sum(bytes.map((value) => value ?? 0));
}

/** Without the samples that repeat the one before: they would show as an idle server. */
function distinct(samples: readonly Sample[], pods: readonly PodPlace[]): Sample[] {
  const kept: Sample[] = [];
  for (const sample of samples) {
    const last = kept.at(-1);
    const isNew =
      last === undefined ||
      pods.every(({ name }) => {
        const before = last.readings.get(name);
        const now = sample.readings.get(name);
        return before !== undefined && now !== undefined && isAnotherReading(before, now);
      });
    if (isNew) kept.push(sample);
  }
  return kept;
}

/** With less between two of the kubelet's times, which are in whole seconds, the time between the samples is the better one. */
const MIN_STAMPED_SECONDS = 5;

function series(samples: readonly Sample[], pods: readonly PodPlace[]): Observation['samples'] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    if (before === undefined) return [];
    const seconds = sample.atSeconds - before.atSeconds;
    // The kubelet read each pod at times of its own, which can be further apart than the samples.
    const cores = pods.map(({ name }) => {
      const used = cpuBetween(before.readings, sample.readings, name);
      const stamped = secondsBetween(before.readings, sample.readings, name) ?? 0;
      return used === null ? null : used / (stamped < MIN_STAMPED_SECONDS ? seconds : stamped);
    });
    // An interval that began before the load did is not that of the load, or only in part.
    if (cores.includes(null) || seconds <= 0 || before.atSeconds < 0) return [];
    return [
      {
        atSeconds: sample.atSeconds,
        cpuCores: sum(cores.map((value) => value ?? 0)),
        memoryBytes: memoryOf(sample.readings, pods),
      },
    ];
  });
}

/** The actual interval of the kubelet's readings. */
function meanInterval(samples: readonly Sample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || samples.length < 2) return null;
  return (last.atSeconds - first.atSeconds) / (samples.length - 1);
}

/** What was read of the pods over a trial. */
export interface PodReadings {
  readonly pods: readonly PodPlace[];
  /** When the load began and ended, on the monotonic clock. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly usage: { readonly begin: Settled<PodReading>; readonly end: Settled<PodReading> };
  /** Null if it could not be read, or the load was too short for it. */
  readonly throttling: {
    readonly begin: Settled<ThrottlingReading> | null;
    readonly end: Settled<ThrottlingReading> | null;
  };
  readonly samples: readonly Sample[];
}

export interface PodFigures {
  readonly observation: Observation;
  readonly instances: InstanceObservation[];
  /** Between the readings at both ends, on average over the pods; null if one has no time. */
  readonly readSeconds: number | null;
}

/** Null for a pod whose throttling is not known at both ends. */
function throttlingOf({ pods, throttling: { begin, end } }: PodReadings): (Throttling | null)[] {
  return pods.map(({ name }) => {
    const after = begin?.stale.length === 0 && end?.stale.length === 0 ? end.values.get(name) : undefined;
    // A pod that has not had a period with a quota yet is not in the list: it begins at zero.
    return after === undefined ? null : throttlingBetween(begin?.values.get(name), after);
  });
}

function summarizeMemory(
  readings: readonly Readings[],
  pods: readonly PodPlace[],
): Observation['memoryBytes'] {
  const memory = readings.flatMap((values) => memoryOf(values, pods) ?? []);
  if (memory.length === 0) return null;
  return { mean: mean(memory), max: Math.max(...memory), source: 'working-set' };
}

/** What the containers beside the DNS server used; nothing for those that were not there at both ends, or restarted in between. */
function sidecarsOf({ begin, end }: PodReadings['usage'], pod: string, seconds: number): Sidecar[] {
  const before = begin.values.get(pod)?.sidecars;
  return [...(end.values.get(pod)?.sidecars ?? [])].flatMap(([name, { cpuSeconds, memoryBytes }]) => {
    const from = before?.get(name)?.cpuSeconds;
    return from === undefined || cpuSeconds < from
      ? []
      : [{ name, cpuCores: (cpuSeconds - from) / seconds, memoryBytes }];
  });
}

/** Null if the CPU time of a pod over the load is not known. */
export function podFigures(read: PodReadings): PodFigures | null {
  const { pods, startedAt, endedAt } = read;
  const { begin, end } = read.usage;
  const durationSeconds = Math.max(0.001, endedAt - startedAt);
  const used = pods.map(({ name }) => cpuBetween(begin.values, end.values, name));
  if (begin.stale.length > 0 || end.stale.length > 0 || used.includes(null)) return null;
  const between = pods.map(({ name }) => secondsBetween(begin.values, end.values, name));
  const throttling = throttlingOf(read);
  const cpuSeconds = sum(used.map((value) => value ?? 0));
  const samples = distinct(
    read.samples.map(({ atSeconds, readings }) => ({ atSeconds: atSeconds - startedAt, readings })),
    pods,
  );
  return {
    readSeconds: between.includes(null) ? null : mean(between.map((value) => value ?? 0)),
    instances: pods.map(({ name, node }, index) => ({
      name,
      node,
      queries: null,
      cpuSeconds: used[index] ?? null,
      readSeconds: between[index] ?? null,
      cpuCores: (used[index] ?? 0) / durationSeconds,
      memoryBytes: end.values.get(name)?.memoryBytes ?? null,
      throttledSeconds: throttling[index]?.throttledSeconds ?? null,
      sidecars: sidecarsOf(read.usage, name, durationSeconds),
    })),
    observation: {
      cpuSource: 'kubelet-summary',
      durationSeconds,
      cpuSeconds,
      cpuCores: cpuSeconds / durationSeconds,
      memoryBytes: summarizeMemory([...samples.slice(1).map(({ readings }) => readings), end.values], pods),
      throttling: addThrottling(throttling),
      processes: sum(pods.map(({ name }) => end.values.get(name)?.processes ?? 1)),
      sampleIntervalSeconds: meanInterval(samples) ?? durationSeconds,
      samples: series(samples, pods),
    },
  };
}
