/** The JSON Schema of what people and other tools read and write. */
import { z } from 'zod';
import { formatJson } from './json-text.ts';
import type { RecordKind } from './record-kind.ts';

interface Told {
  readonly title: string;
  readonly description: string;
  /** Whether a part that is used more than once is written once, and referred to; default `inline`. */
  readonly reused?: 'inline' | 'ref';
}

/** The text of a `*.schema.json`. */
export function jsonSchemaText(schema: z.ZodType, { title, description, reused = 'inline' }: Told): string {
  return formatJson({
    ...z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', reused }),
    title,
    description,
  });
}

/**
 * The text of a kind's `schemaFile`. It describes what a reader may rely on; further fields are allowed, because
 * adding a field does not raise the schema version.
 */
export function recordJsonSchema({ schema, title }: Pick<RecordKind<unknown>, 'schema' | 'title'>): string {
  return jsonSchemaText(schema, {
    title,
    description: 'Base units: seconds, bytes, cores, queries per second. Nothing is rounded.',
    reused: 'ref',
  });
}
