/** What reports say of the workloads of a run. Pure. */
import type { CaseRecord, RunRecord, WorkloadRecord } from '../results/record.ts';
import { formatShare } from './numbers.ts';

/** `every name once in order; 200 distinct queries, 50% of them for records that exist, in 100 zones.` */
export function describeWorkload(workload: WorkloadRecord, { zones }: RunRecord): string {
  const { description, distinctQueries, existingRatio } = workload;
  const share = `${formatShare(existingRatio)} of them for records that exist`;
  return `${description}; ${distinctQueries} distinct queries, ${share}, in ${zones} zones.`;
}

/** The workload of these cases, which have the same one. */
export function workloadOf(
  { workloads }: RunRecord,
  [first]: readonly CaseRecord[],
): WorkloadRecord | undefined {
  return workloads.find(({ name }) => name === first?.workload);
}
