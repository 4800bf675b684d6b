/** The JSON Schema of records, for reading them with other tools. */
import { z } from 'zod';
import { formatJson } from './json-text.ts';
import type { RecordKind } from './record-kind.ts';

/**
 * The text of a kind's `schemaFile`. It describes what a reader may rely on; further fields are allowed, because
 * adding a field does not raise the schema version.
 */
export function recordJsonSchema({ schema, title }: Pick<RecordKind<unknown>, 'schema' | 'title'>): string {
  return formatJson({
    ...z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', reused: 'ref' }),
    title,
    description: 'Base units: seconds, bytes, cores, queries per second. Nothing is rounded.',
  });
}
