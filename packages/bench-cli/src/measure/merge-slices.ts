/** One load in several slices, as if it had been without a break. Pure. */
import type { LoadOutcome } from '../loaders/loader.ts';
import { addThrottling } from '../observe/group.ts';
import type { LoadResult, Observation } from '../results/record.ts';
import { sum } from '../stats/intervals.ts';
import { addLosses } from './explain-losses.ts';
import { anyWasTheLimit } from './limiting-factor.ts';
import type { Loaded } from './measured.ts';
import { mergeLoads } from './merge-loads.ts';

/** Where each part begins, if one follows the other without a break. */
function offsetsOf(seconds: readonly number[]): number[] {
  return seconds.map((_, index) => sum(seconds.slice(0, index)));
}

/** Counts are added, rates are over the sum of the times. */
export function joinLoads(parts: readonly LoadResult[]): LoadResult {
  const merged = mergeLoads(parts);
  const runTimeSeconds = sum(parts.map((part) => part.runTimeSeconds));
  const offsets = offsetsOf(parts.map((part) => part.runTimeSeconds));
  const { lookups } = merged;
  return {
    ...merged,
    runTimeSeconds,
    qps: merged.queriesCompleted / runTimeSeconds,
    // One for each part: the loaders' own intervals are about as long.
    intervals: parts.map((part, index) => ({
      atSeconds: (offsets[index] ?? 0) + part.runTimeSeconds,
      qps: part.qps,
    })),
    lookups:
      lookups === null ? null : { ...lookups, perSecond: (lookups.found + lookups.failed) / runTimeSeconds },
  };
}

/** CPU and throttling are added; memory is the mean over the time. Null if a part is missing. */
export function joinObservations(parts: readonly (Observation | null)[]): Observation | null {
  const known = parts.filter((part) => part !== null);
  const [first] = known;
  if (first === undefined || known.length < parts.length) return null;
  const durationSeconds = sum(known.map((part) => part.durationSeconds));
  const cpuSeconds = sum(known.map((part) => part.cpuSeconds));
  const memory = known.flatMap((part) => part.memoryBytes ?? []);
  const offsets = offsetsOf(known.map((part) => part.durationSeconds));
  return {
    ...first,
    durationSeconds,
    cpuSeconds,
    cpuCores: durationSeconds > 0 ? cpuSeconds / durationSeconds : 0,
    memoryBytes:
      memory.length === 0
        ? null
        : {
            mean: sum(memory.map(({ mean }) => mean)) / memory.length,
            max: Math.max(...memory.map(({ max }) => max)),
            source: memory.every(({ source }) => source === 'pss') ? 'pss' : 'rss',
          },
    throttling: addThrottling(known.map(({ throttling }) => throttling)),
    processes: Math.max(...known.map(({ processes }) => processes)),
    samples: known.flatMap(({ samples }, index) =>
      samples.map((sample) => ({ ...sample, atSeconds: sample.atSeconds + (offsets[index] ?? 0) })),
    ),
  };
}

/** The slices of each loader joined. All slices have the same loaders. */
export function joinSlices(slices: readonly Loaded[]): Loaded {
  const loaders = Math.min(...slices.map(({ outcomes }) => outcomes.length));
  const outcomes = Array.from({ length: loaders }, (_, index): LoadOutcome => {
    const own = slices.flatMap((slice) => slice.outcomes[index] ?? []);
    return {
      result: joinLoads(own.map(({ result }) => result)),
      observation: joinObservations(own.map(({ observation }) => observation)),
      command: own[0]?.command ?? [],
      wasTheLimit: anyWasTheLimit(own),
      ...(own[0]?.node === undefined ? {} : { node: own[0].node }),
    };
  });
  const losses = slices.flatMap((slice) => slice.losses ?? []);
  return {
    outcomes,
    observation: joinObservations(slices.map(({ observation }) => observation)),
    instances: null,
    losses: losses.length === 0 ? null : addLosses(losses),
  };
}

/**
 * What was observed over a whole round, as if it had been over the slices only: a server's CPU time belongs to all queries
 * that it answered in the round, those of settling too. `queries`: how many these were.
 */
export function overSlices(
  joined: Loaded,
  { observation, instances }: Pick<Loaded, 'observation' | 'instances'>,
  queries: number,
): Loaded {
  const results = joined.outcomes.map(({ result }) => result);
  const share = queries === 0 ? 0 : sum(results.map((result) => result.queriesCompleted)) / queries;
  const durationSeconds = Math.max(0, ...results.map((result) => result.runTimeSeconds));
  const cpuOf = (cpuSeconds: number) => ({
    cpuSeconds: cpuSeconds * share,
    cpuCores: durationSeconds > 0 ? (cpuSeconds * share) / durationSeconds : 0,
  });
  return {
    ...joined,
    // Samples would be of the others' slices as well.
    observation:
      observation === null
        ? null
        : { ...observation, ...cpuOf(observation.cpuSeconds), durationSeconds, samples: [] },
    instances:
      instances?.map((instance) =>
        instance.cpuSeconds === null ? instance : { ...instance, ...cpuOf(instance.cpuSeconds) },
      ) ?? null,
  };
}
