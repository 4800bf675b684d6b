/** Readings of counters that somebody else updates, at times of their own. */
import type { Clock } from '../../world.ts';

const PAUSE_SECONDS = 0.5;

export interface SettledOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** After this time the last reading is returned, whether settled or not. */
  readonly seconds: number;
}

export interface Settled<T> {
  readonly values: ReadonlyMap<string, T>;
  /** Keys without a value that was taken after the call began; empty if all is well. */
  readonly stale: readonly string[];
}

/** Reads until every key has a value that was taken after this call began: one that differs from the first. */
export async function readSettled<T>(
  read: () => Promise<ReadonlyMap<string, T>>,
  keys: Iterable<string>,
  isAnother: (before: T, now: T) => boolean,
  { clock, signal, seconds }: SettledOptions,
): Promise<Settled<T>> {
  const wanted = [...keys];
  const end = clock.monotonicSeconds() + seconds;
  const first = await read();
  for (;;) {
    await clock.sleep(PAUSE_SECONDS, signal);
    const values = await read();
    const stale = wanted.filter((key) => {
      const before = first.get(key);
      const now = values.get(key);
      return now === undefined || (before !== undefined && !isAnother(before, now));
    });
    if (stale.length === 0 || clock.monotonicSeconds() >= end) return { values, stale };
  }
}
