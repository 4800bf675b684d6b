/** The records of `bench capacity plan --verify`: the plan, the lines it rests on, and whether it held. */
import { z } from 'zod';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { phaseSchema, queriesSchema } from './beside/phases.ts';

const count = z.number().int().nonnegative();

const demandSchema = z.object({
  pods: count,
  services: count,
  endpoints: count.nullable(),
  source: z.string(),
  internalLookups: count,
  externalLookups: count,
  autopath: z.boolean(),
  families: z.union([z.literal(1), z.literal(2)]),
  searchDomains: count,
  memoryLimitBytes: z.number().positive().nullable(),
  replicas: count.nullable(),
  nodes: count.nullable(),
});

const figureSchema = z.object({
  name: z.string(),
  value: z.number(),
  unit: z.enum(['MB', 'objects', 'queries/s', 'CPUs', 'replicas']),
  basis: z.string(),
});

const verdictSchema = z.object({
  about: z.enum(['memory', 'replicas']),
  fit: z.enum(['fits', 'does not fit', 'cannot tell']),
  because: z.string(),
});

const planSchema = z.object({
  demand: demandSchema,
  configuration: z.enum(['default', 'autopath']),
  objects: count,
  figures: z.array(figureSchema),
  queriesPerSecond: z.number().nonnegative(),
  replicas: count,
  memoryRequestMegabytes: z.number(),
  memoryLimitMegabytes: z.number(),
  verdicts: z.array(verdictSchema),
  notes: z.array(z.string()),
});

/** Memory of one replica against the number of objects, in the proportions of the plan. */
const curveSchema = z.object({
  title: z.string(),
  points: z.array(z.object({ objects: z.number(), megabytes: z.number() })),
});
export type Curve = z.output<typeof curveSchema>;

const verificationSchema = z.object({
  target: z.enum(['local', 'kubernetes']),
  coredns: z.string(),
  memoryLimitBytes: z.number().positive(),
  queriesPerSecond: z.number().nonnegative(),
  services: count,
  pods: count,
  endpoints: count,
  held: z.boolean(),
  because: z.string(),
  steadyBytes: z.number().nullable(),
  peakBytes: z.number().nullable(),
  marginRatio: z.number().nullable(),
  queries: queriesSchema,
  phases: z.array(phaseSchema),
});

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
