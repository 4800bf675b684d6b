/** What a placement leaves in the record of a swap besides figures. Base units, nothing rounded. */
import { z } from 'zod';
import type { EngineRecord } from '../../engine/record.ts';
import {
  instanceObservationSchema,
  loadResultSchema,
  observationSchema,
  severalLoadersSchema,
} from '../../results/record.ts';
import { count, seconds, timestamp } from '../../results/record-units.ts';
import type { SwapSettings } from './settings.ts';

/** A: the version that runs in the cluster; B: the one that is compared with it. */
export const SIDES = ['A', 'B'] as const;
export type Side = (typeof SIDES)[number];
/** Names of the cluster's own, and names outside of it. */
export const NAME_SETS = ['internal', 'external'] as const;
export type NameSet = (typeof NAME_SETS)[number];

const phaseSchema = z.object({
  kind: z.enum(['idle', ...NAME_SETS]),
  startedAt: timestamp,
  endedAt: timestamp,
  /** Null while idle. */
  load: loadResultSchema.nullable(),
  /** Of the DNS containers, without their sidecars; null where nothing could be observed. */
  observation: observationSchema.nullable(),
  /**
   * Between the readings of CPU at both ends, by the kubelet's clock in whole seconds: longer than the phase, and idle for the rest.
   * Null where the source does not say; absent in old records.
   */
  readSeconds: seconds.nullable().optional(),
  /** Each pod by itself; null where only their sum was observed. */
  instances: z.array(instanceObservationSchema).nullable(),
  /** With several load generators: what each sent, and from which node; `load` is the sum. */
  senders: z
    .array(z.object({ node: z.string(), queriesSent: count, queriesCompleted: count, queriesLost: count }))
    .optional(),
  /** When each load generator sent, and whether it was the limit, in the same order; in old records only of several. */
  loaders: severalLoadersSchema.optional(),
});
export type Phase = z.output<typeof phaseSchema>;

/** What the canary, a client of the cluster's DNS, saw. */
const canarySchema = z.object({
  seconds,
  sent: count,
  lost: count,
  /** In a row with losses. */
  longestLossSeconds: seconds,
});
export type CanaryFigures = z.output<typeof canarySchema>;

const podSchema = z.object({
  pod: z.string(),
  node: z.string(),
  image: z.string(),
  /** As the node resolved it. */
  imageId: z.string(),
  version: z.string().nullable(),
  /** `metrics`: from its coredns_build_info; `image`: from `-version` of the same image on a node. */
  source: z.enum(['metrics', 'image']).nullable(),
  restarts: count,
  startedAt: z.string(),
});
export type PodVersion = z.output<typeof podSchema>;

/** One version in place for some time: the unit of replication. */
export const swapEvidenceSchema = z.object({
  side: z.enum(SIDES),
  image: z.string(),
  /** From the change, or the start of a copy, until its pods were ready; null if the version was in place already. */
  rolloutSeconds: seconds.nullable(),
  /** From the change until the pods were ready, and three seconds more; null without one, and beside the cluster's DNS. */
  rolloutCanary: canarySchema.nullable(),
  /** Afterwards; null beside the cluster's DNS. */
  canary: canarySchema.nullable(),
  pods: z.array(podSchema),
  phases: z.array(phaseSchema),
});
export type SwapEvidence = z.output<typeof swapEvidenceSchema>;
export type SwapRecord = EngineRecord<SwapEvidence, SwapSettings>;
