/** Readings of counters that somebody else takes, at moments of his own. */
import type { Clock } from '../../world.ts';

export interface SettledOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Given up after this; then the last reading is what there is. */
  readonly seconds: number;
  readonly pauseSeconds?: number;
}

/**
 * Reads until every key has a value that was taken after this call began, which shows in its being another than
 * the first one. Resolves with the values and whether all of them are such.
 */
export async function readSettled<T>(
  read: () => Promise<ReadonlyMap<string, T>>,
  keys: Iterable<string>,
  isAnother: (before: T, now: T) => boolean,
  { clock, signal, seconds, pauseSeconds = 0.5 }: SettledOptions,
): Promise<{ readonly values: ReadonlyMap<string, T>; readonly settled: boolean }> {
  const wanted = [...keys];
  const end = clock.monotonicSeconds() + seconds;
  const first = await read();
  for (;;) {
    if (clock.monotonicSeconds() >= end) return { values: await read(), settled: false };
    await clock.sleep(pauseSeconds, signal);
    const values = await read();
    const settled = wanted.every((key) => {
      const before = first.get(key);
      const now = values.get(key);
      return now !== undefined && (before === undefined || isAnother(before, now));
    });
    if (settled) return { values, settled: true };
  }
}
