/** The line with which a program of ours says that it is ready. Pure. */
import { z } from 'zod';
import { parseLine } from '../process.ts';

const schema = z.object({
  ready: z.literal(true),
  /** Threads or processes that answer, if it says so. */
  workers: z.int().positive().nullable().catch(null),
  port: z.int().optional().catch(undefined),
});

/** `{"ready":true,"workers":2,…}`; null for any other line. */
export const parseReadyLine = (line: string) => parseLine(schema, line);
