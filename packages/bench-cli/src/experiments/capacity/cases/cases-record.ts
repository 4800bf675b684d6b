/** What `bench capacity throughput` and `bench capacity caching` record: cases, each at saturation and at half of that. */
import { z } from 'zod';

const nonnegative = z.number().nonnegative();
const count = z.number().int().nonnegative();

/** `saturation`: as fast as the server answers 100 queries in flight; `half`: half of the lookups a second of that trial. */
export const LOADS = ['saturation', 'half'] as const;
export type LoadName = (typeof LOADS)[number];

const trialHead = {
  case: z.string(),
  /** From 0; trials of a round are compared with each other. */
  round: count,
  load: z.enum(LOADS),
  startedAt: z.iso.datetime(),
};

export const caseTrialSchema = z.discriminatedUnion('status', [
  z.object({
    ...trialHead,
    status: z.literal('ok'),
    /** Null at saturation. */
    wantedLookupsPerSecond: nonnegative.nullable(),
    queriesPerSecond: nonnegative,
    lookupsPerSecond: nonnegative,
    /** Of a lookup, from its first query to its last answer. */
    lookupLatencySeconds: z.object({ mean: nonnegative, p99: nonnegative.nullable() }),
    queryLatencySeconds: nonnegative.nullable(),
    /** Cores that the server used; of a caching tier, with the server behind it. */
    cpuCores: nonnegative.nullable(),
    memoryBytes: nonnegative.nullable(),
    lostRatio: z.number().min(0).max(1),
    limitedBy: z.string(),
    /** Counters of CoreDNS since its start, as far as they were read: `autopath_success`, `cache_hits`, … */
    counters: z.record(z.string(), nonnegative),
    checkedAnswers: count,
  }),
  z.object({
    ...trialHead,
    status: z.literal('failed'),
    failure: z.object({ code: z.string(), message: z.string() }),
  }),
]);
export type CaseTrial = z.output<typeof caseTrialSchema>;
export type OkCaseTrial = Extract<CaseTrial, { readonly status: 'ok' }>;

export const capacityCaseSchema = z.object({
  key: z.string(),
  /** `coredns-cluster@1.15.0`, `dnsmasq + CoreDNS backend`. */
  server: z.string(),
  configuration: z.string(),
  lookup: z.enum(['internal', 'external']),
  /** Whether answers come from a cache: `cached`, `off`, or `overflow`, with three times as many names as it holds. */
  cache: z.enum(['cached', 'off', 'overflow']),
  names: count,
  queriesPerLookup: nonnegative.nullable(),
});
export type CapacityCase = z.output<typeof capacityCaseSchema>;

const caseFields = {
  cases: z.array(capacityCaseSchema),
  trials: z.array(caseTrialSchema),
  /** Between a query of the server and the answer of its upstream. */
  upstreamDelaySeconds: nonnegative,
  /** Absent where it was measured on one machine: the images by the names of their containers. */
  cluster: z.object({ images: z.record(z.string(), z.string()) }).optional(),
};

export const throughputResultSchema = z.object({ what: z.literal('throughput'), ...caseFields });
export const cachingResultSchema = z.object({ what: z.literal('caching'), ...caseFields });
export type CasesResult = z.output<typeof throughputResultSchema> | z.output<typeof cachingResultSchema>;
