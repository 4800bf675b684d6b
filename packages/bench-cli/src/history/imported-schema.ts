/** The JSON Schema of `imported.json`, for reading it with other tools. */
import { z } from 'zod';
import { formatJson } from '../results/json-text.ts';
import { importedRecordSchema } from './imported.ts';

/** The text of `imported.schema.json`. Further fields are allowed. */
export function importedJsonSchema(): string {
  const schema = z.toJSONSchema(importedRecordSchema, { io: 'input', target: 'draft-2020-12' });
  return formatJson({
    ...schema,
    title: 'Measurement of another program, imported by dinodns-bench (imported.json)',
    description:
      'Base units: seconds, bytes, queries per second. What the other program does not report is null.',
  });
}
