/** Starts side by side, as many as the memory allows. Memory is not disturbed by neighbours on the CPU; time is. */
import type { PlannedStart } from './points.ts';
import { expectedBytes } from './points.ts';

/** More at once only make each other slow: every one has a server, an API server and an upstream. */
export function maxLanes(cpus: number): number {
  return Math.max(2, Math.ceil(cpus * 2));
}

/** The first of the waiting starts that fits beside those that run; undefined if none does. */
export function nextStart(
  waiting: readonly PlannedStart[],
  running: readonly PlannedStart[],
  budgetBytes: number,
  lanes: number,
): PlannedStart | undefined {
  if (running.length >= lanes) return undefined;
  const used = running.reduce((sum, { point }) => sum + expectedBytes(point), 0);
  return waiting.find(({ point }) => used + expectedBytes(point) <= budgetBytes);
}

export interface LaneOptions {
  readonly budgetBytes: number;
  readonly lanes: number;
  /** Resolves when the start is over; `neighbours` others run when it begins. */
  run(planned: PlannedStart, neighbours: number): Promise<void>;
}

/** Runs all starts; rejects with the first error after those that run have ended. */
export async function runLanes(planned: readonly PlannedStart[], options: LaneOptions): Promise<void> {
  const waiting = [...planned];
  const running = new Map<PlannedStart, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  while (waiting.length + running.size > 0) {
    const next =
      failure === undefined
        ? nextStart(waiting, [...running.keys()], options.budgetBytes, options.lanes)
        : undefined;
    if (next !== undefined) {
      waiting.splice(waiting.indexOf(next), 1);
      const work = options
        .run(next, running.size)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => running.delete(next));
      running.set(next, work);
    } else if (running.size > 0) await Promise.race(running.values());
    else break;
  }
  if (failure !== undefined) throw failure.error;
}
