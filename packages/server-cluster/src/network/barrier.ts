/**
 * Keeps an error that nobody expected, in the handling of one connection or one datagram, from ending the process: the error is
 * counted and logged, and only that connection or datagram is given up.
 */
import { messageOf } from '@dinodns-bench/program';
import type { Log } from '../log/log.ts';
import type { TransportCounters } from '../metrics/counters.ts';

/** A client that causes an error with each packet must not fill the disk. */
const LOG_EVERY_SECONDS = 1;

export class Barrier {
  readonly #log: Log;
  readonly #counters: TransportCounters;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #omitted = 0;

  constructor(log: Log, counters: TransportCounters) {
    this.#log = log;
    this.#counters = counters;
  }

  /** The same function, which never throws: `giveUp` is called instead. */
  around<A extends unknown[]>(action: (...values: A) => void, giveUp: () => void): (...values: A) => void {
    return (...values) => {
      try {
        action(...values);
      } catch (error) {
        this.caught(error);
        giveUp();
      }
    };
  }

  /** Counts the error, and logs it unless another one was logged within the last second. */
  caught(error: unknown): void {
    this.#counters.count('errors');
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_SECONDS * 1000) {
      this.#omitted++;
      return;
    }
    const details = error instanceof Error ? error.stack : messageOf(error);
    const more = this.#omitted === 0 ? {} : { omitted: this.#omitted };
    this.#log.error(
      { error: details, ...more },
      'An unexpected error; one client is affected. Please report it',
    );
    this.#loggedAt = now;
    this.#omitted = 0;
  }
}
