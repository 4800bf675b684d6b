/** The result of every observer: a window over which CPU and memory are counted. */
import type { InstanceObservation, Observation } from '../results/record.ts';
import type { Clock } from '../world.ts';

/** A measuring window; ended once. */
export interface ObservationWindow {
  /** Tells that all loaders have begun to send: memory is that under load, and some observers cannot read counters at any time. */
  started?(): void;
  /** Null if nothing could be observed. */
  end(): Promise<Observation | null>;
  /** After `end`: each instance separately. Absent or null where only their sum was observed. */
  instances?(): readonly InstanceObservation[] | null;
  /**
   * After `end`: seconds between the readings that `cpuSeconds` is the difference of, which begin before the window and end after
   * it. Absent or null where the source says only what was used within it.
   */
  readSeconds?(): number | null;
  /** Cores that the servers used while they waited, just before the window. Absent or null where that was not observed. */
  idleCores?(): number | null;
}

/**
 * Calls `sample` after each pause, one call after the other, until `signal`. Rejects if `sample` does.
 * @param pause seconds, or what says them before each pause
 */
export async function sampleEvery(
  clock: Pick<Clock, 'sleep'>,
  pause: number | (() => number),
  signal: AbortSignal,
  sample: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    const isOver = await clock.sleep(typeof pause === 'number' ? pause : pause(), signal).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    await sample();
  }
}
