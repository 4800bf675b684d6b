/**
 * Work that is due after one and the same delay, so that it is due in the order in which it came. Timers of Node.js are
 * whole milliseconds and late by up to one; so a timer ends a little early, and the thread sleeps the rest.
 */

/** The largest delay of an upstream: longer than any resolver waits. */
export const MAX_DELAY_SECONDS = 10;

/** What a timer may be late by. Below that the thread sleeps without the event loop. */
const TIMER_SLACK_MILLISECONDS = 1.5;

/** How long it sleeps at once: what becomes due meanwhile is at most this late, and arriving work waits no longer. */
const MAX_SLEEP_MILLISECONDS = 0.25;

/** Sleeps shorter than this cost more than they are worth. */
const MIN_SLEEP_MILLISECONDS = 0.02;

export class DelayQueue<Item> {
  readonly #handle: (items: readonly Item[]) => void;
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #items: Item[] = [];
  #due: number[] = [];
  #head = 0;
  #isScheduled = false;
  #isClosed = false;

  /** `handle` gets everything that is due at the same moment. */
  constructor(handle: (items: readonly Item[]) => void) {
    this.#handle = handle;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** `due` on the clock of `performance.now()`, never before that of an earlier item. */
  push(item: Item, due: number): void {
    this.#items.push(item);
    this.#due.push(due);
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed || this.size === 0) return;
    this.#isScheduled = true;
    const wait = (this.#due[this.#head] ?? 0) - performance.now() - TIMER_SLACK_MILLISECONDS;
    const turn = () => this.#turn();
    if (wait >= 1) setTimeout(turn, Math.floor(wait));
    else setImmediate(turn);
  }

  #turn(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    const wait = (this.#due[this.#head] ?? 0) - performance.now();
    if (wait > MIN_SLEEP_MILLISECONDS && wait < TIMER_SLACK_MILLISECONDS) {
      Atomics.wait(this.#sleeper, 0, 0, Math.min(wait, MAX_SLEEP_MILLISECONDS));
    }
    this.#takeDue(performance.now() + MIN_SLEEP_MILLISECONDS);
    this.#schedule();
  }

  #takeDue(now: number): void {
    let end = this.#head;
    while (end < this.#due.length && (this.#due[end] ?? 0) <= now) end++;
    if (end === this.#head) return;
    this.#handle(this.#items.slice(this.#head, end));
    this.#head = end;
    // What is done is forgotten, but not with every turn: that would copy the rest each time.
    if (this.#head < 1024 && this.#head < this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#due = this.#due.slice(this.#head);
    this.#head = 0;
  }
}
