/**
 * Watches the pods of a deployment over a trial with the kubelet's counters. The trial is bracketed: the counters
 * are read when the server is idle before the load, and again, anew, after the load has ended. So the CPU time is
 * that of the load and exact, however seldom the kubelet looks; what is rare are the samples in between.
 */

import type { ObservationWindow } from '../../observe/window.ts';
import type { InstanceObservation, Observation } from '../../results/record.ts';
import type { Clock } from '../../world.ts';
import type { PodReading, ThrottlingReading } from './pod-reading.ts';
import type { PodPlace, PodSource } from './pod-source.ts';
import { readSettled } from './settled.ts';

export interface ObservePodsOptions {
  readonly clock: Clock;
  readonly source: PodSource;
  readonly pods: readonly PodPlace[];
  /** Planned length of the load; a trial should not wait for figures longer than it measured. */
  readonly loadSeconds: number;
  readonly signal: AbortSignal;
}

/** cAdvisor looks every 10 to 15 seconds. */
const SETTLE_SECONDS = 20;
/** A shorter load has no chance to see cAdvisor look at both of its ends. */
const LEAST_THROTTLING_SECONDS = 5;
const SAMPLE_SECONDS = 2;

type Readings = ReadonlyMap<string, PodReading>;

interface Sample {
  readonly atSeconds: number;
  readonly readings: Readings;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const isAnotherReading = (a: PodReading, b: PodReading) =>
  a.cpu.stamp !== b.cpu.stamp || a.cpu.cpuSeconds !== b.cpu.cpuSeconds;

const isAnotherThrottling = (a: ThrottlingReading, b: ThrottlingReading) => a.stamp !== b.stamp;

function cpuBetween(from: Readings, to: Readings, pod: string): number | null {
  const before = from.get(pod);
  const after = to.get(pod);
  if (before === undefined || after === undefined) return null;
  return Math.max(0, after.cpu.cpuSeconds - before.cpu.cpuSeconds);
}

function memoryOf(readings: Readings, pods: readonly PodPlace[]): number | null {
  const bytes = pods.map(({ name }) => readings.get(name)?.memoryBytes ?? null);
  return bytes.includes(null) ? null : sum(bytes.map((value) => value ?? 0));
}

/** A reading that repeats the one before says nothing new, and would show as an idle server. */
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

function series(samples: readonly Sample[], pods: readonly PodPlace[]): Observation['samples'] {
  return samples.slice(1).flatMap((sample, index) => {
    const before = samples[index];
    if (before === undefined) return [];
    const used = pods.map(({ name }) => cpuBetween(before.readings, sample.readings, name));
    const seconds = sample.atSeconds - before.atSeconds;
    // What ended before the load began is not part of it.
    if (used.includes(null) || seconds <= 0 || sample.atSeconds <= 0) return [];
    return [
      {
        atSeconds: sample.atSeconds,
        cpuCores: sum(used.map((value) => value ?? 0)) / seconds,
        memoryBytes: memoryOf(sample.readings, pods),
      },
    ];
  });
}

function throttledBetween(
  from: ReadonlyMap<string, ThrottlingReading>,
  to: ReadonlyMap<string, ThrottlingReading>,
  pod: string,
): Observation['throttling'] {
  const before = from.get(pod);
  const after = to.get(pod);
  // A pod that has never had a period under its quota is not in the list: then it began at zero.
  if (after === undefined) return null;
  return {
    periods: Math.max(0, after.periods - (before?.periods ?? 0)),
    throttledPeriods: Math.max(0, after.throttledPeriods - (before?.throttledPeriods ?? 0)),
    throttledSeconds: Math.max(0, after.throttledSeconds - (before?.throttledSeconds ?? 0)),
  };
}

/** Opens the window; resolves when the first reading after this call is there, which takes up to 20 seconds. */
export async function observePods(options: ObservePodsOptions): Promise<ObservationWindow> {
  const { clock, source, pods, loadSeconds, signal } = options;
  const names = pods.map(({ name }) => name);
  const settle = (seconds: number) => ({ clock, signal, seconds });
  const throttleSeconds = Math.min(SETTLE_SECONDS, loadSeconds);
  const readThrottling = async () =>
    loadSeconds < LEAST_THROTTLING_SECONDS
      ? null
      : readSettled(source.throttling, names, isAnotherThrottling, settle(throttleSeconds)).catch(() => null);

  // Side by side: both wait for the kubelet, each with a request now and then.
  const [begin, throttlingBegin] = await Promise.all([
    readSettled(source.usage, names, isAnotherReading, settle(SETTLE_SECONDS)),
    readThrottling(),
  ]);
  let startedAt = clock.monotonicSeconds();
  const beganAt = startedAt;
  const samples: { at: number; readings: Readings }[] = [{ at: beganAt, readings: begin.values }];
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const sampling = (async () => {
    for (;;) {
      const over = await clock.sleep(SAMPLE_SECONDS, stopped).then(
        () => false,
        () => true,
      );
      if (over) return;
      try {
        const readings = await source.usage();
        samples.push({ at: clock.monotonicSeconds(), readings });
      } catch {
        // The API server or the kubelet is away for a while: one sample less.
      }
    }
  })();

  let instances: InstanceObservation[] | null = null;
  const finish = async (): Promise<Observation | null> => {
    const endedAt = clock.monotonicSeconds();
    stop.abort(new Error('the window is over'));
    await sampling;
    const [end, throttlingEnd] = await Promise.all([
      readSettled(source.usage, names, isAnotherReading, settle(SETTLE_SECONDS)),
      readThrottling(),
    ]);
    const durationSeconds = Math.max(0.001, endedAt - startedAt);
    const used = names.map((name) => cpuBetween(begin.values, end.values, name));
    if (!begin.settled || !end.settled || used.includes(null)) return null;
    const throttled = names.map((name) =>
      throttlingBegin?.settled && throttlingEnd?.settled
        ? throttledBetween(throttlingBegin.values, throttlingEnd.values, name)
        : null,
    );
    const cpuSeconds = sum(used.map((value) => value ?? 0));
    const kept = distinct(
      samples.map(({ at, readings }) => ({ atSeconds: at - startedAt, readings })),
      pods,
    );
    const memory = [...kept.slice(1), { readings: end.values }].flatMap(
      ({ readings }) => memoryOf(readings, pods) ?? [],
    );
    const processes = names.map((name) => end.values.get(name)?.processes ?? 1);
    instances = pods.map(({ name, node }, index) => ({
      name,
      node,
      queries: null,
      cpuSeconds: used[index] ?? null,
      cpuCores: (used[index] ?? 0) / durationSeconds,
      memoryBytes: end.values.get(name)?.memoryBytes ?? null,
      throttledSeconds: throttled[index]?.throttledSeconds ?? null,
    }));
    const known = throttled.flatMap((value) => value ?? []);
    return {
      cpuSource: 'kubelet-summary',
      durationSeconds,
      cpuSeconds,
      cpuCores: cpuSeconds / durationSeconds,
      memoryBytes:
        memory.length === 0
          ? null
          : { mean: sum(memory) / memory.length, max: Math.max(...memory), source: 'working-set' },
      throttling:
        known.length < names.length
          ? null
          : {
              periods: sum(known.map(({ periods }) => periods)),
              throttledPeriods: sum(known.map(({ throttledPeriods }) => throttledPeriods)),
              throttledSeconds: sum(known.map(({ throttledSeconds }) => throttledSeconds)),
            },
      processes: sum(processes),
      sampleIntervalSeconds: meanInterval(kept) ?? durationSeconds,
      samples: series(kept, pods),
    };
  };
  let ended: Promise<Observation | null> | undefined;
  return {
    started: () => {
      startedAt = clock.monotonicSeconds();
    },
    end: () => {
      ended ??= finish();
      return ended;
    },
    instances: () => instances,
  };
}

/** How often the kubelet really looked. */
function meanInterval(samples: readonly Sample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || samples.length < 2) return null;
  return (last.atSeconds - first.atSeconds) / (samples.length - 1);
}
