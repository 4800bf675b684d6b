import type { z } from 'zod';

/** What a program in a pod printed; null for a line that is not the program's, such as a warning of Node.js, or is cut short. */
export function parseLine<S extends z.ZodType>(schema: S, line: string): z.output<S> | null {
  if (!line.startsWith('{')) return null;
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    // Not JSON after all.
    return null;
  }
}
