/** What kept a trial from being faster. Pure. */
import type { CpuLimitMethod, LimitedBy } from '../results/record.ts';

export interface LimitEvidence {
  /** Average cores the server used, and what it was allowed. Null without an observation. */
  readonly serverCores: number | null;
  readonly serverAllowance: number;
  /** Average cores the loaders used together, and what they could use; see `loaderAllowance`. */
  readonly loaderCores: number | null;
  readonly loaderAllowance: number;
  /** Whether the loaders report that they were the limit; null where they cannot tell, and their CPU decides. */
  readonly loaderWasTheLimit: boolean | null;
  readonly qps: number;
  /** The requested rate; null for none. */
  readonly ratePerSecond: number | null;
  /** The workload has its own timing: as long as the loaders keep it, it is the limit. Default: false. */
  readonly isTimed?: boolean;
}

/**
 * A share of its allowance from which a side counts as used up. Below 1, because the observed window
 * includes the start and the end of the loader, and because CFS hands out its quota in slices of 5 ms.
 */
export const SATURATION = 0.9;

/** A rate counts as reached within 2 %: dnsperf 2.10 sends in bursts and can miss its rate by as much. */
const RATE_TOLERANCE = 0.02;

/**
 * A rate that was reached is the limit, whatever else is busy, unless the loaders report that they were late: then latency is theirs
 * too. Otherwise it is the side that used up its allowance; if both did, the one that used the larger share.
 */
export function limitingFactor(evidence: LimitEvidence): LimitedBy {
  const { ratePerSecond, qps, loaderWasTheLimit } = evidence;
  if (evidence.isTimed === true && loaderWasTheLimit === false) return 'rate';
  if (ratePerSecond !== null && qps >= ratePerSecond * (1 - RATE_TOLERANCE))
    return loaderWasTheLimit === true ? 'loader' : 'rate';
  const server = evidence.serverCores === null ? 0 : evidence.serverCores / evidence.serverAllowance;
  const loader = loaderShare(evidence);
  if (server < SATURATION && loader < SATURATION) return 'unknown';
  return server >= loader ? 'server' : 'loader';
}

/**
 * The share of their allowance that the loaders used. A loader that polls its sockets uses its CPU whether or not it
 * is the limit, so its own report takes precedence.
 */
function loaderShare({ loaderCores, loaderAllowance, loaderWasTheLimit }: LimitEvidence): number {
  if (loaderWasTheLimit === false) return 0;
  const share = loaderCores === null ? 0 : loaderCores / loaderAllowance;
  return loaderWasTheLimit === true ? Math.max(share, SATURATION) : share;
}

/**
 * What the loaders use together, if each were as busy as the busiest: one that cannot send more holds the load back
 * even while others rest. Null if one was not observed.
 */
export function loaderCores(cores: readonly (number | null)[]): number | null {
  const known = cores.filter((value) => value !== null);
  return known.length < cores.length ? null : Math.max(...known) * known.length;
}

/** Cores that the loaders of a trial can use together: one per thread, at most their CPU limit. */
export function loaderAllowance(threads: number, limitCores: number | null): number {
  return limitCores === null ? threads : Math.min(threads, limitCores);
}

/** Whether any loader of a trial was the limit; null if one cannot tell. */
export function anyWasTheLimit(loaders: readonly { readonly wasTheLimit: boolean | null }[]): boolean | null {
  if (loaders.some(({ wasTheLimit }) => wasTheLimit === true)) return true;
  return loaders.some(({ wasTheLimit }) => wasTheLimit === null) ? null : false;
}

/**
 * Cores that the instances could actually use together: their allowances under a quota, whole CPUs under
 * affinity, every CPU of the machine without a limit.
 */
export function enforcedAllowance(
  method: CpuLimitMethod,
  allowances: readonly number[],
  machineCpus: number,
): number {
  if (method === 'none') return machineCpus;
  const cores = method === 'affinity' ? allowances.map(Math.ceil) : allowances;
  return cores.reduce((total, value) => total + value, 0);
}
