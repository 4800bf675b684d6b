/** What `bench disrupt` varies besides the fault. */
import type { Point } from '../../engine/experiment.ts';
import { type Factor, type Factors, wholeNumbers, words } from '../../engine/factors.ts';

export const FACTORS = {
  /** Seconds that CoreDNS goes on after SIGTERM. */
  lameduck: { targets: ['kubernetes'], ...wholeNumbers(0, 300) },
  replicas: { targets: ['kubernetes'], ...wholeNumbers(1, 50) },
  /** `fresh`: as many sockets as queries, as of programs that open one for each. */
  sockets: { targets: ['local', 'kubernetes'], ...words('reused', 'fresh') },
  /** Of servers that forward: queries at once to the upstream, seconds that an answer is kept at most, old answers. */
  // The answer check asks 64 names at once, and must not be refused.
  max_concurrent: { targets: ['local'], ...wholeNumbers(100, 100_000) },
  cache: { targets: ['local'], ...wholeNumbers(0, 3600) },
  serve_stale: { targets: ['local'], ...words('off', 'on') },
} as const satisfies Record<string, Factor>;

/** Factors that only servers with an upstream have. */
export const FORWARDING = ['max_concurrent', 'cache', 'serve_stale'] as const;

/** Where a cache is varied, the load asks for the same names again and again; otherwise no cache has them. */
export const repeatsNames = (factors: Factors<typeof FACTORS>) =>
  factors.cache !== undefined || factors.serve_stale !== undefined;

/** As many sockets as queries, as of programs that open one for each; null for few that are used again and again. */
export const freshSockets = (
  { rate, duration }: Readonly<Record<'rate' | 'duration', number>>,
  { sockets }: Point,
) => (sockets === 'fresh' ? Math.ceil(rate * duration) : null);
