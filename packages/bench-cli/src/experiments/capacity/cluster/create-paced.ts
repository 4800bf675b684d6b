/** Creates many objects at a bounded pace, and stops when the API server gets slow: it belongs to others as well. */
import { BenchError } from '../../../errors.ts';
import { percentileOf } from '../../../stats/percentile.ts';
import type { Clock } from '../../../world.ts';
import type { Created } from './created.ts';

/** Creations a second, at most. */
export const MAX_CREATION_RATE = 50;

/** Creations in flight: with 4, an API server that takes 80 ms for each still gets 50 a second. */
const MAX_IN_FLIGHT = 4;

/** The slowest of a hundred requests may take this long; a healthy API server's objective is 1 s (Kubernetes SLO). */
export const MAX_P99_SECONDS = 1;

/** Of how many requests the percentile is taken, and of how many at least: one slow request is an accident. */
const WINDOW = 100;
const MIN_REQUESTS = 20;

export interface PaceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default `MAX_CREATION_RATE`. */
  readonly perSecond?: number;
  /** Default `MAX_P99_SECONDS`. */
  readonly maxP99Seconds?: number;
}

/**
 * Calls `create` for each item, no more than `perSecond` times a second.
 * @throws BenchError `E_CLUSTER_REFUSED` as soon as the 99th percentile of the last 100 requests exceeds `maxP99Seconds`;
 * whatever `create` rejects with; the signal's reason.
 */
export async function createPaced<T>(
  items: Iterable<T>,
  create: (item: T) => Promise<void>,
  { clock, signal, perSecond = MAX_CREATION_RATE, maxP99Seconds = MAX_P99_SECONDS }: PaceOptions,
): Promise<Created['creation']> {
  const begin = clock.monotonicSeconds();
  const recent: number[] = [];
  const iterator = items[Symbol.iterator]();
  let nextSlot = begin;
  let created = 0;
  let worstP99Seconds = 0;

  const account = (seconds: number) => {
    created += 1;
    recent.push(seconds);
    if (recent.length > WINDOW) recent.shift();
    if (recent.length < MIN_REQUESTS) return;
    const slowest = percentileOf(recent, 99);
    worstP99Seconds = Math.max(worstP99Seconds, slowest);
    if (slowest <= maxP99Seconds) return;
    throw new BenchError(
      'E_CLUSTER_REFUSED',
      `the API server got slow: 99 % of the last ${recent.length} creations took up to ${slowest.toFixed(2)} s, more than ${maxP99Seconds} s`,
      {
        evidence: [`${created} objects had been created, and are deleted again`],
        fix: 'Try fewer objects (--objects), or a time when the cluster has less to do.',
      },
    );
  };

  const failed = new AbortController();
  const work = async () => {
    for (;;) {
      signal.throwIfAborted();
      if (failed.signal.aborted) return;
      const { value, done } = iterator.next();
      if (done === true) return;
      // Time that was lost is not made up for: that would be a burst.
      const due = Math.max(nextSlot, clock.monotonicSeconds());
      nextSlot = due + 1 / perSecond;
      const early = due - clock.monotonicSeconds();
      if (early > 0) await clock.sleep(early, signal);
      const before = clock.monotonicSeconds();
      await create(value);
      account(clock.monotonicSeconds() - before);
    }
  };
  const workers = Array.from({ length: MAX_IN_FLIGHT }, () =>
    work().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(workers);
  // The first failure; what the others ended with followed from it.
  failed.signal.throwIfAborted();
  return { created, seconds: clock.monotonicSeconds() - begin, worstP99Seconds };
}
