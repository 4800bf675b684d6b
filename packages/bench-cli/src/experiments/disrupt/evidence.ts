/** What a trial of `bench disrupt` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import type { EngineRecord } from '../../engine/record.ts';
import { LATE_SECONDS } from '../../measure/client-losses.ts';
import { bytes, count, seconds } from '../../results/record-units.ts';
import type { DisruptSettings } from './settings.ts';

const bucketSchema = z.object({
  /** Answers without an error that came in this tenth of a second. */
  answered: count,
  /** Answers that came in it with response codes that the names do not predict. */
  errors: count,
  /** Queries that were sent in it and lost. */
  lost: count,
});

export const disruptEvidenceSchema = z.object({
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
  /** From the fault's begin until nothing was lost, wrong or slow any more; null if something was to the end. */
  recoveredSeconds: seconds.nullable(),
  /** Of answered queries, from when they were due; null without an answer. */
  p50Seconds: seconds.nullable(),
  p99Seconds: seconds.nullable(),
  /** Of the Service, by its EndpointSlices; absent on one machine. */
  endpoints: z
    .object({
      /** From the fault until a pod was no longer among those for new clients; null if all stayed. */
      goneSeconds: seconds.nullable(),
      /** From the fault until the ready ones changed for the last time, being as many as before; null if they were fewer or none had gone. */
      backSeconds: seconds.nullable(),
    })
    .optional(),
  /** Of the pods before the fault, one for each; absent on one machine. */
  nodes: z.array(z.string()).optional(),
  /** Of the servers together before and after the load, and the peak of one process; null where it cannot be read. */
  memory: z.object({ before: bytes, after: bytes, peak: bytes }).nullable().optional(),
  /** Whether the load generator was late with one query in a hundred by more than a millisecond, or otherwise the limit. */
  limited: z.boolean().optional(),
  /** Absent of sockets that are used once. */
  sockets: z
    .object({
      count,
      /** That lost a query. */
      losing: count,
      /** The longest time from a query of one socket, the first after a good answer to it, to its next good answer. */
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
export type DisruptEvidence = z.output<typeof disruptEvidenceSchema>;
export type DisruptRecord = EngineRecord<DisruptEvidence, DisruptSettings>;
