/** Plans made from options as users give them, and what workers ask from them. */
import { nameText } from '@dinodns-bench/wire';
import { type MessageInput, messageOptionsSchema } from '../../src/options.ts';
import { type WorkloadInput, workloadOptionsSchema } from '../../src/workload/options.ts';
import { planWorkload } from '../../src/workload/plan.ts';
import { startWorkload } from '../../src/workload/start.ts';
import type { WorkloadPlan } from '../../src/workload/workload.ts';

export function plan(workload: WorkloadInput, message: MessageInput = {}): Promise<WorkloadPlan> {
  return planWorkload(workloadOptionsSchema.parse(workload), messageOptionsSchema.parse(message));
}

export function messageAt({ arena }: WorkloadPlan, index: number): Buffer {
  return Buffer.from(arena.bytes.slice(arena.offsets[index], arena.offsets[index + 1]));
}

export function nameAt(of: WorkloadPlan, index: number): string {
  return nameText(messageAt(of, index).subarray(12));
}

/** The names a worker queries, in order, up to `most`. */
export function namesOf(
  of: WorkloadPlan,
  most: number,
  { worker = 0, workers = 1, seed = 1 } = {},
): string[] {
  const workload = startWorkload(of, { worker, workers, seed });
  const names: string[] = [];
  while (names.length < most) {
    const index = workload.next();
    if (index === -1) break;
    const message = messageAt(of, index);
    workload.vary?.(message, 0, message.length, index);
    names.push(nameText(message.subarray(12)));
  }
  return names;
}
