/** The records of the capacity experiment: what was measured, and on which machine. */
import { z } from 'zod';
import { provisionedToolSchema, serverRecordSchema } from '../../results/record-environment.ts';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { propagationResultSchema } from './propagation/propagation-record.ts';

export const capacityRecordSchema = z.object({
  ...envelope('capacity', 1),
  /** The settings as they were decided, for `--resume` and for readers. */
  settings: z.record(z.string(), z.unknown()),
  /** The programs behind `servers`, with their versions. */
  programs: z.array(serverRecordSchema),
  provisioned: z.array(provisionedToolSchema),
  loader: z.object({ kind: z.string(), version: z.string() }),
  /** How intervals were made, in words. */
  intervalMethod: z.string(),
  measured: propagationResultSchema,
});
export type CapacityRecord = z.output<typeof capacityRecordSchema>;

export const capacityKind: RecordKind<CapacityRecord> = {
  experiment: 'capacity',
  schemaVersion: 1,
  schema: capacityRecordSchema,
  migrations: [],
  schemaFile: 'capacity.schema.json',
  title: 'Record of bench capacity (run.json)',
};
