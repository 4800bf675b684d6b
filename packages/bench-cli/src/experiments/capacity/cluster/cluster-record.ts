/** The records of `bench capacity memory --target kubernetes`: each start of a private CoreDNS at each size. */
import { z } from 'zod';
import { envelope, type RecordKind } from '../../../results/record-kind.ts';
import { phaseSchema, queriesSchema } from '../beside/phases.ts';

const count = z.number().int().nonnegative();
const bytes = z.number().nonnegative().nullable();

/** The cluster's own DNS, which reads the objects as well. */
export const dnsStateSchema = z.object({
  pods: count,
  restarts: count,
  memoryBytes: bytes,
  memoryLimitBytes: bytes,
});

const startSchema = z.object({
  phases: z.array(
    phaseSchema.extend({
      /** What the kubelet compares with the limit, read within the last 15 seconds. */
      workingSetBytes: bytes,
    }),
  ),
  queries: queriesSchema.nullable(),
  /** Why CoreDNS ended before its time; null if it did not. */
  death: z.string().nullable(),
});

const pointSchema = z.object({
  configuration: z.enum(['default', 'autopath']),
  corednsImage: z.string(),
  /** Pods and services, as they were asked for. */
  objects: count,
  /** What was created; pods only where the configuration reads them. */
  counts: z.object({ services: count, endpointSlices: count, endpoints: count, pods: count }),
  creation: z.object({
    created: count,
    seconds: z.number().nonnegative(),
    worstP99Seconds: z.number().nonnegative(),
  }),
  clusterDns: z.object({ before: dnsStateSchema, after: dnsStateSchema }).nullable(),
  starts: z.array(startSchema),
});
export type ClusterPoint = z.output<typeof pointSchema>;

export const clusterRecordSchema = z.object({
  ...envelope('capacity-cluster', 1),
  settings: z.record(z.string(), z.unknown()),
  points: z.array(pointSchema),
});
export type ClusterRecord = z.output<typeof clusterRecordSchema>;

export const clusterKind: RecordKind<ClusterRecord> = {
  experiment: 'capacity-cluster',
  schemaVersion: 1,
  schema: clusterRecordSchema,
  migrations: [],
  schemaFile: 'capacity-cluster.schema.json',
  title: 'Record of bench capacity memory --target kubernetes (run.json)',
};
