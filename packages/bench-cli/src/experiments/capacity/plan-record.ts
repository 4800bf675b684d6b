/** The records of `bench capacity plan --verify`: the plan, the lines it rests on, and whether it held. */
import { z } from 'zod';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { count } from '../../results/record-units.ts';
import { phaseSchema, queriesSchema } from './beside/phases.ts';

/** What the DNS has to serve. */
const demandSchema = z.object({
  pods: count,
  services: count,
  /** Addresses behind the services; null: every pod is behind one. */
  endpoints: count.nullable(),
  /** Where the counts come from: `given`, or which cluster. */
  source: z.string(),
  /** Lookups that programs make, per second over the whole cluster. */
  internalLookups: count,
  externalLookups: count,
  autopath: z.boolean(),
  /** Whether CoreDNS keeps pods in memory although it has no autopath; absent where not. */
  watchesPods: z.literal(true).optional(),
  /** 2 where programs ask for A and AAAA. */
  families: z.union([z.literal(1), z.literal(2)]),
  /** Domains of the search list. */
  searchDomains: count,
  /** The memory limit of the DNS pods today; null if it is not known, or there is none. */
  memoryLimitBytes: z.number().positive().nullable(),
  /** Replicas today; null if it is not known. */
  replicas: count.nullable(),
  /** Nodes of the cluster; null if it is not known. */
  nodes: count.nullable(),
});
export type Demand = z.output<typeof demandSchema>;

/** A figure and where it comes from. */
const figureSchema = z.object({
  name: z.string(),
  value: z.number(),
  unit: z.enum(['MB', 'objects', 'queries/s', 'CPUs', 'replicas']),
  basis: z.string(),
});
export type Figure = z.output<typeof figureSchema>;

const verdictSchema = z.object({
  about: z.enum(['memory', 'replicas']),
  fit: z.enum(['fits', 'does not fit', 'cannot tell']),
  /** One sentence. */
  because: z.string(),
});
export type Verdict = z.output<typeof verdictSchema>;

const planSchema = z.object({
  demand: demandSchema,
  configuration: z.enum(['default', 'autopath']),
  objects: count,
  figures: z.array(figureSchema),
  /** Of all replicas together. */
  queriesPerSecond: z.number().nonnegative(),
  replicas: count,
  memoryRequestMegabytes: z.number(),
  memoryLimitMegabytes: z.number(),
  verdicts: z.array(verdictSchema),
  /** What a reader must know before he uses it, as sentences. */
  notes: z.array(z.string()),
});
export type CapacityPlan = z.output<typeof planSchema>;

/** Memory of one replica against the number of objects, in the proportions of the plan. */
const curveSchema = z.object({
  title: z.string(),
  points: z.array(z.object({ objects: z.number(), megabytes: z.number() })),
});
export type Curve = z.output<typeof curveSchema>;

/** What was tried. */
const attemptSchema = z.object({
  target: z.enum(['local', 'kubernetes']),
  /** Version or image. */
  coredns: z.string(),
  memoryLimitBytes: z.number().positive(),
  /** Asked of the one replica that was started. */
  queriesPerSecond: z.number().nonnegative(),
  /** What CoreDNS read: on a cluster, with what that has itself. */
  services: count,
  pods: count,
  endpoints: count,
});
export type Attempt = z.output<typeof attemptSchema>;

const verificationSchema = attemptSchema.extend({
  held: z.boolean(),
  /** One sentence. */
  because: z.string(),
  /** The largest of all phases; null without any. */
  peakBytes: z.number().nullable(),
  /**
   * Which part of the limit was left at the peak, with the pages of the program; below 0 where both together are more. Null without a
   * peak. Older records leave the program out.
   */
  marginRatio: z.number().nullable(),
  queries: queriesSchema,
  phases: z.array(phaseSchema),
});
export type Verification = z.output<typeof verificationSchema>;

export const planRecordSchema = z.object({
  ...envelope('capacity-plan', 1),
  plan: planSchema,
  /** Where the memory lines come from. */
  basis: z.object({ kind: z.enum(['measured', 'published']), source: z.string(), formula: z.string() }),
  curves: z.array(curveSchema),
  verification: verificationSchema,
});
export type PlanRecord = z.output<typeof planRecordSchema>;

export const planKind: RecordKind<PlanRecord> = {
  experiment: 'capacity-plan',
  schemaVersion: 1,
  schema: planRecordSchema,
  schemaFile: 'capacity-plan.schema.json',
  title: 'Record of bench capacity plan --verify (run.json)',
};
