/** From options to a plan (`planWorkload`), and from a plan to a worker's workload (`startWorkload`). */

export { planWorkload } from './plan.ts';
export { startWorkload } from './start.ts';

/** One worker of several, and the seed that makes its random choices repeatable. */
export interface WorkloadShare {
  readonly worker: number;
  readonly workers: number;
  readonly seed: number;
}
