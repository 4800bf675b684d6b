/** The record of an experiment that the engine runs. Base units, nothing rounded. */
import { z } from 'zod';
import { estimandSchema } from '../report/estimand.ts';
import {
  deltaSchema,
  differenceSchema,
  provisionedToolSchema,
  serverRecordSchema,
  summaryStatisticSchema,
  untilSchema,
} from '../results/record.ts';
import { envelope, type RecordKind } from '../results/record-kind.ts';
import { failureSchema } from '../results/record-trial.ts';
import { count, timestamp } from '../results/record-units.ts';

export const ENGINE_SCHEMA_VERSION = 1 as const;

const trialBase = {
  key: z.string(),
  /** Key of its case. */
  case: z.string(),
  round: count,
  order: count,
  startedAt: timestamp,
  endedAt: timestamp,
};

const failedTrialSchema = z.object({
  ...trialBase,
  status: z.literal('failed'),
  failure: failureSchema,
});

function trialSchemaOf<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.discriminatedUnion('status', [
    z.object({
      ...trialBase,
      status: z.literal('ok'),
      /** By the names of the estimands. */
      figures: z.record(z.string(), z.number().nullable()),
      /** Names of figures that something other than the subject kept from being better. */
      bounds: z.array(z.string()),
      /** CPUs that the hypervisor and other programs took while it measured; absent where nobody watched. */
      taken: z.number().nonnegative().optional(),
      evidence,
    }),
    failedTrialSchema,
  ]);
}

/** A case over its trials. */
export const engineCaseSchema = z.object({
  key: z.string(),
  /** Name of its subject. */
  subject: z.string(),
  point: z.record(z.string(), z.union([z.string(), z.number()])),
  /** The baseline's twin of `--aa`. */
  aa: z.boolean(),
  trials: z.object({ planned: count, ok: count, failed: count }),
  /** By the names of the estimands; null without a trial that has the figure. */
  summary: z.record(z.string(), summaryStatisticSchema.nullable()),
  /** In how many trials something other than the subject kept a figure from being better. */
  bounds: z.record(z.string(), count),
  /** Against the baseline at the same point; null for the baseline itself. */
  comparison: z
    .object({
      /** Key of the baseline's case. */
      baseline: z.string(),
      /**
       * By the names of the estimands, as they are compared: ratios or differences; null where nothing may be said, because
       * of bounds or for want of pairs.
       */
      deltas: z.record(z.string(), z.union([deltaSchema, differenceSchema]).nullable()),
    })
    .nullable(),
});
export type EngineCase = z.output<typeof engineCaseSchema>;

function recordSchemaOf<Evidence extends z.ZodType>(name: string, evidence: Evidence) {
  return z.object({
    ...envelope(name, ENGINE_SCHEMA_VERSION),
    /** Every setting after defaults, file, environment and flags, as files name them. */
    settings: z.record(z.string(), z.unknown()),
    subjects: z.array(z.object({ name: z.string(), title: z.string() })),
    /** Name of a subject; null where nothing is compared. */
    baseline: z.string().nullable(),
    estimands: z.array(estimandSchema),
    programs: z.array(serverRecordSchema),
    provisioned: z.array(provisionedToolSchema),
    /** What may explain a difference between two runs, by name. */
    conditions: z.record(z.string(), z.string()),
    trials: z.array(trialSchemaOf(evidence)),
    /** What trials that have not ended have found so far, by their keys, for the run to go on from; absent where there is nothing. */
    unfinished: z.record(z.string(), z.unknown()).optional(),
    cases: z.array(engineCaseSchema),
    /** Null without `--until`. */
    until: untilSchema.nullable(),
    /** What closing came to, in sentences; absent where there is nothing to say. */
    closing: z.array(z.string()).optional(),
  });
}

type Plain = z.output<ReturnType<typeof recordSchemaOf<z.ZodUnknown>>>;
type FailedTrial = z.output<typeof failedTrialSchema>;
type AnyTrial = Plain['trials'][number];

export type OkTrial<Evidence> = Omit<Extract<AnyTrial, { status: 'ok' }>, 'evidence'> & {
  readonly evidence: Evidence;
};
export type EngineTrial<Evidence> = OkTrial<Evidence> | FailedTrial;

export type EngineRecord<Evidence, Settings = Readonly<Record<string, unknown>>> = Omit<
  Plain,
  'trials' | 'settings'
> & {
  readonly trials: readonly EngineTrial<Evidence>[];
  readonly settings: Settings;
};

/** The cases that say something: the baseline's twin is no claim. */
export const claimsOf = <C extends Pick<EngineCase, 'aa'>>({
  cases,
}: {
  readonly cases: readonly C[];
}): C[] => cases.filter(({ aa }) => !aa);

/** The successful trials of a case, in the order of their rounds. */
export function okTrials<Evidence>(
  { trials }: Pick<EngineRecord<Evidence>, 'trials'>,
  key: string,
): OkTrial<Evidence>[] {
  return trials
    .filter((trial): trial is OkTrial<Evidence> => trial.case === key && trial.status === 'ok')
    .toSorted((a, b) => a.round - b.round);
}

/** In the order of their rounds. */
export const evidencesOf = <Evidence>(
  record: Pick<EngineRecord<Evidence>, 'trials'>,
  key: string,
): Evidence[] => okTrials(record, key).map(({ evidence }) => evidence);

export function engineKind<Evidence extends z.ZodType, Settings>(
  name: string,
  evidence: Evidence,
): RecordKind<EngineRecord<z.output<Evidence>, Settings>> {
  return {
    experiment: name,
    schemaVersion: ENGINE_SCHEMA_VERSION,
    // The settings were read by their own schemas.
    schema: recordSchemaOf(name, evidence) as unknown as z.ZodType<
      EngineRecord<z.output<Evidence>, Settings>
    >,
    schemaFile: `${name}.schema.json`,
    title: `Record of a ${name} run of dinodns-bench (run.json)`,
  };
}
