/**
 * What an experiment declares of its records, and what all records have in common. The store, the history and the
 * reports know experiments only by this; `record.ts` is the kind of the first one, `compare`.
 */
import { z } from 'zod';
import { environmentSchema } from './record-environment.ts';
import { count, timestamp } from './record-units.ts';

export const RUN_STATUSES = ['running', 'interrupted', 'complete'] as const;

/** The fields that every record has, but for `experiment` and `schemaVersion`. */
export const common = {
  /** Name of the run's folder: UTC time and a random suffix. */
  id: z.string().min(1),
  generator: z.object({ name: z.literal('dinodns-bench'), version: z.string() }),
  status: z.enum(RUN_STATUSES),
  startedAt: timestamp,
  /** Null until the run is complete or interrupted. */
  endedAt: timestamp.nullable(),
  /** A command that repeats the run, ready to paste: every setting that was not the default. */
  command: z.string(),
  /** The arguments as they were typed. */
  argv: z.array(z.string()),
  environment: environmentSchema,
  warnings: z.array(z.string()),
};

/** As a reader sees the common part of a record of any experiment and any schema version. */
export const headerSchema = z.object({
  schemaVersion: count,
  ...common,
  /** Names of the servers, for `bench history --server`. */
  servers: z.array(z.string()),
});
export type RecordHeader = Pick<z.output<typeof headerSchema>, keyof typeof common | 'schemaVersion'>;

/** The fields with which the schema of an experiment's records begins: `z.object({ ...envelope('swap', 1), … })`. */
export function envelope<const N extends string, const V extends number>(experiment: N, schemaVersion: V) {
  return {
    schemaVersion: z.literal(schemaVersion),
    experiment: z.literal(experiment),
    ...common,
    /** Names of the servers under test, as in `coredns@1.13.1`; empty where there are none. */
    servers: z.array(z.string()),
  };
}

/** The record of an experiment. */
export interface RecordKind<R> {
  /** Name of the experiment, as in the record's `experiment`. */
  readonly experiment: string;
  /**
   * Incremented whenever a field changes its meaning, is removed, or becomes required.
   * Adding a field with a default does not change it.
   */
  readonly schemaVersion: number;
  readonly schema: z.ZodType<R>;
  /** Name of the file with its JSON Schema, which is part of the package: `swap.schema.json`. */
  readonly schemaFile: string;
  /** Title of the JSON Schema. */
  readonly title: string;
}

/** The command that makes runs of an experiment: `bench capacity memory` for "capacity-memory". */
export function commandMaking(experiment: string): string {
  return experiment === 'compare' ? 'bench run' : `bench ${experiment.replace(/^capacity-/, 'capacity ')}`;
}
