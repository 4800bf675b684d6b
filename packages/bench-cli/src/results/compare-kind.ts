/** The records of the first experiment, which do not name it. */
import { migrate1to2 } from './migrate-1-to-2.ts';
import { migrate2to3 } from './migrate-2-to-3.ts';
import { type RunRecord, recordSchema, SCHEMA_VERSION } from './record.ts';
import type { RecordKind } from './record-kind.ts';

export const compareKind: RecordKind<RunRecord> = {
  experiment: 'compare',
  schemaVersion: SCHEMA_VERSION,
  schema: recordSchema,
  migrations: [migrate1to2, migrate2to3],
  schemaFile: 'run.schema.json',
  title: 'Record of a run of dinodns-bench (run.json)',
};
