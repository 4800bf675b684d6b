/**
 * The figure that a comparison is about. Throughput is a property of a server only if the server was the limit. Where the
 * load generator was, or nobody knows what was, the throughput is a lower bound; and where servers are given a rate and hold
 * it, all of them answer as many queries. What a query costs them is their own in both cases. Pure.
 */
import type { CaseRecord, Delta, LimitedBy, Verdict } from '../results/record.ts';
import type { ComparedMetric } from './metrics.ts';

export type DecisiveMetric = 'qps' | 'cpuSecondsPerQuery';

/** Why CPU per query decides: the rate was held, or a throughput is only a lower bound. */
export type DecisiveReason = 'server limited' | 'rate held' | 'lower bound';

export interface Decisive {
  readonly metric: DecisiveMetric;
  readonly delta: Delta;
  readonly reason: DecisiveReason;
}

/** Throughput that is only a lower bound, and nothing else that could be compared. */
export function isUndecidable({ metric, reason }: Pick<Decisive, 'metric' | 'reason'>): boolean {
  return metric === 'qps' && reason === 'lower bound';
}

const IS_BOUND: Readonly<Record<LimitedBy, boolean>> = {
  server: false,
  rate: false,
  loader: true,
  unknown: true,
};

/** Whether the throughput of a case is only a lower bound: in at least one trial, the server was not the limit. */
export function isLowerBound({ limitedBy }: CaseRecord): boolean {
  return IS_BOUND[limitedBy];
}

/**
 * Whether a difference between two servers is their own. Where something else was the limit, throughput is a lower bound, and so
 * is the speed that the latency of a closed loop mirrors: such a difference is never called faster or slower. `limits` are those
 * of both sides; null for a measurement of another program, which does not say.
 */
export function isServersOwn(metric: ComparedMetric, limits: readonly (LimitedBy | null)[]): boolean {
  if (metric !== 'qps' && metric !== 'latencySeconds') return true;
  return limits.every((limit) => limit === null || !IS_BOUND[limit]);
}

/**
 * The one rule of every output: nothing is better or worse than a bounded figure. A bounded figure can still be better, since
 * without its bound it would be better still, but it is never worse.
 */
export function mayBeSaid(
  isBetter: boolean,
  isBounded: { readonly own: boolean; readonly baseline: boolean },
): boolean {
  return !isBounded.baseline && (isBetter || !isBounded.own);
}

/** What stands in place of a verdict about a figure that something other than the servers limited. */
export const NOT_COMPARED = 'not compared';

/** Of a run. */
interface Cases {
  readonly cases: readonly CaseRecord[];
}

/** The case that another is compared with; undefined for none. */
export function baselineOf({ comparison }: CaseRecord, { cases }: Cases): CaseRecord | undefined {
  return cases.find(({ key }) => key === comparison?.baseline);
}

function reasonOf(item: CaseRecord, baseline: CaseRecord | undefined): DecisiveReason {
  if (baseline === undefined) return 'server limited';
  if (item.limitedBy === 'rate' && baseline.limitedBy === 'rate') return 'rate held';
  return isLowerBound(item) || isLowerBound(baseline) ? 'lower bound' : 'server limited';
}

/**
 * Throughput where both servers were the limit; CPU per query otherwise, if it was observed. Null for what is not
 * compared.
 */
export function decisiveOf(item: CaseRecord, record: Cases): Decisive | null {
  const { comparison } = item;
  if (comparison === null) return null;
  const reason = reasonOf(item, baselineOf(item, record));
  return reason !== 'server limited' && comparison.cpuSecondsPerQuery !== null
    ? { metric: 'cpuSecondsPerQuery', delta: comparison.cpuSecondsPerQuery, reason }
    : { metric: 'qps', delta: comparison.qps, reason };
}

/** A case's difference from the baseline, with the verdict that may be shown of it. */
export interface Shown {
  readonly delta: Delta;
  readonly verdict: Verdict | typeof NOT_COMPARED;
  /** The difference is a lower bound: that of a bounded throughput which is already beyond a baseline that was its own limit. */
  readonly isAtLeast: boolean;
}

/** `mayBeSaid` for a server and its baseline, for every report, chart and page. Null for what has no baseline. */
export function shownOf(item: CaseRecord, record: Cases, metric: ComparedMetric): Shown | null {
  const delta = item.comparison?.[metric] ?? null;
  if (delta === null) return null;
  const limits = [item.limitedBy, baselineOf(item, record)?.limitedBy ?? null];
  if (isServersOwn(metric, limits)) return { delta, verdict: delta.verdict, isAtLeast: false };
  const [own = false, baseline = false] = limits.map((limit) => limit !== null && IS_BOUND[limit]);
  const isBetter = delta.verdict === 'faster';
  const isAtLeast = metric === 'qps' && isBetter && mayBeSaid(isBetter, { own, baseline });
  return { delta, verdict: isAtLeast ? delta.verdict : NOT_COMPARED, isAtLeast };
}
