/** Queries at a steady rate for as long as something takes. */

import type { LoadOutcome } from '../../../loaders/loader.ts';
import type { Clock } from '../../../world.ts';
import type { ScenarioResult } from './evidence.ts';

export interface Sending {
  readonly clock: Clock;
  /** Of the first load: as long as the work is known to take, at least. Later ones take `NEXT_SECONDS`. Whole seconds. */
  readonly firstSeconds: number;
  /** Sends for some seconds, and resolves when the last answer came or was given up. */
  load(load: {
    readonly seconds: number;
    readonly onStarted: () => void;
    readonly signal: AbortSignal;
  }): Promise<LoadOutcome>;
  readonly signal: AbortSignal;
}

/** Whole seconds are the least that loaders take: the work may be over at any time. */
const NEXT_SECONDS = 1;

/**
 * Sends until `work` is done, to the second. The next load begins when the one before has sent its last query, not when it
 * has given up the last answer: otherwise fewer queries would be sent just while they are lost. A load takes time to start, nearly a
 * second on a busy machine, in which nothing would be sent: each is called that much earlier.
 */
export async function underQueries<T>(
  { clock, firstSeconds, load, signal: outer }: Sending,
  work: () => Promise<T>,
): Promise<{ readonly done: T; readonly counts: NonNullable<ScenarioResult['queries']> }> {
  const counts = { sent: 0, lost: 0, servfail: 0 };
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, outer]);
  const loads: Promise<void>[] = [];
  let isOver = false;

  async function sendOnce(seconds: number, onStarted: () => void): Promise<void> {
    const { result } = await load({ seconds, onStarted, signal });
    counts.sent += result.queriesSent;
    counts.lost += result.queriesLost;
    counts.servfail += result.responseCodes.SERVFAIL ?? 0;
  }

  const sending = (async () => {
    while (!isOver) {
      const seconds = loads.length === 0 ? firstSeconds : NEXT_SECONDS;
      const called = clock.monotonicSeconds();
      const started = Promise.withResolvers<void>();
      loads.push(sendOnce(seconds, started.resolve));
      const isAlmostSent = started.promise.then(() => {
        const startSeconds = clock.monotonicSeconds() - called;
        return clock.sleep(Math.max(0, seconds - startSeconds), signal);
      });
      await Promise.race([isAlmostSent, Promise.all(loads)]);
    }
    await Promise.all(loads);
  })();
  const working = work();
  try {
    await Promise.race([working, sending]);
    isOver = true;
    await sending;
    return { done: await working, counts };
  } finally {
    isOver = true;
    failed.abort();
    await Promise.allSettled([working, sending, ...loads]);
  }
}
