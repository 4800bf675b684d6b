/** What a trial of `bench capacity propagation` leaves in the record. Base units, nothing rounded. */
import { z } from 'zod';
import type { EngineRecord } from '../../../engine/record.ts';
import { count, seconds } from '../../../results/record-units.ts';
import type { PropagationSettings } from './settings.ts';

export const propagationEvidenceSchema = z.object({
  /**
   * Of each Service that resolved, to the arrival of the first right answer: from its event in the API server; on a cluster,
   * from the moment at which its creation was sent to the API server.
   */
  delaysSeconds: z.array(seconds),
  /** Of each: by how much less it may have been, because nobody asked earlier. */
  resolutionsSeconds: z.array(seconds),
  /** On a cluster, of each: from then until the API server had confirmed it, which may be later than the answer. */
  creationSeconds: z.array(seconds).optional(),
  /** Services without a right answer when the time was over. */
  unresolved: count,
  /** Queries that were sent, for all of them. */
  queries: count,
  /** What the API server really changed a second, without the measured Services. */
  heldChurnPerSecond: z.number().nonnegative(),
});
export type PropagationEvidence = z.output<typeof propagationEvidenceSchema>;
export type PropagationRecord = EngineRecord<PropagationEvidence, PropagationSettings>;
