/** The records of the first experiment, which do not name it. */
import { type RunRecord, recordSchema, SCHEMA_VERSION } from './record.ts';
import type { RecordKind } from './record-kind.ts';

export const compareKind: RecordKind<RunRecord> = {
  experiment: 'compare',
  schemaVersion: SCHEMA_VERSION,
  schema: recordSchema,
  schemaFile: 'run.schema.json',
  title: 'Record of a run of dinodns-bench (run.json)',
};
