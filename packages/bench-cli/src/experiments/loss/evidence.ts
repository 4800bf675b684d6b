/** What a trial of `bench loss` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import type { EngineRecord } from '../../engine/record.ts';
import { lossesSchema } from '../../results/record.ts';
import { count, ratio, seconds } from '../../results/record-units.ts';
import type { LossSettings } from './settings.ts';

const rate = z.number().nonnegative();

/** One rate, tried for a while. */
const probeSchema = z.object({
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

/** After an overload, at half of the limit. */
const recoverySchema = z.object({
  rate,
  /** Of the queries sent in the second after the overload (from 0.05 s on). */
  lostRatioInFirstSecond: ratio,
  /** Until no twentieth of a second lost more than 1 %; null if it did so to the end. */
  seconds: seconds.nullable(),
});
export type Recovery = z.output<typeof recoverySchema>;

export const lossEvidenceSchema = z.object({
  bands: z.array(
    z.object({
      maxLostRatio: ratio,
      /** The highest rate that lost no more, below the lowest that lost more; 0 if none did. */
      rate,
      generatorLimited: z.boolean(),
    }),
  ),
  /** The highest rate of the widest band: what the overload is a multiple of. */
  limit: rate,
  /** In the order in which they were tried: the search, then below and beyond the limit. */
  probes: z.array(probeSchema),
  /** Null where the load generator could not send the overload. */
  recovery: recoverySchema.nullable(),
});
export type LossEvidence = z.output<typeof lossEvidenceSchema>;

export type LossRecord = EngineRecord<LossEvidence, LossSettings>;
