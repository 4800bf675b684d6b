/**
 * The record of a run: the one plain value that measuring produces, the store saves and every report is a
 * pure function of. Base units: seconds, bytes, cores, queries per second. Nothing in it is rounded.
 *
 * The schema is strict where bench writes, and a record with a `schemaVersion` other than
 * `SCHEMA_VERSION` is refused with a reason instead of being misread.
 */
import { z } from 'zod';

/** Raised by one whenever a field changes its meaning or disappears; added fields do not raise it. */
export const SCHEMA_VERSION = 1;

const seconds = z.number().nonnegative();
const bytes = z.number().nonnegative();
const count = z.number().int().nonnegative();
const timestamp = z.iso.datetime();

export const MODES = ['single', 'multi'] as const;
export const TRANSPORTS = ['udp', 'tcp'] as const;
export const modeSchema = z.enum(MODES);
export const transportSchema = z.enum(TRANSPORTS);
export type Mode = z.output<typeof modeSchema>;
export type Transport = z.output<typeof transportSchema>;

/** What kept a trial from being faster. Only `server` makes its throughput a property of the server. */
export const limitedBySchema = z.enum(['server', 'loader', 'rate', 'unknown']);
export type LimitedBy = z.output<typeof limitedBySchema>;

/** Result of one loader process against one endpoint, or of several merged. */
export const loadResultSchema = z.object({
  queriesSent: count,
  queriesCompleted: count,
  /** Sent, and not answered within the loader's time-out. */
  queriesLost: count,
  /** Sent, and still unanswered when the loader stopped; neither completed nor lost. */
  queriesInterrupted: count,
  /** Answers by response code, for example `{ NOERROR: 10, NXDOMAIN: 10 }`. */
  responseCodes: z.record(z.string(), count),
  averageRequestBytes: bytes.nullable(),
  averageResponseBytes: bytes.nullable(),
  runTimeSeconds: seconds,
  /** Completed queries per second of run time. */
  qps: z.number().nonnegative(),
  /** Of completed queries only. Null when nothing was completed. */
  latencySeconds: z
    .object({ mean: seconds, min: seconds, max: seconds, standardDeviation: seconds.nullable() })
    .nullable(),
  /** TCP and TLS only. */
  connections: z
    .object({
      count,
      reconnections: count,
      latencySeconds: z.object({ mean: seconds, min: seconds, max: seconds }).nullable(),
    })
    .nullable(),
  /** Completed queries per second in intervals of about a second; `atSeconds` is the interval's end. */
  intervals: z.array(z.object({ atSeconds: seconds, qps: z.number().nonnegative() })),
  /** Latencies of completed queries in bins, where the loader gives them. */
  latencyHistogram: z.array(z.object({ lowSeconds: seconds, highSeconds: seconds, count })).nullable(),
});
export type LoadResult = z.output<typeof loadResultSchema>;

/** CPU, memory and throttling of a group of processes over a window of time. */
export const observationSchema = z.object({
  /** Where the CPU figure comes from: exact counters of a cgroup, or /proc in steps of 10 ms. */
  cpuSource: z.enum(['cgroup-v1', 'cgroup-v2', 'proc']),
  /** Length of the observed window. */
  durationSeconds: seconds,
  /** User and system time of all processes of the group within the window. */
  cpuSeconds: seconds,
  /** `cpuSeconds` ÷ `durationSeconds`: the average number of cores in use. */
  cpuCores: z.number().nonnegative(),
  /** Proportional set size summed over the group's processes (RSS where PSS cannot be read). */
  memoryBytes: z.object({ mean: bytes, max: bytes, source: z.enum(['pss', 'rss']) }).nullable(),
  /** CFS throttling within the window. Null where the kernel does not say. */
  throttling: z.object({ periods: count, throttledPeriods: count, throttledSeconds: seconds }).nullable(),
  /** Largest number of processes seen. */
  processes: count,
  /** One sample about every `sampleIntervalSeconds`. */
  sampleIntervalSeconds: seconds,
  samples: z.array(
    z.object({ atSeconds: seconds, cpuCores: z.number().nonnegative(), memoryBytes: bytes.nullable() }),
  ),
});
export type Observation = z.output<typeof observationSchema>;

export const instanceSchema = z.object({
  address: z.string(),
  port: z.number().int().min(1).max(65535),
  pid: z.number().int().nullable(),
  /** Threads or worker processes that answer queries, where the server says or was told. */
  workers: z.number().int().positive().nullable(),
  command: z.array(z.string()),
  /** CPU allowance of this instance, in cores. */
  cpuAllowance: z.number().positive(),
});
export type InstanceRecord = z.output<typeof instanceSchema>;

export const failureSchema = z.object({
  code: z.string(),
  message: z.string(),
  fix: z.string(),
  evidence: z.array(z.string()),
});

/** Figures of one trial that summaries and comparisons are made of. */
export const trialMetricsSchema = z.object({
  qps: z.number().nonnegative(),
  latencySeconds: seconds.nullable(),
  /** Lost ÷ sent. */
  lostRatio: z.number().min(0).max(1),
  /** Server CPU ÷ completed queries. Null without an observation. */
  cpuSecondsPerQuery: seconds.nullable(),
  cpuCores: z.number().nonnegative().nullable(),
  memoryBytes: bytes.nullable(),
  throttledSeconds: seconds.nullable(),
});
export type TrialMetrics = z.output<typeof trialMetricsSchema>;

const trialBase = {
  /** `<case key>#<round>`; the key by which a run resumes. */
  key: z.string(),
  caseKey: z.string(),
  /** Trials of the same round are paired in comparisons. Counted from 0. */
  round: count,
  /** Position in the order of the whole run, from 0. */
  order: count,
  startedAt: timestamp,
  endedAt: timestamp,
  instances: z.array(instanceSchema),
  /** The commands of the loaders as they ran, one for each instance. */
  loaderCommands: z.array(z.array(z.string())),
};

export const okTrialSchema = z.object({
  ...trialBase,
  status: z.literal('ok'),
  /** Distinct queries asked and checked before the trial counted, over all instances. */
  checkedAnswers: count,
  /** All loaders merged: counts and rates added, latency weighted by completed queries. */
  load: loadResultSchema,
  /** One for each instance. */
  loads: z.array(loadResultSchema),
  server: observationSchema.nullable(),
  loader: observationSchema.nullable(),
  metrics: trialMetricsSchema,
  limitedBy: limitedBySchema,
});
export const failedTrialSchema = z.object({
  ...trialBase,
  status: z.literal('failed'),
  failure: failureSchema,
});
export const trialSchema = z.discriminatedUnion('status', [okTrialSchema, failedTrialSchema]);
export type OkTrial = z.output<typeof okTrialSchema>;
export type FailedTrial = z.output<typeof failedTrialSchema>;
export type Trial = z.output<typeof trialSchema>;

/** Median over the ok trials with a 95 % confidence interval; `low` and `high` are null below two trials. */
export const summaryStatisticSchema = z.object({
  median: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  n: z.number().int().positive(),
});
export type SummaryStatistic = z.output<typeof summaryStatisticSchema>;

export const caseSummarySchema = z.object({
  qps: summaryStatisticSchema,
  latencySeconds: summaryStatisticSchema.nullable(),
  cpuSecondsPerQuery: summaryStatisticSchema.nullable(),
  memoryBytes: summaryStatisticSchema.nullable(),
  lostRatio: summaryStatisticSchema,
  cpuCores: summaryStatisticSchema.nullable(),
  throttledSeconds: summaryStatisticSchema.nullable(),
});
export type CaseSummary = z.output<typeof caseSummarySchema>;

/** `faster`/`slower` for throughput and latency, `less`/`more` for what a query costs. */
export const verdictSchema = z.enum(['faster', 'slower', 'less', 'more', 'no difference shown']);
export type Verdict = z.output<typeof verdictSchema>;

export const deltaSchema = z.object({
  /** (value − baseline) ÷ baseline, of the medians. */
  relative: z.number(),
  /** (value − baseline) ÷ mean of both, of the medians. */
  symmetric: z.number(),
  /** 95 % interval of the relative delta; null below two paired trials. */
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** Paired trials. */
  n: count,
  verdict: verdictSchema,
});
export type Delta = z.output<typeof deltaSchema>;

export const comparisonSchema = z.object({
  /** Key of the baseline's case. */
  baseline: z.string(),
  qps: deltaSchema,
  latencySeconds: deltaSchema.nullable(),
  cpuSecondsPerQuery: deltaSchema.nullable(),
  memoryBytes: deltaSchema.nullable(),
});
export type Comparison = z.output<typeof comparisonSchema>;

export const caseSchema = z.object({
  /** `<server>/tier=<tier>/<mode>/<workload>/<transport>`; unique within the run. */
  key: z.string(),
  server: z.string(),
  tier: z.number().positive(),
  mode: modeSchema,
  workload: z.string(),
  transport: transportSchema,
  /** Server instances that share the tier. */
  instances: z.number().int().positive(),
  /** The machine has fewer cores than servers plus loaders need. */
  contended: z.boolean(),
  trials: z.object({ planned: count, ok: count, failed: count }),
  /** Sums over the ok trials. */
  totals: z.object({
    queriesSent: count,
    queriesCompleted: count,
    queriesLost: count,
    queriesInterrupted: count,
    responseCodes: z.record(z.string(), count),
  }),
  /** Null when no trial was ok. */
  summary: caseSummarySchema.nullable(),
  /** What limited the trials; `unknown` when they disagree. */
  limitedBy: limitedBySchema,
  /** Null for the baseline itself and where the baseline has no ok trial. */
  comparison: comparisonSchema.nullable(),
});
export type CaseRecord = z.output<typeof caseSchema>;

export const serverRecordSchema = z.object({
  kind: z.string(),
  title: z.string(),
  /** The version that the program itself reports. */
  version: z.string(),
  executable: z.string(),
  /** Further versions that matter: Go, Node.js, the framework. */
  components: z.record(z.string(), z.string()),
  /** Configuration files by name, as they were used in the first trial (shortened over 64 KiB). */
  files: z.record(z.string(), z.string()),
});
export type ServerRecord = z.output<typeof serverRecordSchema>;

export const provisionedToolSchema = z.object({
  tool: z.string(),
  version: z.string(),
  executable: z.string(),
  /** `path`: was on PATH; `cache`: provisioned by an earlier run. */
  source: z.enum(['path', 'cache', 'release-archive', 'go-install', 'package-manager', 'workspace']),
  /** Where from, in words or as an address; the checksum if there was one. */
  origin: z.string(),
  sizeBytes: bytes.nullable(),
});
export type ProvisionedTool = z.output<typeof provisionedToolSchema>;

export const environmentSchema = z.object({
  hostname: z.string(),
  os: z.string(),
  kernel: z.string(),
  architecture: z.string(),
  cpuModel: z.string(),
  cpuCores: z.number().int().positive(),
  /** CPUs this process may use: affinity and quota considered. */
  availableCpus: z.number().positive(),
  cpuGovernor: z.string().nullable(),
  memoryBytes: bytes,
  /** Name of the virtualization, `none` on bare metal, null if it cannot be told. */
  virtualization: z.string().nullable(),
  /** 1-minute load average when the run began: what else the machine was doing. */
  loadAverage: z.number().nonnegative(),
  socketReceiveBufferBytes: z.object({ default: bytes, max: bytes }).nullable(),
  nodeVersion: z.string(),
  git: z.object({ commit: z.string(), dirty: z.boolean() }).nullable(),
});
export type Environment = z.output<typeof environmentSchema>;

export const cpuLimitMethodSchema = z.enum([
  'cgroup-v2-quota',
  'cgroup-v1-quota',
  'systemd-scope',
  'affinity',
  'none',
]);
export type CpuLimitMethod = z.output<typeof cpuLimitMethodSchema>;

export const recordSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  /** Name of the run's folder: UTC time and a random suffix. */
  id: z.string().min(1),
  generator: z.object({ name: z.literal('dinodns-bench'), version: z.string() }),
  status: z.enum(['running', 'interrupted', 'complete']),
  startedAt: timestamp,
  /** Null until the run is complete or interrupted. */
  endedAt: timestamp.nullable(),
  /** A command that repeats the run, ready to paste: every setting that was not the default. */
  command: z.string(),
  /** The arguments as they were typed. */
  argv: z.array(z.string()),
  /** Every setting after defaults, file, environment and flags were merged. */
  configuration: z.record(z.string(), z.unknown()),
  target: z.enum(['local', 'kubernetes']),
  loader: z.object({ kind: z.string(), version: z.string() }),
  cpuLimits: z.object({
    requested: z.enum(['quota', 'pin']),
    method: cpuLimitMethodSchema,
    /** Why it is not what was asked for; null if it is. */
    reason: z.string().nullable(),
  }),
  baseline: z.string(),
  deltaDefinition: z.enum(['relative', 'symmetric']),
  environment: environmentSchema,
  provisioned: z.array(provisionedToolSchema),
  servers: z.array(serverRecordSchema),
  workload: z.object({
    name: z.string(),
    description: z.string(),
    distinctQueries: count,
    /** Predicted share of queries that get an answer (NOERROR with records), in [0, 1]. */
    existingRatio: z.number().min(0).max(1),
    zones: count,
  }),
  warnings: z.array(z.string()),
  trials: z.array(trialSchema),
  cases: z.array(caseSchema),
});
export type RunRecord = z.output<typeof recordSchema>;
