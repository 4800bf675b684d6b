/**
 * Schema version 2: lines of memory scatter in proportion to their size, and have what it takes to say how well they are
 * known. They are drawn again through the starts, which the record has.
 */
import { z } from 'zod';
import { type Json, mapEntries } from '../../results/migration.ts';
import { memoryLines } from './memory/lines.ts';
import { memoryPointSchema, memoryStartSchema } from './memory/memory-record.ts';

const measuredSchema = z.object({
  what: z.literal('memory'),
  points: z.array(memoryPointSchema),
  starts: z.array(memoryStartSchema),
});

function withLines(measured: Json): Json {
  const known = measuredSchema.safeParse(measured);
  return known.success ? { ...measured, fits: memoryLines(known.data.points, known.data.starts) } : measured;
}

export function migrate1to2(record: Json): Json {
  return mapEntries(record, { measured: withLines });
}
