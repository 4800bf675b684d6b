/** What a trial of `bench disrupt` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import type { EngineRecord } from '../../engine/record.ts';
import { clientLossesSchema } from '../../measure/client-losses.ts';
import { bytes, count, seconds } from '../../results/record-units.ts';
import type { DisruptSettings } from './settings.ts';

export const disruptEvidenceSchema = clientLossesSchema.extend({
  /** Good answers that were older than their TTL by more than a second; absent without an upstream, and of answers from elsewhere. */
  stale: count.optional(),
  /** Of the Service, by its EndpointSlices; absent on one machine. */
  endpoints: z
    .object({
      /** From the fault until a pod was no longer among those for new clients; null if all stayed. */
      goneSeconds: seconds.nullable(),
      /** From the fault until the ready ones changed for the last time, being as many as before; null if they were fewer or none had gone. */
      backSeconds: seconds.nullable(),
    })
    .optional(),
  /** Of the nodes that may send, with `--conntrack`: entries of the Service that a packet used in a second, at most, of one node. */
  conntrack: z
    .object({
      /** To any pod. */
      used: count,
      /** To pods that were no ready endpoints all that second. */
      stale: count,
      /** From the fault until the last of those; null if there were none. */
      lastSeconds: seconds.nullable(),
    })
    .optional(),
  /** Of the pods before the fault, one for each; absent on one machine. */
  nodes: z.array(z.string()).optional(),
  /** Of the servers together before and after the load, and the peak of one process; null where it cannot be read. */
  memory: z.object({ before: bytes, after: bytes, peak: bytes }).nullable().optional(),
  /** Whether the load generator was late with one query in a hundred by more than a millisecond, or otherwise the limit. */
  limited: z.boolean().optional(),
});
export type DisruptEvidence = z.output<typeof disruptEvidenceSchema>;
export type DisruptRecord = EngineRecord<DisruptEvidence, DisruptSettings>;
