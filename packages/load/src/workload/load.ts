/** From options to a plan (`planWorkload`), and from a plan to a worker's workload (`startWorkload`). */
import type { MessageOptions } from '../message/options.ts';
import type { WorkloadOptions } from './options.ts';
import type { Workload, WorkloadPlan } from './workload.ts';

export { planWorkload } from './plan.ts';
export { startWorkload } from './start.ts';

/**
 * Reads files and encodes every message. Throws `LoadError` (`E_QUERY_FILE` with the line number, `E_NAME`,
 * `E_WORKLOAD`, `E_PCAP`, `E_UNREADABLE`).
 */
export type PlanWorkload = (workload: WorkloadOptions, message: MessageOptions) => Promise<WorkloadPlan>;

/** Which of the workers asks, and the seed that makes its random choices repeatable. */
export interface WorkloadShare {
  readonly worker: number;
  readonly workers: number;
  readonly seed: number;
}

export type StartWorkload = (plan: WorkloadPlan, share: WorkloadShare) => Workload;
