/**
 * The record of a run: the one plain value that measuring produces and the store saves. Every report is a pure
 * function of it. Base units: seconds, bytes, cores, queries per second. Nothing is rounded.
 *
 * The schema is strict for what bench writes. A record of another `schemaVersion` is refused with a reason instead of being
 * misread.
 */
import { z } from 'zod';
import { caseSchema, driftSchema, noiseFloorSchema, untilSchema } from './record-case.ts';
import { cpuLimitMethodSchema, provisionedToolSchema, serverRecordSchema } from './record-environment.ts';
import { common } from './record-kind.ts';
import { trialSchema } from './record-trial.ts';
import { count, limitedBySchema, ratio } from './record-units.ts';

export * from './record-case.ts';
export * from './record-environment.ts';
export * from './record-load.ts';
export * from './record-losses.ts';
export * from './record-slices.ts';
export * from './record-trial.ts';
export {
  isEncrypted,
  type LimitedBy,
  limitedBySchema,
  MODES,
  type Mode,
  modeSchema,
  TRANSPORTS,
  type Transport,
  transportSchema,
} from './record-units.ts';

/**
 * Incremented whenever a field changes its meaning, is removed, or becomes required.
 * Adding a field with a default does not change it.
 */
export const SCHEMA_VERSION = 3;

export const workloadSchema = z.object({
  name: z.string(),
  description: z.string(),
  distinctQueries: count,
  /** Predicted share of queries that get an answer (NOERROR with records), in [0, 1]. */
  existingRatio: ratio,
});
export type WorkloadRecord = z.output<typeof workloadSchema>;

/** Whether a workload is a capture, which is replayed with its own timing: by its name, as tcpdump and Wireshark write them. */
export function isCaptureName(name: string): boolean {
  return /\.(pcap|pcapng|cap)$/i.test(name);
}

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

/** What was measured before the first trial, to choose a load generator that can saturate the servers. */
const calibrationSchema = z.object({
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

export const recordSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  ...common,
  /** Every setting after defaults, file, environment and flags were merged. */
  configuration: z.record(z.string(), z.unknown()),
  target: z.enum(['local', 'kubernetes']),
  loader: z.object({ kind: z.string(), version: z.string() }),
  cpuLimits: z.object({
    requested: z.enum(['quota', 'pin']),
    method: cpuLimitMethodSchema,
    /** Why it is not the requested one; null if it is. */
    reason: z.string().nullable(),
  }),
  baseline: z.string(),
  deltaDefinition: z.enum(['relative', 'symmetric']),
  /** How the intervals and verdicts of `cases` were made, in sentences for reports. */
  intervalMethod: z.string(),
  provisioned: z.array(provisionedToolSchema),
  servers: z.array(serverRecordSchema),
  zones: count,
  /** By the names that cases have. */
  workloads: z.array(workloadSchema),
  trials: z.array(trialSchema),
  cases: z.array(caseSchema),
  /** One for each point of the matrix that `--aa` measured; null without it. */
  noiseFloors: z.array(noiseFloorSchema).nullable(),
  /** One for each metric tested; null where the run is too short to tell or was not examined. */
  drift: z.array(driftSchema).nullable(),
  /** Null without `--until`. */
  until: untilSchema.nullable(),
  /** Null where nothing was measured before the trials. */
  calibration: calibrationSchema.nullable().default(null),
});
export type RunRecord = z.output<typeof recordSchema>;
