import type { Clock } from './world.ts';

type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work after the other, in the order of the calls. */
export function oneAtATime(): Alone {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

/**
 * Runs `work` at once, and asks to be alone after some seconds: other work that has begun by then goes on, but none begins until
 * this one has ended.
 */
export async function aloneAfter<T>(
  seconds: number,
  { alone, clock, signal }: { readonly alone: Alone; readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const working = work();
  // It is awaited below, once other work has ended; until then its rejection must not count as unhandled.
  working.catch(() => undefined);
  await Promise.race([clock.sleep(Math.max(0, seconds), signal), working]);
  return alone(() => working);
}
