/**
 * A measurement by another program, brought in by `bench import`. It has its own kind of record, `imported.json`,
 * because it is not a run of bench: what the other program does not say is null, and nothing is assumed instead.
 * `bench history`, `compare`, `trend` and `gate` accept it like a run; reports do not, because they describe how a run
 * was made. Results that others have published are records of this kind, too: see `published.ts`.
 */
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import { jsonSchemaText } from '../results/json-schema.ts';
import { listProblems, parseJsonFile } from '../results/parse-record.ts';
import {
  bytes,
  count,
  modeSchema,
  ratio,
  seconds,
  timestamp,
  transportSchema,
} from '../results/record-units.ts';

export const IMPORTED_SCHEMA_VERSION = 1;

/** Name of the file in its folder. */
export const IMPORTED_NAME = 'imported.json';

export const IMPORT_FORMATS = ['dnsperf', 'perf-tests', 'tiger-bench', 'flamethrower', 'dnspyre'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** Where the figures of a record come from: a file of another program, or the tables of a publication. */
export const SOURCE_FORMATS = [...IMPORT_FORMATS, 'publication'] as const;

/** As in a run's record, but every figure may be unknown. */
export const importedMetricsSchema = z.object({
  qps: z.number().nonnegative().nullable(),
  /** Mean, of completed queries. */
  latencySeconds: seconds.nullable(),
  lostRatio: ratio.nullable(),
  cpuSecondsPerQuery: seconds.nullable(),
  memoryBytes: bytes.nullable(),
});

export const importedTrialSchema = z.object({
  startedAt: timestamp.nullable(),
  durationSeconds: seconds.nullable(),
  queriesSent: count.nullable(),
  queriesCompleted: count.nullable(),
  queriesLost: count.nullable(),
  responseCodes: z.record(z.string(), count).nullable(),
  /** Of completed queries by ascending percentile, as far as the format has them. */
  latencyPercentiles: z.array(z.object({ percentile: z.number().min(0).max(100), seconds })).nullable(),
  metrics: importedMetricsSchema,
  /** Further figures of the format, in base units that their names end with. */
  figures: z.record(z.string(), z.number()).optional(),
  /** This measurement as it stands in the file, for formats that are kept whole. */
  original: z.record(z.string(), z.unknown()).optional(),
  /** Position in `source.files`. */
  file: count,
  /** Why it does not count: the other program's own error. Null for a good one. */
  failure: z.string().nullable(),
});
export type ImportedTrial = z.output<typeof importedTrialSchema>;

export const importedCaseSchema = z.object({
  /** Unique within the record: server, or what is known instead, and the parameters that tell cases apart. */
  key: z.string(),
  server: z.string().nullable(),
  /** vCPUs. */
  tier: z.number().positive().nullable(),
  mode: modeSchema.nullable(),
  workload: z.string().nullable(),
  transport: transportSchema.nullable(),
  /** Queries sent per second; absent or null for as many as possible, or where nobody says. */
  ratePerSecond: z.number().positive().nullable().optional(),
  /** The row's name in a published table. */
  title: z.string().optional(),
  /** Key of the case that a published table compares this one with. */
  comparedWith: z.string().optional(),
  /** Differences from that case as printed, by figure, as ratios in the publication's definition. */
  publishedDeltas: z.record(z.string(), z.number()).optional(),
  /** Published figures that a trial has no field for, in base units that their names end with. */
  figures: z.record(z.string(), z.number()).optional(),
  /** Published single readings behind a figure, in their order. */
  samples: z.record(z.string(), z.array(z.number())).optional(),
  /** The other program's own parameters, as they stand in its file. */
  parameters: z.record(z.string(), z.unknown()),
  trials: z.array(importedTrialSchema),
});
export type ImportedCase = z.output<typeof importedCaseSchema>;

/** What was published, where and when. */
export const publicationSchema = z.object({
  /** As in `bench reproduce NAME`. */
  name: z.string(),
  title: z.string(),
  /** `2024-11-18`, or only the year; null if neither is known. */
  date: z.string().nullable(),
  url: z.string().nullable(),
  /** How it computes differences, as reports name the two definitions. */
  delta: z.enum(['relative', 'symmetric']),
  /** Published rules of thumb: `figure` = `constantBytes` + `bytesPerObject` × (Pods + Services). */
  formulas: z
    .array(
      z.object({
        configuration: z.string(),
        figure: z.string(),
        bytesPerObject: z.number(),
        constantBytes: z.number(),
        text: z.string(),
      }),
    )
    .optional(),
});
export type PublicationFacts = z.output<typeof publicationSchema>;

export const importedRecordSchema = z.object({
  schemaVersion: z.literal(IMPORTED_SCHEMA_VERSION),
  kind: z.literal('imported'),
  id: z.string().min(1),
  generator: z.object({ name: z.literal('dinodns-bench'), version: z.string() }),
  importedAt: timestamp,
  source: z.object({
    format: z.enum(SOURCE_FORMATS),
    /** Version of the program that measured, where its output says. */
    version: z.string().nullable(),
    files: z.array(z.object({ name: z.string(), sizeBytes: count, sha256: z.string() })),
    /** How to read figures of this format, in sentences. */
    notes: z.array(z.string()),
  }),
  /** Of a published result; absent for the files of another program. */
  publication: publicationSchema.optional(),
  /** When the oldest trial was measured, where that is known. */
  measuredAt: timestamp.nullable(),
  /** What the format tells of machine or cluster, under the names of the environment's fields where they are the same. */
  environment: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  cases: z.array(importedCaseSchema),
});
export type ImportedRecord = z.output<typeof importedRecordSchema>;

/** The checked imported record in `text`. Throws `E_RECORD_UNREADABLE` or `E_RECORD_VERSION`. */
export function parseImported(text: string, path: string): ImportedRecord {
  const fix = 'Import the original files again with `bench import`.';
  const value = parseJsonFile(text, path, fix);
  const version =
    typeof value === 'object' && value !== null && 'schemaVersion' in value ? value.schemaVersion : undefined;
  if (typeof version === 'number' && version > IMPORTED_SCHEMA_VERSION) {
    throw new BenchError(
      'E_RECORD_VERSION',
      `${path} has schema version ${version}, this version of bench reads ${IMPORTED_SCHEMA_VERSION}`,
      { fix: 'Use a newer version of bench.' },
    );
  }
  const record = importedRecordSchema.safeParse(value);
  if (record.success) return record.data;
  throw new BenchError('E_RECORD_UNREADABLE', `${path} is not an imported record`, {
    fix,
    evidence: listProblems(record.error),
  });
}

/** For reading it with other tools: the text of `imported.schema.json`. Further fields are allowed. */
export function importedJsonSchema(): string {
  return jsonSchemaText(importedRecordSchema, {
    title: 'Measurement of another program, imported by dinodns-bench (imported.json)',
    description:
      'Base units: seconds, bytes, queries per second. What the other program does not report is null.',
  });
}
