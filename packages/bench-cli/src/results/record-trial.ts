/** A trial: how it was made, what it measured, or why it failed. */
import { z } from 'zod';
import { instanceObservationSchema, loadResultSchema, observationSchema } from './record-load.ts';
import { lossesSchema } from './record-losses.ts';
import { duetSchema, neighbourSecondSchema } from './record-slices.ts';
import { bytes, count, limitedBySchema, ratio, seconds, timestamp } from './record-units.ts';

export const instanceSchema = z.object({
  address: z.string(),
  port: z.number().int().min(1).max(65535),
  pid: z.number().int().nullable(),
  /** Threads or worker processes that answer queries, where the server reports it or was told. */
  workers: z.number().int().positive().nullable(),
  command: z.array(z.string()),
  /** CPU allowance of this instance, in cores. */
  cpuAllowance: z.number().positive(),
  /** On a cluster: the instance's pod, the pod's node, and the image as the node resolved it. */
  pod: z.string().optional(),
  node: z.string().optional(),
  image: z.string().optional(),
});
export type InstanceRecord = z.output<typeof instanceSchema>;

export const failureSchema = z.object({
  code: z.string(),
  message: z.string(),
  fix: z.string(),
  evidence: z.array(z.string()),
});

/** Figures of one trial that summaries and comparisons are made of. */
export const trialMetricsSchema = z.object({
  qps: z.number().nonnegative(),
  latencySeconds: seconds.nullable(),
  /** Lost ÷ sent. */
  lostRatio: ratio,
  /** Server CPU ÷ completed queries. Null without an observation. */
  cpuSecondsPerQuery: seconds.nullable(),
  /** Of the server, while queries were sent. */
  cpuCores: z.number().nonnegative().nullable(),
  memoryBytes: bytes.nullable(),
  throttledSeconds: seconds.nullable(),
  /** Of the lookups, where the workload is made of them. */
  lookupsPerSecond: z.number().nonnegative().nullable().default(null),
  lookupLatencySeconds: seconds.nullable().default(null),
});
export type TrialMetrics = z.output<typeof trialMetricsSchema>;

/** Whether the throughput of a trial settled, and when. */
export const steadyStateSchema = z.object({
  settled: z.boolean(),
  /** From the beginning of the measurement; 0 if it was steady throughout, null if it never was. */
  settledAfterSeconds: seconds.nullable(),
  /** What was seen, in words: "throughput rose by 12 % within the trial". */
  reason: z.string(),
});
export type SteadyState = z.output<typeof steadyStateSchema>;

/** How `--objective max-rate` found the rate that the trial was then measured at. */
export const maxRateSchema = z.object({
  /** The highest rate that was sustained, queries per second over all loaders. */
  rate: z.number().positive(),
  /** Whether the search ended because the loaders could send no more: the server may do more. */
  generatorLimited: z.boolean(),
  /** The limits of an attempt; null: no limit. */
  maxLostRatio: z.number().min(0).max(1),
  maxP99Seconds: seconds.nullable(),
  /** In the order in which they were made. */
  attempts: z.array(
    z.object({
      rate: z.number().positive(),
      sustained: z.boolean(),
      generatorLimited: z.boolean(),
      lostRatio: z.number().min(0).max(1),
      p99Seconds: seconds.nullable(),
    }),
  ),
});
export type MaxRate = z.output<typeof maxRateSchema>;

/** Several loaders at once. Times are seconds since all were let go, by one clock. */
export const severalLoadersSchema = z.object({
  /** Share of the duration in which all of them sent; null if that is not known. */
  overlap: ratio.nullable(),
  each: z.array(
    z.object({
      /** The first query, and the last answer or the end of sending. */
      startSeconds: z.number().nullable(),
      endSeconds: z.number().nullable(),
      cpuSeconds: seconds.nullable(),
      cpuCores: z.number().nonnegative().nullable(),
      /** Whether it reports that it could not send more; null where it cannot tell. */
      wasTheLimit: z.boolean().nullable(),
      /** On a cluster. */
      node: z.string().optional(),
      /**
       * How far the clock of its machine is ahead of the clock of the times above, wrong by half of the round trip at most, which is
       * that of the quickest of some messages.
       */
      clock: z.object({ offsetSeconds: z.number(), roundTripSeconds: seconds }).optional(),
    }),
  ),
});

const trialBase = {
  /** `<case key>#<round>`; the key by which a run resumes. */
  key: z.string(),
  caseKey: z.string(),
  /** Trials of the same round are paired in comparisons. Counted from 0. */
  round: count,
  /** Position in the order of the whole run, from 0. */
  order: count,
  startedAt: timestamp,
  endedAt: timestamp,
  instances: z.array(instanceSchema),
  /** The commands of the loaders as they ran, one for each instance. */
  loaderCommands: z.array(z.array(z.string())),
};

/** Events in user space and in the kernel. */
const eventsSchema = z.object({ user: z.number().nonnegative(), kernel: z.number().nonnegative() });

/** What the CPUs counted in the threads of the server during the load. */
export const countersSchema = z.object({
  instructions: eventsSchema,
  cycles: eventsSchema,
  cacheMisses: eventsSchema,
});
export type Counters = z.output<typeof countersSchema>;

export const okTrialSchema = z.object({
  ...trialBase,
  status: z.literal('ok'),
  /** Distinct queries asked and checked before the trial counted, over all instances. */
  checkedAnswers: count,
  /** All loaders merged: counts and rates added, latency weighted by completed queries. */
  load: loadResultSchema,
  /** One for each loader: one for each instance, or with `--loaders` several. A single one has its histograms in `load` only. */
  loads: z.array(loadResultSchema),
  server: observationSchema.nullable(),
  loader: observationSchema.nullable(),
  /** On a cluster: the nodes on which the loaders ran, as many as `loads`. */
  loaderNodes: z.array(z.string()).optional(),
  /** Only with `--loaders`: what each did, in the order of `loads`. */
  loaders: severalLoadersSchema.optional(),
  /** Each instance separately; null where only their sum was observed. */
  instanceObservations: z.array(instanceObservationSchema).nullable(),
  metrics: trialMetricsSchema,
  limitedBy: limitedBySchema,
  /** Whether throughput had settled; null where the trial is too short to tell or was not examined. */
  steadyState: steadyStateSchema.nullable(),
  /** Where lost queries were lost. Absent where none was lost, over other transports than UDP, and in older records. */
  losses: lossesSchema.optional(),
  /** Only with `--objective max-rate`. */
  maxRate: maxRateSchema.optional(),
  /**
   * The rest of the machine in each second of the load; absent from a duet, whose slices have it, on a cluster, and where it
   * could not be read.
   */
  neighbours: z.array(neighbourSecondSchema).optional(),
  /** Absent where the machine has no counters (see `environment.hardwareCounters`) and on a cluster. */
  counters: countersSchema.optional(),
  /** Only with `--duet`. */
  duet: duetSchema.optional(),
});
export const failedTrialSchema = z.object({
  ...trialBase,
  status: z.literal('failed'),
  failure: failureSchema,
});
export const trialSchema = z.discriminatedUnion('status', [okTrialSchema, failedTrialSchema]);
export type OkTrial = z.output<typeof okTrialSchema>;
export type FailedTrial = z.output<typeof failedTrialSchema>;
export type Trial = z.output<typeof trialSchema>;
