/** The options that describe the workload: which queries are sent. */
import { z } from 'zod';

/** Relative weights for drawing queries at random; only their ratios matter. */
const weights = z.array(z.number().min(0)).min(1).readonly().nullable().default(null);

const orderFields = {
  /** Names in order, at random with equal weights, or at random by Zipf's law over their positions. */
  popularity: z.enum(['sequence', 'random', 'zipf']).default('sequence'),
  /** Exponent of Zipf's law. */
  zipfExponent: z.number().positive().max(10).default(1),
  /** Prepend a label of this many random letters and digits, so that no cache has the answer. Null: unchanged. */
  randomLabelLength: z.int().min(1).max(63).nullable().default(null),
};

export const workloadOptionsSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('names'),
    /** Each name is queried for each of `types`. */
    names: z.array(z.string()).min(1).readonly(),
    types: z.array(z.string()).min(1).readonly().default(['A']),
    /** One per name; not together with `zipf`. Null: all equal. */
    weights,
    /** One for each type. Null: all alike. */
    typeWeights: weights,
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('file'),
    /** A query file in dnsperf's format. */
    path: z.string().min(1),
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('zones'),
    pattern: z.string().default('example{X}.com'),
    from: z.int().min(0).default(1),
    to: z.int().min(0).default(200),
    types: z.array(z.string()).min(1).readonly().default(['A']),
    /** Share of queries for existing names, 0 to 1, if odd numbers are zones; null: numbers in order. */
    hitRatio: z.number().min(0).max(1).nullable().default(null),
    /** One for each type. Null: all alike. */
    typeWeights: weights,
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('reverse'),
    /** A network whose addresses are queried for PTR, such as `10.0.0.0/16`; at most 2^20 addresses. */
    network: z.string().min(1),
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('pcap'),
    path: z.string().min(1),
    /** 2 replays twice as fast as captured. */
    speed: z.number().positive().default(1),
    /** Only queries to this port are replayed. */
    port: z.int().min(1).max(65_535).default(53),
  }),
  z.strictObject({
    kind: z.literal('kubernetes'),
    /** Names as a program in the pod would use them: `kubernetes`, `infoblox.com`. */
    names: z.array(z.string()).min(1).readonly(),
    namespace: z.string().default('default'),
    clusterDomain: z.string().default('cluster.local'),
    /** One per name. Null: in turn. */
    weights,
    /**
     * Search domains after the cluster's three, from the node's own resolv.conf. One by default, as on most clouds:
     * an external name then costs five candidates.
     */
    search: z.array(z.string()).readonly().default(['internal']),
    ndots: z.int().min(0).max(15).default(5),
    types: z
      .array(z.enum(['A', 'AAAA']))
      .min(1)
      .readonly()
      .default(['A', 'AAAA']),
  }),
]);

export type WorkloadOptions = z.output<typeof workloadOptionsSchema>;
/** The options of one kind of workload. */
export type Kind<K extends WorkloadOptions['kind']> = Extract<WorkloadOptions, { readonly kind: K }>;
export type WorkloadInput = z.input<typeof workloadOptionsSchema>;
