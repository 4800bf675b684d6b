/** When a worker that has ended is started again. Exponential, so that a crash in a loop costs little. */

/** Wait before the first new start; each further one waits twice as long. */
export const FIRST_DELAY_SECONDS = 0.1;
export const MAX_DELAY_SECONDS = 10;
const MAX_DELAY_AFTER_KILL_SECONDS = 1;
/**
 * A worker that was ready for so long has answered more than its start has cost, whatever ended it: the next
 * wait is the first one again. Longer waits would turn workers that are killed now and then into an outage.
 */
export const STABLE_SECONDS = 1;
/** Workers of one place in a row that ended before they were ready: the reason will not go away by itself. */
export const MAX_FAILED_STARTS = 5;

/** The waits of one place among the workers. */
export class Backoff {
  #restarts = 0;
  #failedStarts = 0;

  /**
   * A worker has ended, `readySeconds` after it was ready, or undefined if it never was. Seconds to wait
   * before the next start, or 'give up'. A worker that somebody has killed says nothing about the next one: it is
   * not held against the place, and the wait is no longer than a second (for want of memory the kernel kills too).
   */
  ended(readySeconds: number | undefined, wasKilled = false): number | 'give up' {
    if (wasKilled) {
      const delay = FIRST_DELAY_SECONDS * 2 ** this.#restarts;
      if (readySeconds !== undefined && readySeconds >= STABLE_SECONDS) this.#restarts = 0;
      return Math.min(delay, MAX_DELAY_AFTER_KILL_SECONDS);
    }
    if (readySeconds === undefined) {
      this.#failedStarts++;
      if (this.#failedStarts >= MAX_FAILED_STARTS) return 'give up';
    } else {
      this.#failedStarts = 0;
      if (readySeconds >= STABLE_SECONDS) this.#restarts = 0;
    }
    const delay = FIRST_DELAY_SECONDS * 2 ** this.#restarts++;
    return Math.min(delay, MAX_DELAY_SECONDS);
  }
}
