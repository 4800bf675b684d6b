/** What a trial of `bench capacity propagation` leaves in the record, and its loads. Base units, nothing rounded. Pure. */
import { z } from 'zod';
import type { EngineRecord } from '../../../engine/record.ts';
import { formatCount, formatShort } from '../../../report/numbers.ts';
import { count, seconds } from '../../../results/record-units.ts';
import { sum } from '../../../stats/intervals.ts';
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

/** A Service that was asked for. */
export interface Observed {
  /** Null for one that did not resolve in time; then the resolution is missing. */
  readonly delaySeconds: number | null;
  readonly resolutionSeconds?: number | undefined;
  readonly queries: number;
}

export const hasResolved = ({ delaySeconds }: Observed) => delaySeconds !== null;

export function evidenceOf(services: readonly Observed[], heldChurnPerSecond: number): PropagationEvidence {
  const resolved = services.filter(hasResolved);
  return {
    delaysSeconds: resolved.map(({ delaySeconds }) => delaySeconds ?? 0),
    resolutionsSeconds: resolved.map(({ resolutionSeconds = 0 }) => resolutionSeconds),
    unresolved: services.length - resolved.length,
    queries: sum(services.map(({ queries }) => queries)),
    heldChurnPerSecond,
  };
}

/** What is compared. */
export interface Load {
  /** Pods and services that CoreDNS has read. */
  readonly objects: number;
  /** Services created and deleted a second, together, besides those that are measured. */
  readonly churn: number;
}

/** Name of a subject: `158200/churn=10`. */
export const loadName = ({ objects, churn }: Load) => `${objects}/churn=${churn}`;

export function loadOf(subject: string): Load {
  const [objects, churn] = subject.split('/churn=').map(Number);
  return { objects: objects ?? 0, churn: churn ?? 0 };
}

export const objectsText = (objects: number) => `${formatCount(objects)} objects`;

/** `10 changes/s`, `0.5 changes/s` */
export const changesText = (perSecond: number) =>
  `${Number.isInteger(perSecond) ? formatCount(perSecond) : formatShort(perSecond)} changes/s`;
