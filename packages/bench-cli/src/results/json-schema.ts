/** The record's JSON Schema, for reading records with other tools. */
import { z } from 'zod';
import { formatJson } from './json-text.ts';
import { recordSchema } from './record.ts';

/**
 * The text of `run.schema.json`. It describes what a reader may rely on; further fields are allowed, because
 * adding a field does not raise the schema version.
 */
export function recordJsonSchema(): string {
  const schema = z.toJSONSchema(recordSchema, { io: 'input', target: 'draft-2020-12' });
  return formatJson({
    ...schema,
    title: 'Record of a run of dinodns-bench (run.json)',
    description: 'Base units: seconds, bytes, cores, queries per second. Nothing is rounded.',
  });
}
