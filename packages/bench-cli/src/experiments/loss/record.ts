/** The record of a loss run. Everything in base units, nothing rounded. */
import { z } from 'zod';
import {
  deltaSchema,
  lossesSchema,
  modeSchema,
  provisionedToolSchema,
  serverRecordSchema,
  summaryStatisticSchema,
} from '../../results/record.ts';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { count, ratio, seconds, timestamp } from '../../results/record-units.ts';

const rate = z.number().nonnegative();

/** One rate, tried for a while. */
export const probeSchema = z.object({
  /** Queries per second asked for, and sent. */
  rate,
  sentRate: rate,
  queriesSent: count,
  queriesLost: count,
  /** Lost ÷ sent. */
  lostRatio: ratio,
  /** Answers with a response code that the workload does not predict, such as SERVFAIL. */
  unexpectedAnswers: count,
  /** Queries per second that were answered, without those answers. */
  goodput: rate,
  /** Of answered queries, from when they were due; null without an answer. */
  p50Seconds: seconds.nullable(),
  p99Seconds: seconds.nullable(),
  /** CPUs that the server used over the time of the load; null where that was not observed. */
  cpuCores: z.number().nonnegative().nullable(),
  /** Whether the load generator could not send so much, or lost most of the answers itself. */
  generatorLimited: z.boolean(),
  /** Where the lost queries were lost; null where none was. */
  losses: lossesSchema.nullable(),
});
export type Probe = z.output<typeof probeSchema>;

export const bandSchema = z.object({
  maxLostRatio: ratio,
  /** The highest rate that lost no more; 0 if none did. */
  rate,
  generatorLimited: z.boolean(),
});

/** After an overload, at half of the limit. */
export const recoverySchema = z.object({
  rate,
  /** Of the queries sent in the second after the overload (from 0.05 s on). */
  lostRatioInFirstSecond: ratio,
  /** Until no twentieth of a second lost more than 1 %; null if it did so to the end. */
  seconds: seconds.nullable(),
});
export type Recovery = z.output<typeof recoverySchema>;

const repetitionBase = {
  case: z.string(),
  round: count,
  order: count,
  startedAt: timestamp,
  endedAt: timestamp,
};
export const repetitionSchema = z.discriminatedUnion('status', [
  z.object({
    ...repetitionBase,
    status: z.literal('ok'),
    bands: z.array(bandSchema),
    /** The highest rate of the widest band: what the overload is a multiple of. */
    limit: rate,
    /** In the order in which they were tried: the search, then below and beyond the limit. */
    probes: z.array(probeSchema),
    /** Null where the load generator could not send the overload. */
    recovery: recoverySchema.nullable(),
  }),
  z.object({
    ...repetitionBase,
    status: z.literal('failed'),
    failure: z.object({
      code: z.string(),
      message: z.string(),
      fix: z.string(),
      evidence: z.array(z.string()),
    }),
  }),
]);
export type Repetition = z.output<typeof repetitionSchema>;
export type OkRepetition = Extract<Repetition, { readonly status: 'ok' }>;

export const lossCaseSchema = z.object({
  key: z.string(),
  server: z.string(),
  tier: z.number().positive(),
  mode: modeSchema,
  workload: z.string(),
  contended: z.boolean(),
});
export type LossCase = z.output<typeof lossCaseSchema>;

/** A case over its repetitions. */
export const lossResultSchema = z.object({
  case: z.string(),
  repetitions: count,
  failed: count,
  bands: z.array(
    z.object({
      maxLostRatio: ratio,
      /** Null without a repetition. */
      rate: summaryStatisticSchema.nullable(),
      /** Repetitions in which the load generator was the limit: the server may do more. */
      generatorLimited: count,
      /**
       * Against the baseline of the same tier, mode and workload; null for the baseline itself, and where lower bounds leave
       * it open.
       */
      comparison: deltaSchema.nullable(),
    }),
  ),
  limit: summaryStatisticSchema.nullable(),
  /** At multiples of the limit: below it, at it, and beyond. */
  beyond: z.array(
    z.object({
      multiple: z.number().positive(),
      goodput: summaryStatisticSchema,
      /** Goodput ÷ limit. */
      share: summaryStatisticSchema,
      lostRatio: summaryStatisticSchema,
      p99Seconds: summaryStatisticSchema.nullable(),
      /** CPUs that the server used; null where that was not observed, absent from records before it was summed up. */
      cpuCores: summaryStatisticSchema.nullable().optional(),
      generatorLimited: count,
    }),
  ),
  recovery: z
    .object({
      lostRatioInFirstSecond: summaryStatisticSchema,
      /** Of the repetitions that recovered; null if none did. */
      seconds: summaryStatisticSchema.nullable(),
      recovered: count,
      n: count,
    })
    .nullable(),
  /** Of all probes. */
  queriesSent: count,
  losses: lossesSchema.nullable(),
});
export type LossResult = z.output<typeof lossResultSchema>;

export const LOSS_SCHEMA_VERSION = 1;

export const lossRecordSchema = z.object({
  ...envelope('loss', LOSS_SCHEMA_VERSION),
  settings: z.object({
    bands: z.array(ratio),
    precision: ratio,
    overload: z.number().positive(),
    probeSeconds: seconds,
    timeoutSeconds: seconds,
    repetitions: count,
  }),
  configuration: z.record(z.string(), z.unknown()),
  baseline: z.string(),
  loader: z.object({ kind: z.string(), version: z.string() }),
  cpuLimits: z.string(),
  serverRecords: z.array(serverRecordSchema),
  provisioned: z.array(provisionedToolSchema),
  cases: z.array(lossCaseSchema),
  repetitions: z.array(repetitionSchema),
  results: z.array(lossResultSchema),
});
export type LossRecord = z.output<typeof lossRecordSchema>;

export const lossKind: RecordKind<LossRecord> = {
  experiment: 'loss',
  schemaVersion: LOSS_SCHEMA_VERSION,
  schema: lossRecordSchema,
  migrations: [],
  schemaFile: 'loss.schema.json',
  title: 'Record of a loss run of dinodns-bench (run.json)',
};
