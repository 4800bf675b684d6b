/**
 * The record of a lookup run. Everything in base units, nothing rounded. A subject is what is compared: a resolver, a
 * policy mode or a client; its trials are interleaved with those of the others.
 */
import { z } from 'zod';
import { serverRecordSchema } from '../../results/record-environment.ts';
import { envelope, type RecordKind } from '../../results/record-kind.ts';
import { latencyHistogramSchema, percentile } from '../../results/record-load.ts';
import { count, ratio, seconds, timestamp } from '../../results/record-units.ts';
import { POLICY_MODES } from './policy/modes.ts';
import { PHASES } from './sampling/sample.ts';
import { CLIENTS } from './sampling/sampler.ts';

/** The times of one phase over samples that succeeded. */
export const distributionSchema = z.object({
  n: count,
  min: seconds,
  max: seconds,
  mean: seconds,
  /** Nearest rank: the smallest of the n times that at least n · p ÷ 100 of them do not exceed. */
  percentiles: z.array(z.object({ percentile, seconds })),
  /** Twenty bins for each factor of ten. */
  histogram: latencyHistogramSchema,
});
export type Distribution = z.output<typeof distributionSchema>;

const phaseRecord = <S extends z.ZodType>(schema: S) => z.record(z.enum(PHASES), schema);
export const phasesSchema = phaseRecord(distributionSchema);
export type PhaseDistributions = z.output<typeof phasesSchema>;

/** A prediction for a simulated policy: what it adds to each sample. */
export const predictionSchema = z.object({
  lookupSeconds: seconds,
  connectSeconds: seconds,
  /** Repeated SYN packets of each connection. */
  duplicateSyn: count,
});

export const subjectSchema = z.object({
  /** Unique within the run: `unbound`, `NoDelay`, `unbound/NoDelay`, `curl`. */
  key: z.string(),
  /** Who answers the lookups: a server's name, `this machine`, `cluster DNS`. */
  resolver: z.string(),
  client: z.enum(CLIENTS),
  policy: z.enum(POLICY_MODES).nullable(),
  /** What else tells it from the others, by name, such as `services` → `1000`. */
  conditions: z.record(z.string(), z.string()),
  /** Of a simulated policy; null for a real one or none. */
  prediction: predictionSchema.nullable(),
});
export type Subject = z.output<typeof subjectSchema>;

/** See `capture/duplicates.ts`. */
export const handshakesSchema = z.object({
  connections: count,
  connectionsRepeated: count,
  syn: z.object({ ipv4: count, ipv6: count, ecn: count }),
  synAck: z.object({ ipv4: count, ipv6: count }),
  duplicateSyn: count,
  duplicateSynAck: count,
  tigerRule: z.object({ duplicateSyn: count, duplicateSynAck: count }),
});

export const packetsSchema = z.object({
  handshakes: handshakesSchema,
  /** Queries for names, by UDP or TCP; null where they cannot be seen. */
  searches: z
    .object({
      queries: count,
      repeated: count,
      questions: z.array(z.object({ name: z.string(), type: z.string(), queries: count })),
    })
    .nullable(),
  /** What tcpdump counted, over all interfaces. `isWhole`: it wrote everything that passed the filter, and lost nothing. */
  capture: z.object({ interfaces: z.array(z.string()), captured: count, received: count, dropped: count }),
  isWhole: z.boolean(),
});
export type Packets = z.output<typeof packetsSchema>;

/** Packets that the kernel repeated meanwhile (TcpExtTCPSynRetrans), as a check of the capture. */
export const kernelSchema = z.object({
  /** SYN packets of the client's network namespace; null if it does not say. */
  syn: count.nullable(),
  /** SYN-ACK packets of the site's network namespace; null where it is elsewhere. */
  synAck: count.nullable(),
  /** `namespace`: nothing else is in it. `machine`: it counts all programs. */
  scope: z.enum(['namespace', 'machine']),
});

/** Times of a sample before which its pod had sent nothing: the delay of a policy for a new pod is in these. */
const firstSchema = z.object({ lookup: seconds, connect: seconds });

export const lookupTrialSchema = z.object({
  key: z.string(),
  subject: z.string(),
  round: count,
  order: count,
  startedAt: timestamp,
  /** Time that samples were taken for. */
  seconds,
  /** Why it does not count; null if it does. */
  failure: z.string().nullable(),
  /** Samplers that ran at the same time: 1, or one for each pod. */
  samplers: z.array(
    z.object({
      name: z.string(),
      node: z.string().nullable(),
      samples: count,
      /** The first sample, where nothing was asked before it; null elsewhere, and if it failed. */
      first: firstSchema.nullable().default(null),
    }),
  ),
  samples: z.object({
    taken: count,
    succeeded: count,
    /** By the client's exit status; null for output that could not be read. */
    failed: z.array(z.object({ exitCode: z.int().nullable(), count })),
  }),
  /** Of samples that succeeded; null if none did. */
  phases: phasesSchema.nullable(),
  /** Which family of addresses the client chose. */
  families: z.object({ ipv4: count, ipv6: count }),
  packets: packetsSchema.nullable(),
  /** Null where nobody asked the kernel. */
  kernel: kernelSchema.nullable(),
});
export type LookupTrial = z.output<typeof lookupTrialSchema>;

export const statisticSchema = z.object({
  median: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  n: count,
});

export const RESULT_PERCENTILES = [50, 75, 90, 95, 99] as const;

export const lookupResultSchema = z.object({
  subject: z.string(),
  trials: count,
  failedTrials: count,
  samples: lookupTrialSchema.shape.samples,
  /** Of all samples of the trials that count; null if none succeeded. */
  phases: phasesSchema.nullable(),
  /** Percentiles of each phase, each summarized over the trials: the median trial and its 95 % interval. */
  percentiles: z.array(z.object({ phase: z.enum(PHASES), percentile, seconds: statisticSchema })),
  /** First samples of the samplers, where nothing was asked before: see the trials. Null elsewhere. */
  first: z.object({ lookup: distributionSchema, connect: distributionSchema }).nullable().default(null),
  /** Of each node. */
  samplesPerMinute: z.number().nonnegative(),
  /** Null without a capture. */
  duplicates: z
    .object({
      connections: count,
      connectionsRepeated: count,
      duplicateSyn: count,
      duplicateSynAck: count,
      tigerRule: handshakesSchema.shape.tigerRule,
      /** Share of the connections whose SYN was repeated, with the exact 95 % interval of Clopper and Pearson. */
      share: z.object({ value: ratio, low: ratio, high: ratio }).nullable(),
      /** Whether the kernel counted the same; null where its counter says nothing about these packets alone. */
      kernelAgrees: z.boolean().nullable(),
    })
    .nullable(),
  /** DNS queries for each sample; null without a capture. */
  queriesPerLookup: z.number().nonnegative().nullable(),
  families: lookupTrialSchema.shape.families,
  /** How the measured times compare with the prediction of a simulation. */
  agreement: z
    .object({
      /** Differences of the medians from the subject without added time, or from zero if there is none. */
      lookupSeconds: z.number(),
      connectSeconds: z.number(),
      /** Within 2 ms or 5 % of the prediction. */
      timesAgree: z.boolean(),
      /** Exactly as many duplicates as the simulation must have made; null without a capture. */
      duplicatesAgree: z.boolean().nullable(),
    })
    .nullable(),
});
export type LookupResult = z.output<typeof lookupResultSchema>;

export const VERDICTS = [
  'longer',
  'shorter',
  'more',
  'fewer',
  'no difference shown',
  'not supported here',
] as const;
export const comparisonSchema = z.object({
  subject: z.string(),
  baseline: z.string(),
  /** `lookup p50` and so on; `duplicates`: the share of connections whose SYN was repeated. */
  metric: z.string(),
  /** Subject − baseline: seconds, or a share for duplicates; null where it cannot be computed. */
  difference: z
    .object({ estimate: z.number(), low: z.number().nullable(), high: z.number().nullable() })
    .nullable(),
  /** Before and after the correction for the number of comparisons (Holm). */
  pValue: ratio.nullable(),
  adjustedPValue: ratio.nullable(),
  method: z.enum(['signed-rank', 'student-t', 'fisher']).nullable(),
  verdict: z.enum(VERDICTS),
});
export type LookupComparison = z.output<typeof comparisonSchema>;

export const LOOKUP_SCHEMA_VERSION = 1;

export const lookupRecordSchema = z.object({
  ...envelope('lookup', LOOKUP_SCHEMA_VERSION),
  target: z.enum(['machine', 'local', 'kubernetes']),
  url: z.string(),
  /** Of each subject, over all its trials. */
  durationSeconds: seconds,
  rounds: count,
  /** Samples started this far apart or more. */
  paceSeconds: seconds.default(0),
  /** A simulated policy agent: its delay. Null if nothing is simulated. */
  simulation: z.object({ programDelaySeconds: seconds, synLinearTimeouts: count }).nullable(),
  /** resolv.conf of the pod of `--local`; null elsewhere. */
  resolvConf: z.object({ search: z.array(z.string()), ndots: count }).nullable(),
  /** Versions of curl and tcpdump as they say; null for what was not used. */
  tools: z.object({ curl: z.string().nullable(), tcpdump: z.string().nullable() }),
  serverRecords: z.array(serverRecordSchema),
  baseline: z.string(),
  subjects: z.array(subjectSchema),
  trials: z.array(lookupTrialSchema),
  results: z.array(lookupResultSchema),
  comparisons: z.array(comparisonSchema),
  /** What another tool's format adds, kept as it was read; null for a run of our own configuration. */
  tigerBench: z.record(z.string(), z.unknown()).nullable(),
});
export type LookupRecord = z.output<typeof lookupRecordSchema>;

export const lookupKind: RecordKind<LookupRecord> = {
  experiment: 'lookup',
  schemaVersion: LOOKUP_SCHEMA_VERSION,
  schema: lookupRecordSchema,
  migrations: [],
  schemaFile: 'lookup.schema.json',
  title: 'Record of a lookup run of dinodns-bench (run.json)',
};
