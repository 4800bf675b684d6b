/** The results of several loaders, one per instance, merged as if from one: what a load-balancing Service would show. */
import { decodeHistogram } from '@dinodns-bench/load';
import { mergedLatencyDetail } from '../loaders/builtin/result.ts';
import type { LoadOutcome } from '../loaders/loader.ts';
import type { LoadResult, LookupResult } from '../results/record.ts';
import { mean, sum } from '../stats/intervals.ts';
import { usualLength } from '../stats/steady-state.ts';

type Latency = NonNullable<LoadResult['latencySeconds']>;
type Times = Pick<Latency, 'mean' | 'min' | 'max'>;

interface Timed<T extends Times> {
  readonly latency: T;
  /** How many were timed. */
  readonly n: number;
}

/** The mean of `value` weighted by `weight`, over the results that have both; null if none has. */
function weightedMean(
  results: readonly LoadResult[],
  value: (result: LoadResult) => number | null,
  weight: (result: LoadResult) => number,
): number | null {
  const parts = results.flatMap((result) => {
    const v = value(result);
    return v === null ? [] : [{ v, w: weight(result) }];
  });
  const total = sum(parts.map(({ w }) => w));
  return total === 0 ? null : sum(parts.map(({ v, w }) => v * w)) / total;
}

/** Parts without times are left out. */
function timed<T extends Times>(latency: T | null, n: number): Timed<T>[] {
  return latency === null ? [] : [{ latency, n }];
}

/** Of the union of the samples; null if there are none. */
function mergeTimes(parts: readonly Timed<Times>[]): Times | null {
  const n = sum(parts.map((part) => part.n));
  if (n === 0) return null;
  return {
    mean: sum(parts.map((part) => part.latency.mean * part.n)) / n,
    min: Math.min(...parts.map((part) => part.latency.min)),
    max: Math.max(...parts.map((part) => part.latency.max)),
  };
}

/** Mean and standard deviation of the union of the samples; both follow exactly from those of the parts. */
function mergeLatency(results: readonly LoadResult[]): Latency | null {
  const parts = results.flatMap((result) => timed(result.latencySeconds, result.queriesCompleted));
  const times = mergeTimes(parts);
  if (times === null) return null;
  const { mean } = times;
  const n = sum(parts.map((part) => part.n));
  const complete = parts.every((part) => part.latency.standardDeviation !== null);
  const squares = sum(
    parts.map(({ latency, n: size }) => {
      const deviation = latency.standardDeviation ?? 0;
      return Math.max(0, size - 1) * deviation ** 2 + size * (latency.mean - mean) ** 2;
    }),
  );
  return {
    ...times,
    standardDeviation: complete && n > 1 ? Math.sqrt(squares / (n - 1)) : null,
  };
}

function mergeResponseCodes(results: readonly LoadResult[]): Record<string, number> {
  const codes: Record<string, number> = {};
  for (const result of results) {
    for (const [code, count] of Object.entries(result.responseCodes))
      codes[code] = (codes[code] ?? 0) + count;
  }
  return codes;
}

/**
 * Each interval of the merged series is the sum of those that ended together, where all loaders have one. Not of the n-th ones: that of a
 * stall can take the place of two, and dnsperf's first can be missing.
 */
function mergeIntervals(results: readonly LoadResult[]): LoadResult['intervals'] {
  const [first = [], ...others] = results.map((result) => result.intervals);
  const half = usualLength(first) / 2;
  return first.flatMap((interval) => {
    const distanceOf = ({ atSeconds }: { readonly atSeconds: number }) =>
      Math.abs(atSeconds - interval.atSeconds);
    const nearest = others.flatMap(
      (intervals) => intervals.toSorted((a, b) => distanceOf(a) - distanceOf(b))[0] ?? [],
    );
    const parts = [interval, ...nearest.filter((other) => distanceOf(other) < half)];
    if (parts.length < results.length) return [];
    return [
      {
        atSeconds: mean(parts.map(({ atSeconds }) => atSeconds)),
        qps: sum(parts.map(({ qps }) => qps)),
      },
    ];
  });
}

function mergeConnections(results: readonly LoadResult[]): LoadResult['connections'] {
  const parts = results.flatMap((result) => result.connections ?? []);
  if (parts.length === 0) return null;
  return {
    count: sum(parts.map((part) => part.count)),
    reconnections: sum(parts.map((part) => part.reconnections)),
    latencySeconds: mergeTimes(parts.flatMap(({ latencySeconds, count }) => timed(latencySeconds, count))),
  };
}

function mergeLookups(parts: readonly LookupResult[]): LookupResult | null {
  if (parts.length === 0) return null;
  // A lookup that ended with a lost query has no latency.
  const ended = ({ hdrHistogram }: LookupResult) =>
    hdrHistogram === null ? 0 : decodeHistogram(hdrHistogram).total;
  const { latencyPercentiles, hdrHistogram } = mergedLatencyDetail(parts.map((part) => part.hdrHistogram));
  return {
    count: sum(parts.map((part) => part.count)),
    found: sum(parts.map((part) => part.found)),
    failed: sum(parts.map((part) => part.failed)),
    perSecond: sum(parts.map((part) => part.perSecond)),
    latencySeconds: mergeTimes(parts.flatMap((part) => timed(part.latencySeconds, ended(part)))),
    latencyPercentiles,
    hdrHistogram,
  };
}

/**
 * Counts and rates are added; latency is merged over all completed queries.
 * @throws if `results` is empty.
 */
export function mergeLoads(results: readonly LoadResult[]): LoadResult {
  const [first] = results;
  if (first === undefined) throw new Error('mergeLoads: no results');
  if (results.length === 1) return first;
  return {
    queriesSent: sum(results.map((result) => result.queriesSent)),
    queriesCompleted: sum(results.map((result) => result.queriesCompleted)),
    queriesLost: sum(results.map((result) => result.queriesLost)),
    queriesInterrupted: sum(results.map((result) => result.queriesInterrupted)),
    responseCodes: mergeResponseCodes(results),
    averageRequestBytes: weightedMean(
      results,
      (r) => r.averageRequestBytes,
      (r) => r.queriesSent,
    ),
    averageResponseBytes: weightedMean(
      results,
      (r) => r.averageResponseBytes,
      (r) => r.queriesCompleted,
    ),
    runTimeSeconds: Math.max(...results.map((result) => result.runTimeSeconds)),
    qps: sum(results.map((result) => result.qps)),
    latencySeconds: mergeLatency(results),
    connections: mergeConnections(results),
    intervals: mergeIntervals(results),
    // dnsperf's bins need not be the same in all loads, and no reader needs them merged; each load keeps its own.
    ...mergedLatencyDetail(results.map(({ hdrHistogram }) => hdrHistogram)),
    lookups: mergeLookups(results.flatMap(({ lookups }) => lookups ?? [])),
  };
}

/**
 * The loads of loaders that waited for each other, over all the time in which one of them sent. Without a rate, one that begins or ends
 * alone has the whole server for that time, so that the sum of their rates is more than the server answers: then the rate is over that
 * time, too.
 * @param ratePerSecond What all of them were asked for; null for no rate.
 */
export function mergeTogether(
  outcomes: readonly Pick<LoadOutcome, 'result' | 'window'>[],
  ratePerSecond: number | null,
): LoadResult {
  const merged = mergeLoads(outcomes.map(({ result }) => result));
  const windows = outcomes.flatMap(({ window }) => window ?? []);
  if (outcomes.length === 1 || windows.length < outcomes.length) return merged;
  const start = Math.min(...windows.map(({ startSeconds }) => startSeconds));
  const end = Math.max(...windows.map(({ endSeconds }) => endSeconds));
  const runTimeSeconds = end - start;
  const qps = ratePerSecond === null ? merged.queriesCompleted / runTimeSeconds : merged.qps;
  return { ...merged, runTimeSeconds, qps };
}

/**
 * The loads as a trial records them beside their merged one. The histograms of a single load are those of the merged one: they
 * are most of a record, and not kept twice.
 */
export function recordedLoads(loads: readonly LoadResult[]): LoadResult[] {
  const [only, ...others] = loads;
  if (only === undefined || others.length > 0) return [...loads];
  const { lookups } = only;
  return [
    {
      ...only,
      latencyHistogram: null,
      hdrHistogram: null,
      lookups: lookups === null ? null : { ...lookups, hdrHistogram: null },
    },
  ];
}
