/** The sum of simultaneous observations of several groups. Pure. */
import { addThrottling } from '../observe/group.ts';
import type { Observation } from '../results/record.ts';
import { sum } from '../stats/intervals.ts';

/** Null if nothing was observed, or if a part is missing: a partial sum is worse than none. */
export function addObservations(observations: readonly (Observation | null)[]): Observation | null {
  const parts = observations.filter((observation) => observation !== null);
  const [first] = parts;
  if (first === undefined || parts.length !== observations.length) return null;
  if (parts.length === 1) return first;
  const memory = parts.flatMap((part) => part.memoryBytes ?? []);
  const shortest = Math.min(...parts.map((part) => part.samples.length));
  return {
    cpuSource: parts.every((part) => part.cpuSource === first.cpuSource) ? first.cpuSource : 'proc',
    durationSeconds: Math.max(...parts.map((part) => part.durationSeconds)),
    cpuSeconds: sum(parts.map((part) => part.cpuSeconds)),
    cpuCores: sum(parts.map((part) => part.cpuCores)),
    memoryBytes:
      memory.length < parts.length
        ? null
        : {
            mean: sum(memory.map(({ mean }) => mean)),
            // The maxima are from different times, so their sum is an upper bound.
            max: sum(memory.map(({ max }) => max)),
            source: memory.every(({ source }) => source === 'pss') ? 'pss' : 'rss',
          },
    throttling: addThrottling(parts.map(({ throttling }) => throttling)),
    processes: sum(parts.map((part) => part.processes)),
    sampleIntervalSeconds: first.sampleIntervalSeconds,
    samples: Array.from({ length: shortest }, (_, index) => {
      const samples = parts.flatMap((part) => part.samples[index] ?? []);
      const bytes = samples.flatMap((sample) => sample.memoryBytes ?? []);
      return {
        atSeconds: sum(samples.map(({ atSeconds }) => atSeconds)) / samples.length,
        cpuCores: sum(samples.map(({ cpuCores }) => cpuCores)),
        memoryBytes: bytes.length < samples.length ? null : sum(bytes),
      };
    }),
  };
}
