import type { Clock } from './world.ts';

type Alone = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs one piece of work after the other, in the order of the calls. */
export interface OneAtATime extends Alone {
  /** Before all that waits, in the order of such calls. */
  readonly next: Alone;
}

export function oneAtATime(): OneAtATime {
  const urgent: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let isBusy = false;
  const inTurn =
    (queue: (() => void)[]): Alone =>
    async (work) => {
      if (isBusy) await new Promise<void>((resolve) => queue.push(resolve));
      isBusy = true;
      try {
        return await work();
      } finally {
        const begin = urgent.shift() ?? waiting.shift();
        if (begin === undefined) isBusy = false;
        else begin();
      }
    };
  return Object.assign(inTurn(waiting), { next: inTurn(urgent) });
}

/** Runs `work` at once. What has begun within these seconds goes on beside it, and from then on none begins until it has ended. */
export async function aloneAfter<T>(
  seconds: number,
  {
    alone,
    clock,
    signal,
  }: { readonly alone: OneAtATime; readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const working = work();
  // It is awaited below, once other work has ended; until then its rejection must not count as unhandled.
  working.catch(() => undefined);
  await Promise.race([clock.sleep(seconds, signal), working]);
  return alone.next(() => working);
}
