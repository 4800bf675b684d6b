import type { Clock } from '../world.ts';

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
