/** What the machine did beside a measurement, and the slices of which a trial of a duet is made. */
import { z } from 'zod';
import { count, limitedBySchema, seconds } from './record-units.ts';

export const neighboursSchema = z.object({
  /** Cores that the hypervisor gave to others, average over the window. */
  stealCores: z.number().nonnegative(),
  /** Cores that programs other than servers, loaders and bench used, average over the window. */
  otherCores: z.number().nonnegative(),
  /** Seconds that the server's threads were ready to run and had no CPU, quota included; null where the kernel does not say. */
  waitSeconds: seconds.nullable(),
  /** At the end of the window, average over the CPUs; null where the machine does not tell. */
  hertz: z.number().positive().nullable(),
  /** Times that a core slowed down because it was too hot; null where the machine does not tell. */
  thermalEvents: count.nullable(),
});
export type Neighbours = z.output<typeof neighboursSchema>;

/** A second of a trial, or about one. */
export const neighbourSecondSchema = z.object({
  /** Its end, since the load began. */
  atSeconds: seconds,
  durationSeconds: seconds,
  ...neighboursSchema.shape,
});
export type NeighbourSecond = z.output<typeof neighbourSecondSchema>;

/** A part of a trial in which this server, of all that were up, had the load. */
export const sliceSchema = z.object({
  /** Position among the slices of all servers in this round, from 0. */
  position: count,
  /** Since the first slice of the round began. */
  atSeconds: seconds,
  durationSeconds: seconds,
  qps: z.number().nonnegative(),
  latencySeconds: seconds.nullable(),
  /** Null where the counters cannot be read at its borders, as on a cluster. */
  cpuSecondsPerQuery: seconds.nullable(),
  lostRatio: z.number().min(0).max(1),
  limitedBy: limitedBySchema,
  /** Null where it could not be read. */
  neighbours: neighboursSchema.nullable(),
});
export type Slice = z.output<typeof sliceSchema>;

/** A trial of a duet. */
export const duetSchema = z.object({
  slices: z.array(sliceSchema),
  /** Cores that this server used while others had the load, on a cluster before any had; null if that was not observed. */
  idleCores: z.number().nonnegative().nullable(),
  /**
   * Added to the memory observed: pages that this server shares with the others that were up, by the share of them that
   * it would have had alone. Null if that could not be read.
   */
  sharedMemoryBytes: z.number().nonnegative().nullable(),
});
