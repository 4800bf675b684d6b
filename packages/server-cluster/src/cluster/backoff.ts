/** When to restart a worker that ended. Exponential, so that a crash loop costs little. */

/** Delay before the first restart; it doubles with each further one. */
export const FIRST_DELAY_SECONDS = 0.1;
export const MAX_DELAY_SECONDS = 10;
const MAX_DELAY_AFTER_KILL_SECONDS = 1;
/**
 * A worker that was ready for this long has answered more than its start cost, whatever ended it: the delay starts
 * over. A longer limit would turn workers that are killed now and then into an outage.
 */
export const STABLE_SECONDS = 1;
/**
 * Consecutive workers of one place that ended before they were ready. Beyond this, the cause will not go away by
 * itself.
 */
export const MAX_FAILED_STARTS = 5;

/** The restart delays of one worker place. */
export class Backoff {
  #restarts = 0;
  #failedStarts = 0;

  /**
   * Call this when a worker has ended, `readySeconds` after it was ready, or undefined if it never was. Returns
   * the seconds to wait before the next start, or 'give up'. A worker that was killed from outside says nothing
   * about the next one: it does not count against the place, and the delay is at most a second (the kernel also
   * kills when memory runs out).
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
