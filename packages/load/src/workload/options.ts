/** What is asked: the part of the options that describes the workload. */
import { z } from 'zod';

/** Shares by which queries are drawn at random; only their ratios count. */
const weights = z.array(z.number().min(0)).min(1).readonly().nullable().default(null);

const orderFields = {
  /** Names taken in order, at random with equal weights, or at random with Zipf's law by position. */
  popularity: z.enum(['sequence', 'random', 'zipf']).default('sequence'),
  /** Exponent of Zipf's law. */
  zipfExponent: z.number().positive().max(10).default(1),
  /** Put a label of this many random letters and digits before each name: no cache has the answer. Null: as given. */
  randomLabelLength: z.int().min(1).max(63).nullable().default(null),
};

export const workloadOptionsSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('names'),
    /** Each is asked for each of `types`. */
    names: z.array(z.string()).min(1).readonly(),
    types: z.array(z.string()).min(1).readonly().default(['A']),
    /** One for each name; not together with `zipf`. Null: all alike. */
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
    /** Share of queries for names that exist, 0 to 1, where odd numbers are zones; null: as the numbers come. */
    hitRatio: z.number().min(0).max(1).nullable().default(null),
    /** One for each type. Null: all alike. */
    typeWeights: weights,
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('reverse'),
    /** A network whose addresses are asked for their names (PTR), such as `10.0.0.0/16`; at most 2^20 addresses. */
    network: z.string().min(1),
    ...orderFields,
  }),
  z.strictObject({
    kind: z.literal('pcap'),
    path: z.string().min(1),
    /** 2 replays twice as fast as captured. */
    speed: z.number().positive().default(1),
    /** Queries to this port are replayed. */
    port: z.int().min(1).max(65_535).default(53),
  }),
  z.strictObject({
    kind: z.literal('kubernetes'),
    /** Names as a program in the pod gives them: `kubernetes`, `infoblox.com`. */
    names: z.array(z.string()).min(1).readonly(),
    namespace: z.string().default('default'),
    clusterDomain: z.string().default('cluster.local'),
    /** One for each name. Null: in turn. */
    weights,
    /**
     * Search domains after the cluster's three, as the node's own resolv.conf brings them. One by default, as
     * on most clouds: so an external name costs five candidates.
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
export type WorkloadInput = z.input<typeof workloadOptionsSchema>;
