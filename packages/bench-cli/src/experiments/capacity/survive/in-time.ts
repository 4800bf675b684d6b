/** The steps of a start, each with its deadline: a CoreDNS that lives and gets nowhere is stuck. */
import { BenchError } from '../../../errors.ts';
import type { Clock, World } from '../../../world.ts';
import type { ApiControl } from '../api-control.ts';
import type { StartParts } from '../memory/start.ts';
import { patienceSeconds, type Step, type StepSeconds } from './patience.ts';

/** CoreDNS lives, but its answers are not right in time. */
export class Stuck extends Error {}

/** What the deadlines of a start depend on, and how long its steps took. */
export interface Timing {
  readonly world: Pick<World, 'clock'>;
  readonly point: StartParts['point'];
  /** Of a start of the same search that survived; empty before there is one. */
  readonly usual: StepSeconds;
  readonly outageSeconds: number;
  readonly steps: { [S in Step]?: number };
  /** Undefined before it has been started. */
  api(): Pick<ApiControl, 'status'> | undefined;
}

/** An API server of ours that lives answers within these seconds. */
const API_SECONDS = 5;

/** Rejects with `late` after this many seconds; the work itself goes on. */
async function within<T>(clock: Clock, seconds: number, work: Promise<T>, late: Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(seconds, () => reject(late));
  try {
    return await Promise.race([work, promise]);
  } finally {
    cancel();
  }
}

/**
 * What a step takes, kept in `steps`; of an outage, from its end. Rejects with `Stuck` if it takes too long, but where the API
 * server of ours does not answer with `E_NO_ANSWER`: that is a fault of the measurement.
 */
export async function inTime<T>(start: Timing, step: Step, work: () => Promise<T>): Promise<T> {
  const { world, point, usual, outageSeconds, steps } = start;
  const { clock } = world;
  const begin = clock.monotonicSeconds();
  try {
    const seconds = patienceSeconds(step, usual, point.cluster, outageSeconds);
    const done = await within(clock, seconds, work(), new Stuck());
    steps[step] = clock.monotonicSeconds() - begin;
    return done;
  } catch (error) {
    const silent = new BenchError('E_NO_ANSWER', 'the API server of the measurement did not answer', {
      fix: 'Repeat the run with less other work on this machine.',
    });
    const api = start.api();
    if (error instanceof Stuck && api !== undefined) await within(clock, API_SECONDS, api.status(), silent);
    throw error;
  }
}
