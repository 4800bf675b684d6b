/** What is decided for a run of `bench disrupt`, and what a trial leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import type { DecidedTarget, ExperimentPlan } from '../../engine/experiment.ts';
import type { EngineRecord } from '../../engine/record.ts';
import { eventLossesSchema } from '../../measure/load-with-event.ts';
import { count, seconds } from '../../results/record-units.ts';
import type { DisruptSettings } from './settings.ts';

export const disruptEvidenceSchema = eventLossesSchema.extend({
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
});
export type DisruptEvidence = z.output<typeof disruptEvidenceSchema>;
export type DisruptRecord = EngineRecord<DisruptEvidence, DisruptSettings>;
export type DisruptPlan = ExperimentPlan<DecidedTarget<DisruptSettings, DisruptEvidence>>;
