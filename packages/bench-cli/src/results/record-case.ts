/** A case: its trials summed up and compared with the baseline. */
import { z } from 'zod';
import { latencyHistogramSchema, percentile } from './record-load.ts';
import { count, limitedBySchema, modeSchema, ratio, transportSchema } from './record-units.ts';

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
  /** By ascending percentile, those that every ok trial has; null where the loader gives none. */
  latencyPercentiles: z.array(z.object({ percentile, seconds: summaryStatisticSchema })).nullable(),
  /** Where the workload is made of lookups. */
  lookupsPerSecond: summaryStatisticSchema.nullable().default(null),
  lookupLatencySeconds: summaryStatisticSchema.nullable().default(null),
});
export type CaseSummary = z.output<typeof caseSummarySchema>;

/** `faster`/`slower` for throughput and latency, `less`/`more` for what a query costs. */
export const verdictSchema = z.enum(['faster', 'slower', 'less', 'more', 'no difference shown']);
export type Verdict = z.output<typeof verdictSchema>;

/** The size of a difference relative to the scatter of the trials, whatever its verdict. */
export const effectSizeSchema = z.object({
  /** Name of the measure, for example `cliffs-delta`. */
  measure: z.string(),
  value: z.number(),
  /** The usual word for it: negligible, small, medium or large. */
  magnitude: z.string(),
});
export type EffectSize = z.output<typeof effectSizeSchema>;

/** How the interval of a difference is computed; the p value is from the same method. */
export const intervalMethodSchema = z.enum([
  'signed-rank',
  'rank-sum',
  'student-t',
  'welch-t',
  'bootstrap-t',
  'median',
]);

/**
 * Why a comparison has no winner:
 * - `too few trials`: below two paired trials there is no interval;
 * - `interval holds zero`;
 * - `correction`: the interval of this comparison alone excludes zero, but among this many comparisons one such
 *   interval is expected by chance: the adjusted p value exceeds 5 %;
 * - `ties`: because of equal figures or of zeros, the test does not confirm what the interval says.
 * - `not limited by the servers`: a throughput, or the latency that mirrors it, is only a lower bound.
 */
export const undecidedSchema = z.enum([
  'too few trials',
  'interval holds zero',
  'correction',
  'ties',
  'not limited by the servers',
]);

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
  /** How interval and p value were made; null below two paired trials. See docs/method.md. */
  method: intervalMethodSchema.nullable(),
  /** Of the test for "is there a difference", before and after correction for the number of comparisons. */
  pValue: ratio.nullable(),
  adjustedPValue: ratio.nullable(),
  /** Comparisons of this metric in the run, which the correction is for. */
  comparisons: count.nullable(),
  /** Of the test that assumes no shape of the noise, and the smallest that this number of trials can give. */
  rankTest: z.object({ pValue: ratio, smallestPValue: ratio }).nullable(),
  effectSize: effectSizeSchema.nullable(),
  /** The difference is smaller than what the baseline shows against itself; null without `--aa`. */
  belowNoiseFloor: z.boolean().nullable(),
  /** Where the difference allows for what others took from the machine: how, and what it is without. Null elsewhere. */
  allowance: z
    .object({
      /** CPUs taken during the calmest trial, to which all are brought. */
      referenceCores: z.number().nonnegative(),
      /** Change of the logarithm of the figure for each CPU that the hypervisor and other programs took. */
      slope: z.number(),
      standardError: z.number().nonnegative(),
      plain: z.object({
        relative: z.number(),
        symmetric: z.number(),
        low: z.number().nullable(),
        high: z.number().nullable(),
        pValue: ratio.nullable(),
      }),
    })
    .nullable()
    .default(null),
  verdict: verdictSchema,
  /** Why there is no winner; null where there is one. See `undecidedSchema`. */
  undecided: undecidedSchema.nullable(),
});
export type Delta = z.output<typeof deltaSchema>;

/** Of figures that can be zero, or whose noise adds up: in the figure's own unit. */
export const differenceSchema = z.object({
  /** value − baseline: the centre of the pairs' differences. */
  difference: z.number(),
  /** Its 95 % interval; null below two paired trials. */
  low: z.number().nullable(),
  high: z.number().nullable(),
  /** The smallest true difference that this number of pairs would show in four of five runs; null below two. */
  detectable: z.number().nonnegative().nullable(),
  ...deltaSchema.pick({
    n: true,
    method: true,
    pValue: true,
    adjustedPValue: true,
    comparisons: true,
    verdict: true,
    undecided: true,
  }).shape,
});
export type Difference = z.output<typeof differenceSchema>;

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
  /** `<server>/tier=<tier>/<mode>/<workload>/<transport>`, with `/rate=<rate>` if one was asked for; unique within the run. */
  key: z.string(),
  /** Name of one of the record's servers. */
  server: z.string(),
  tier: z.number().positive(),
  mode: modeSchema,
  workload: z.string(),
  transport: transportSchema,
  /** Queries per second asked for, over all instances; null for no limit. */
  ratePerSecond: z.number().positive().nullable(),
  /** True for the baseline's twin of `--aa`: it measures the noise, and is not part of a comparison. */
  aa: z.boolean(),
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
  /** All ok trials together; null unless each has one. */
  latencyHistogram: latencyHistogramSchema.nullable(),
  /** Keys of the trials whose throughput is far from the rest. They count like the rest. */
  outliers: z.array(z.string()),
  /** What limited the trials; `unknown` when they disagree. */
  limitedBy: limitedBySchema,
  /** Null for the baseline itself and where the baseline has no ok trial. */
  comparison: comparisonSchema.nullable(),
});
export type CaseRecord = z.output<typeof caseSchema>;

/** The baseline against itself at one point of the matrix: the differences that this machine shows by chance. */
export const noiseFloorSchema = z.object({
  /** Key of the baseline's twin; `comparison.baseline` is the baseline's own. */
  caseKey: z.string(),
  comparison: comparisonSchema,
  /** Smallest relative difference worth a claim, by metric: the interval's end that is farther from zero. */
  floor: z.object({
    qps: z.number().nonnegative().nullable(),
    latencySeconds: z.number().nonnegative().nullable(),
    cpuSecondsPerQuery: z.number().nonnegative().nullable(),
    memoryBytes: z.number().nonnegative().nullable(),
  }),
});
export type NoiseFloor = z.output<typeof noiseFloorSchema>;

/** Whether the machine became faster or slower during the run, over all servers. */
export const driftSchema = z.object({
  metric: z.enum(['qps', 'latencySeconds', 'cpuSecondsPerQuery', 'memoryBytes']),
  /** Relative change from the first trial to the last, with its 95 % interval. */
  relativeChange: z.number(),
  low: z.number().nullable(),
  high: z.number().nullable(),
  pValue: ratio.nullable(),
  verdict: z.enum(['drift', 'no drift shown']),
});
export type Drift = z.output<typeof driftSchema>;

/** How `--until` ended. */
export const untilSchema = z.object({
  /**
   * What was waited for: every interval narrow; for each comparison a verdict or a narrow interval; or each comparison shown to be
   * worse than tolerated or not to be.
   */
  goal: z.enum(['width', 'verdict', 'gate']).default('width'),
  /** The width that every delta's interval had to fall below, or the tolerance, as a ratio: 0.02 for `--until 2%`. */
  width: z.number().positive(),
  reached: z.boolean(),
  /** Rounds measured, and at most. */
  rounds: count,
  mostRounds: count,
  /** The limit of `--max-time`; null without one. */
  mostSeconds: z.number().positive().nullable(),
  /** What ended the run before the width was reached; null if it was reached or the run is not over. */
  limit: z.enum(['rounds', 'time']).nullable(),
  /** The widest interval of a delta so far, as a ratio; null where there is none. */
  widest: z.number().nonnegative().nullable(),
  /** The case and the metric of that interval. */
  widestOf: z.object({ caseKey: z.string(), metric: z.string() }).nullable(),
});
export type Until = z.output<typeof untilSchema>;
