/** What clients lost under a steady load in which something happened, from what the load generator tells. Pure. */

import { decodeHistogram, Histogram, type SocketReport } from '@dinodns-bench/load';
import { rcodeNumber } from '@dinodns-bench/wire';
import { z } from 'zod';
import { type DetailedInterval, type LoadDetail, SHORTEST_INTERVAL_SECONDS } from '../loaders/loader.ts';
import type { LoadResult } from '../results/record.ts';
import { count, seconds } from '../results/record-units.ts';
import { median } from '../stats/intervals.ts';
import { percentileIn } from '../stats/percentile.ts';
import { unexpectedIn } from './response-codes.ts';

/** Of the timeline in the record. */
export const BUCKET_SECONDS = 0.1;

/** What a stub resolver's time-out makes of a late answer: 5 s in glibc and Go, 1 and 2 s where somebody has set them. */
export const LATE_SECONDS = [1, 2, 5] as const;

/** A report that is late by less belongs to the interval before. */
const JITTER_SECONDS = SHORTEST_INTERVAL_SECONDS / 2;

/** All is as before when no query waits this long: far more than any server takes, far less than a resolver's time-out. */
const SLOW_SECONDS = 0.25;

/** What the load generator has to tell. Of sockets that are used once, the queries say all. `expected` as in `DisturbedLoad`. */
export function lossDetail(areReused: boolean, expected: ReadonlySet<string> | null): LoadDetail {
  // A socket may be asked for names of one kind only, such as those that are refused: each answer that the names predict is good.
  const codes = expected === null ? null : [...expected].flatMap((name) => rcodeNumber(name) ?? []);
  return {
    intervalSeconds: SHORTEST_INTERVAL_SECONDS,
    ...(areReused ? { sockets: { gapSeconds: SLOW_SECONDS, codes } } : {}),
  };
}

/** A load, and when something happened in it. */
export interface DisturbedLoad {
  readonly load: LoadResult;
  readonly timeline: readonly DetailedInterval[];
  readonly sockets: readonly SocketReport[];
  /** Since the first query. */
  readonly fault: { readonly begin: number; readonly end: number };
  /** Null: all codes. */
  readonly expected: ReadonlySet<string> | null;
  readonly durationSeconds: number;
  readonly timeoutSeconds: number;
}

const bucketSchema = z.object({
  /** Answers without an error that came in this tenth of a second. */
  answered: count,
  /** Answers that came in it with response codes that the names do not predict. */
  errors: count,
  /** Queries that were sent in it and lost. */
  lost: count,
  /** ICMP errors that came in it, such as that nothing listens; absent for none. */
  refused: count.optional(),
});

type Bucket = z.output<typeof bucketSchema>;

/** In a record. */
export const clientLossesSchema = z.object({
  /** Since the first query; of a control, when it would have been. */
  fault: z.object({ begin: seconds, end: seconds }),
  queriesSent: count,
  queriesLost: count,
  /** Of all answers. */
  responseCodes: z.record(z.string(), count),
  /** Answers with response codes that the names do not predict, such as SERVFAIL. */
  errors: count,
  /** Answers that took longer than 1, 2 and 5 seconds. */
  late: z.array(count).length(LATE_SECONDS.length),
  /** The longest time without an answer without an error, while queries were sent. */
  longestGapSeconds: seconds,
  /** From the fault's begin until nothing was lost, wrong or slow any more; null if something was to the end, or the fault lasted longer. */
  recoveredSeconds: seconds.nullable(),
  /** Of answered queries, from when they were due; null without an answer. */
  p50Seconds: seconds.nullable(),
  p99Seconds: seconds.nullable(),
  /** Absent of sockets that are used once. */
  sockets: z
    .object({
      count,
      /** That lost a query. */
      losing: count,
      /** The longest time from a query of one socket, the first after an answer to it that was as expected, to the next such answer. */
      longestGapSeconds: seconds,
      /** Those times of at least 0.25 s, and when lost queries were sent, at most one in 0.25 s; from the first query. Absent for many. */
      each: z
        .array(
          z.object({
            gaps: z.array(z.object({ fromSeconds: seconds, toSeconds: seconds })).readonly(),
            lostAtSeconds: z.array(seconds).readonly(),
          }),
        )
        .optional(),
    })
    .optional(),
  /** In tenths of a second, from the first query. */
  timeline: z.array(bucketSchema),
});
export type ClientLosses = z.output<typeof clientLossesSchema>;

function bucketsOf({ timeline, expected, timeoutSeconds }: DisturbedLoad): Bucket[] {
  const buckets: Bucket[] = [];
  const bucketAt = (atSeconds: number): Bucket => {
    const index = Math.max(0, Math.floor((atSeconds - JITTER_SECONDS) / BUCKET_SECONDS));
    while (buckets.length <= index) buckets.push({ answered: 0, errors: 0, lost: 0 });
    return buckets[index] ?? { answered: 0, errors: 0, lost: 0 };
  };
  for (const { atSeconds, answered, lost, refused, codes } of timeline) {
    const errors = unexpectedIn(codes, expected);
    if (answered > 0) {
      const bucket = bucketAt(atSeconds);
      bucket.answered += answered - errors;
      bucket.errors += errors;
    }
    if (lost > 0) bucketAt(atSeconds - timeoutSeconds).lost += lost;
    if (refused > 0) {
      const bucket = bucketAt(atSeconds);
      bucket.refused = (bucket.refused ?? 0) + refused;
    }
  }
  return buckets;
}

/** Gaps are longer than an interval, so they lie between intervals with answers, or at the ends. */
function longestGap({ timeline, durationSeconds }: DisturbedLoad): number {
  let [last, longest] = [0, 0];
  for (const { goodSeconds } of timeline) {
    if (goodSeconds === null) continue;
    longest = Math.max(longest, Math.min(goodSeconds.first, durationSeconds) - last);
    last = Math.min(goodSeconds.last, durationSeconds);
  }
  return Math.max(longest, durationSeconds - last);
}

function recoveredAfter({
  timeline,
  fault,
  expected,
  durationSeconds,
  timeoutSeconds,
}: DisturbedLoad): number | null {
  // What it would have done to later queries is not known.
  if (fault.end >= durationSeconds) return null;
  const times = timeline.flatMap(({ atSeconds, lost, codes, slowestSeconds }) => [
    ...(lost > 0 ? [atSeconds - timeoutSeconds] : []),
    ...(unexpectedIn(codes, expected) > 0 || (slowestSeconds ?? 0) > SLOW_SECONDS ? [atSeconds] : []),
  ]);
  const last = Math.max(fault.begin, ...times);
  return last > durationSeconds - 2 * BUCKET_SECONDS ? null : last - fault.begin;
}

/** Each has a line in the picture of a trial; more would be none. */
const MAX_LINES = 20;

function socketsOf({ sockets }: DisturbedLoad) {
  if (sockets.length === 0) return {};
  const found = {
    count: sockets.length,
    losing: sockets.filter(({ lost }) => lost > 0).length,
    longestGapSeconds: Math.max(...sockets.map(({ longestGapSeconds }) => longestGapSeconds)),
  };
  const each = sockets.map(({ gaps, lostAtSeconds }) => ({ gaps, lostAtSeconds }));
  return { sockets: sockets.length > MAX_LINES ? found : { ...found, each } };
}

function lateOf({ hdrHistogram }: LoadResult): number[] {
  const histogram = hdrHistogram === null ? null : Histogram.of(decodeHistogram(hdrHistogram));
  return LATE_SECONDS.map((limit) => histogram?.countAbove(limit * 1e9) ?? 0);
}

/** Base units, nothing rounded. */
export function clientLosses(of: DisturbedLoad): ClientLosses {
  const { load, fault, expected } = of;
  return {
    fault,
    queriesSent: load.queriesSent,
    queriesLost: load.queriesLost,
    responseCodes: load.responseCodes,
    errors: unexpectedIn(load.responseCodes, expected),
    late: lateOf(load),
    longestGapSeconds: longestGap(of),
    recoveredSeconds: recoveredAfter(of),
    p50Seconds: percentileIn(load.latencyPercentiles, 50),
    p99Seconds: percentileIn(load.latencyPercentiles, 99),
    timeline: bucketsOf(of),
    ...socketsOf(of),
  };
}

/** Per second, medians over loads, in tenths of a second since the fault of each began; loads begin and end at different times. */
export function alignedMedians(
  loads: readonly Pick<ClientLosses, 'timeline' | 'fault'>[],
  key: keyof Bucket,
) {
  const aligned = loads.map(({ timeline, fault }) => ({
    timeline,
    zero: Math.round(fault.begin / BUCKET_SECONDS),
  }));
  if (aligned.length === 0) return [];
  // From where all trials were under load.
  const first = -Math.min(...aligned.map(({ zero }) => zero));
  const last = Math.max(...aligned.map(({ timeline, zero }) => timeline.length - zero));
  return Array.from({ length: Math.max(0, last - first) }, (_, at) => {
    const since = first + at;
    const values = aligned.map(({ timeline, zero }) => (timeline[zero + since]?.[key] ?? 0) / BUCKET_SECONDS);
    const x = Number(((since + 0.5) * BUCKET_SECONDS).toFixed(3));
    return { x, y: median(values) };
  });
}
