/**
 * How many queries the framework may work on at once, over all transports of a process. Its handlers may be slow, as with a
 * database; what nobody waits for any more must not fill the memory.
 */

/** Each takes about 3 KB: 24 MB in all. Handlers that take 1 s can then answer 8,192 queries a second. */
export const DEFAULT_MAX_PENDING = 8192;

export class PendingLimit {
  readonly #most: number;
  #count = 0;

  constructor(most: number = DEFAULT_MAX_PENDING) {
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** Counts one more query, which must `leave` once. False, and nothing is counted, if there are too many. */
  enter(): boolean {
    if (this.#count >= this.#most) return false;
    this.#count++;
    return true;
  }

  leave(): void {
    this.#count--;
  }
}
