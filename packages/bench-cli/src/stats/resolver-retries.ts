/**
 * What applications see of lost queries: their resolver asks again. Computed, with one name server, as the Service of a
 * cluster's DNS is one. Pure.
 */

/** When a resolver asks, in seconds since the lookup began, and when it gives up. */
interface Resolver {
  readonly title: string;
  readonly asksAt: readonly number[];
}

export const RESOLVERS = {
  /** resolv.conf(5): `timeout:5`, `attempts:2`. */
  glibc: { title: 'glibc', asksAt: [0, 5] },
  /** `src/network/res_msend.c`: 5 s in all and two attempts, so that it asks again after half of that. */
  musl: { title: 'musl', asksAt: [0, 2.5] },
  /** `net/dnsconfig_unix.go`: 5 s for each of two attempts. */
  go: { title: 'Go', asksAt: [0, 5] },
} as const satisfies Record<string, Resolver>;
export type ResolverName = keyof typeof RESOLVERS;
export const RESOLVER_NAMES = Object.keys(RESOLVERS) as readonly ResolverName[];

export interface LossTimeline {
  /** Queries lost, by the time at which they were sent. */
  readonly lost: readonly number[];
  /** Of each entry. */
  readonly seconds: number;
  /** Queries sent in each. */
  readonly sent: number;
}

/**
 * How many of the lookups fail, if each query of the load began one: all of its queries are lost. Each is lost with the share of
 * those that were sent at its time; after the load, none is. With `rotate` or several search domains there are more queries.
 */
export function failedLookups({ lost, seconds, sent }: LossTimeline, resolver: ResolverName): number {
  if (sent === 0) return 0;
  const shareAt = (index: number) => Math.min(1, (lost[index] ?? 0) / sent);
  const steps = RESOLVERS[resolver].asksAt.map((at) => Math.round(at / seconds));
  return lost.reduce(
    (sum, _, index) => sum + sent * steps.reduce((product, step) => product * shareAt(index + step), 1),
    0,
  );
}
