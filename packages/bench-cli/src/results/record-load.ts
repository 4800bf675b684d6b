/** What loaders and observers measured: the raw parts of a trial. */
import { z } from 'zod';
import { bytes, count, seconds } from './record-units.ts';

/** Latencies in ascending bins: `count` queries took from `lowSeconds` (inclusive) to `highSeconds`. */
export const latencyHistogramSchema = z.array(z.object({ lowSeconds: seconds, highSeconds: seconds, count }));
export type LatencyHistogram = z.output<typeof latencyHistogramSchema>;

/** 99.9 for the latency that 99.9 % of completed queries did not exceed. */
export const percentile = z.number().min(0).max(100);

/**
 * What the applications saw where a resolver's behaviour is part of the load: a lookup is what an application asked, and one
 * or several queries.
 */
export const lookupResultSchema = z.object({
  count,
  /** Ended with an answer, or without one. */
  found: count,
  failed: count,
  /** Lookups that ended, per second of run time. */
  perSecond: z.number().nonnegative(),
  /** From the first query to the end of a lookup. Null when none ended. */
  latencySeconds: z.object({ mean: seconds, min: seconds, max: seconds }).nullable(),
  latencyPercentiles: z.array(z.object({ percentile, seconds })).nullable(),
  /** As that of the queries. */
  hdrHistogram: z.string().nullable(),
});
export type LookupResult = z.output<typeof lookupResultSchema>;

/** Result of one loader process against one endpoint, or of several merged. */
export const loadResultSchema = z.object({
  queriesSent: count,
  queriesCompleted: count,
  /** Sent, and not answered within the loader's time-out. */
  queriesLost: count,
  /** Sent, and still unanswered when the loader stopped; neither completed nor lost. */
  queriesInterrupted: count,
  /** Answers by response code, for example `{ NOERROR: 10, NXDOMAIN: 10 }`. */
  responseCodes: z.record(z.string(), count),
  averageRequestBytes: bytes.nullable(),
  averageResponseBytes: bytes.nullable(),
  /** Of several loaders, all the time in which one of them sent, where that is known; else that of the longest. */
  runTimeSeconds: seconds,
  /** Completed queries per second of run time; of several loaders with a rate, the sum of theirs. */
  qps: z.number().nonnegative(),
  /** Of completed queries only. Null when nothing was completed. */
  latencySeconds: z
    .object({ mean: seconds, min: seconds, max: seconds, standardDeviation: seconds.nullable() })
    .nullable(),
  /** TCP and TLS only. */
  connections: z
    .object({
      count,
      reconnections: count,
      latencySeconds: z.object({ mean: seconds, min: seconds, max: seconds }).nullable(),
    })
    .nullable(),
  /** Completed queries per second in intervals of a second, or less in a short load; `atSeconds` is the interval's end. */
  intervals: z.array(z.object({ atSeconds: seconds, qps: z.number().nonnegative() })),
  /** Of completed queries only, by ascending percentile; null where the loader does not give them. */
  latencyPercentiles: z.array(z.object({ percentile, seconds })).nullable(),
  /** Latencies of completed queries in bins, empty ones left out; null where the loader does not give them. */
  latencyHistogram: latencyHistogramSchema.nullable(),
  /**
   * The same in full: HdrHistogram V2, deflated, base64, nanoseconds with three significant digits, as HdrHistogram's
   * libraries read and merge it. Null where the loader does not give it.
   */
  hdrHistogram: z.string().nullable().default(null),
  /** Null where the workload is not made of lookups. */
  lookups: lookupResultSchema.nullable().default(null),
});
export type LoadResult = z.output<typeof loadResultSchema>;

/** CPU, memory and throttling of a group of processes over a window of time. */
export const observationSchema = z.object({
  /**
   * Where the CPU figure comes from: exact counters of a cgroup, /proc in steps of 10 ms, the kubelet's counters
   * (exact, read after the load's end), or rates that the metrics API averaged over some 15 seconds.
   */
  cpuSource: z.enum(['cgroup-v1', 'cgroup-v2', 'proc', 'kubelet-summary', 'metrics-api']),
  /** Length of the observed window. */
  durationSeconds: seconds,
  /** User and system time of all processes of the group within the window. */
  cpuSeconds: seconds,
  /** `cpuSeconds` ÷ `durationSeconds`: the average number of cores in use. */
  cpuCores: z.number().nonnegative(),
  /**
   * Proportional set size summed over the group's processes (RSS where PSS cannot be read); of pods the working
   * set, which holds the page cache in use as well.
   */
  memoryBytes: z
    .object({ mean: bytes, max: bytes, source: z.enum(['pss', 'rss', 'working-set']) })
    .nullable(),
  /**
   * CFS throttling within the window. Null where the kernel does not say. `throttledSeconds` is summed over CPUs and can
   * exceed the window: a share of time is `throttledPeriods` ÷ `periods`.
   */
  throttling: z.object({ periods: count, throttledPeriods: count, throttledSeconds: seconds }).nullable(),
  /** Largest number of processes seen. */
  processes: count,
  /** One sample about every `sampleIntervalSeconds`. */
  sampleIntervalSeconds: seconds,
  samples: z.array(
    z.object({ atSeconds: seconds, cpuCores: z.number().nonnegative(), memoryBytes: bytes.nullable() }),
  ),
});
export type Observation = z.output<typeof observationSchema>;

/** A container beside the DNS server in its pod. No figure of the server includes it. */
export const sidecarSchema = z.object({
  name: z.string(),
  cpuCores: z.number().nonnegative(),
  /** The working set at the end of the load, or its mean over it. */
  memoryBytes: bytes.nullable(),
});
export type Sidecar = z.output<typeof sidecarSchema>;

/** What one server instance (a process, a pod) did within a trial. Null where it was not seen by itself. */
export const instanceObservationSchema = z.object({
  /** The pod's name, or `127.0.0.1:5300` of a local process. */
  name: z.string(),
  /** The cluster's node; null for a local process. */
  node: z.string().nullable(),
  /** Queries that it answered. */
  queries: count.nullable(),
  cpuSeconds: seconds.nullable(),
  /** Between the readings that `cpuSeconds` is the difference of; null where the source does not say, absent in older records. */
  readSeconds: seconds.nullable().optional(),
  cpuCores: z.number().nonnegative().nullable(),
  memoryBytes: bytes.nullable(),
  /** Summed over CPUs, like that of the group. */
  throttledSeconds: seconds.nullable(),
  /** Absent for a local process and in older records; empty for a pod of one container. */
  sidecars: z.array(sidecarSchema).optional(),
});
export type InstanceObservation = z.output<typeof instanceObservationSchema>;
