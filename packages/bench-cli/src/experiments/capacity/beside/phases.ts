/** What the program beside a private CoreDNS prints: one line for each phase. Pure. */
import { z } from 'zod';

/**
 * What is done with a CoreDNS, in any order that begins with `cold-start`: until it has everything; left alone; with a full
 * cache; under queries, which go on from then; while it reads all objects again; while endpoints are replaced; after an API
 * server that was away.
 */
const PHASES = ['cold-start', 'rest', 'cache', 'load', 'relist', 'replace', 'outage'] as const;
export type Phase = (typeof PHASES)[number];

const bytes = z.number().nonnegative().nullable();

export const queriesSchema = z.object({
  sent: z.number(),
  answered: z.number(),
  /** Not answered within 5 seconds. */
  lost: z.number(),
  /** Answered with another response code than expected. */
  wrong: z.number(),
});
export type QueryCounts = z.output<typeof queriesSchema>;

export const phaseSchema = z.object({
  phase: z.enum(PHASES),
  /** How long it took; of `replace` and `outage`, from the end of the event. */
  seconds: z.number().optional(),
  /** Until answers were right, where that was measured. */
  rightSeconds: z.number().nullable().optional(),
  /**
   * Anonymous memory, which is what counts against a limit: of samples four times a second, and the largest of a look every
   * 20 ms and of what the kernel saw.
   */
  medianBytes: bytes,
  p95Bytes: bytes,
  peakBytes: z.number().nonnegative(),
  /** With the pages of the program's file, at the end of the phase; the proportional share where it may be read. */
  rssBytes: bytes,
  pssBytes: bytes,
  /** From the start of the pod's programs until CoreDNS has all objects. */
  readySeconds: z.number().optional(),
  lists: z.number().optional(),
  heapAllocBytes: bytes,
  heapInuseBytes: bytes,
  heapSysBytes: bytes,
  nextCollectionBytes: bytes,
  queries: queriesSchema.extend({ servfail: z.number().optional() }),
});
export type PhaseFigures = z.output<typeof phaseSchema>;

/** Its lines, besides those of `readLines`. */
export const phaseLineSchema = z.union([
  phaseSchema,
  z.object({ done: z.literal(true), queries: queriesSchema, streamed: z.array(z.string()) }),
  z.object({ late: z.enum(PHASES) }),
]);
