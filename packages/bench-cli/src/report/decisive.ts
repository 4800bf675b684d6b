/**
 * The figure that a comparison is about. Where servers are given a rate and hold it, all of them answer as many queries: what
 * they need for it is what differs. Pure.
 */
import type { CaseRecord, Delta, RunRecord } from '../results/record.ts';

export type DecisiveMetric = 'qps' | 'cpuSecondsPerQuery';

export interface Decisive {
  readonly metric: DecisiveMetric;
  readonly delta: Delta;
}

/** CPU per query where both sides held the rate that was asked for, else throughput; null for what is not compared. */
export function decisiveDelta(item: CaseRecord, record: RunRecord): Decisive | null {
  const { comparison } = item;
  if (comparison === null) return null;
  const baseline = record.cases.find(({ key }) => key === comparison.baseline);
  const held = item.limitedBy === 'rate' && baseline?.limitedBy === 'rate';
  return held && comparison.cpuSecondsPerQuery !== null
    ? { metric: 'cpuSecondsPerQuery', delta: comparison.cpuSecondsPerQuery }
    : { metric: 'qps', delta: comparison.qps };
}
