/** The records of the capacity experiment: what was measured, and on which machine. */
import { z } from 'zod';
import { provisionedToolSchema, serverRecordSchema } from '../../results/record-environment.ts';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { cachingResultSchema, throughputResultSchema } from './cases/cases-record.ts';
import { type MemoryStart, memoryResultSchema } from './memory/memory-record.ts';
import { migrate1to2 } from './migrate-1-to-2.ts';
import { propagationResultSchema } from './propagation/propagation-record.ts';

export const capacityRecordSchema = z.object({
  ...envelope('capacity', 2),
  /** The settings as they were decided, for `--resume` and for readers. */
  settings: z.record(z.string(), z.unknown()),
  /** The programs behind `servers`, with their versions. */
  programs: z.array(serverRecordSchema),
  provisioned: z.array(provisionedToolSchema),
  loader: z.object({ kind: z.string(), version: z.string() }),
  /** How intervals were made, in words. */
  intervalMethod: z.string(),
  measured: z.discriminatedUnion('what', [
    memoryResultSchema,
    throughputResultSchema,
    cachingResultSchema,
    propagationResultSchema,
  ]),
});
export type CapacityRecord = z.output<typeof capacityRecordSchema>;

export const capacityKind: RecordKind<CapacityRecord> = {
  experiment: 'capacity',
  schemaVersion: 2,
  schema: capacityRecordSchema,
  migrations: [migrate1to2],
  schemaFile: 'capacity.schema.json',
  title: 'Record of bench capacity (run.json)',
};

/** The starts of a measurement of memory; none for the others. */
export function memoryStartsOf({ measured }: Pick<CapacityRecord, 'measured'>): readonly MemoryStart[] {
  return measured.what === 'memory' ? measured.starts : [];
}
