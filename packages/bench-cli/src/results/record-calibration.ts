/** What was measured before the first trial, to choose a load generator that can saturate the servers. */
import { z } from 'zod';
import { limitedBySchema } from './record-units.ts';

const probeSchema = z.object({
  /** Name of one of the record's servers. */
  server: z.string(),
  /** Kind of the loader. */
  loader: z.string(),
  /** The share of the tier that the server was given: below 1 with `--saturate`. */
  quotaShare: z.number().positive().max(1),
  qps: z.number().nonnegative(),
  /** Average cores in use by the server and by the loaders; null where they were not observed. */
  serverCores: z.number().nonnegative().nullable(),
  loaderCores: z.number().nonnegative().nullable(),
  limitedBy: limitedBySchema,
});

export const calibrationSchema = z.object({
  /** What each loader sends at most, measured against the UDP echo; null where that is not possible. */
  generators: z.array(z.object({ loader: z.string(), qps: z.number().nonnegative().nullable() })),
  probes: z.array(probeSchema),
  /** Kind of the loader that was chosen. */
  loader: z.string(),
  /** What all tiers were multiplied with. */
  quotaShare: z.number().positive().max(1),
  /** Whether every server was the limit in its last probe. */
  saturated: z.boolean(),
});
export type Calibration = z.output<typeof calibrationSchema>;
export type CalibrationProbe = Calibration['probes'][number];
