/** Waits until the cluster is as wanted, asking again and again. */
import type { BenchError } from '../errors.ts';
import type { Clock } from '../world.ts';

export interface Waiting {
  readonly clock: Clock;
  readonly seconds: number;
  /** Between two questions. Default: 0.5. */
  readonly pollSeconds?: number;
  readonly signal: AbortSignal;
  /** What is not so yet, in words; null if all is. */
  problem(): Promise<string | null>;
  /** For people, when the time is over. */
  late(problem: string): BenchError;
}

/** Resolves with the seconds that it took. */
export async function waitUntil({ clock, seconds, pollSeconds = 0.5, signal, problem, late }: Waiting) {
  const startedAt = clock.monotonicSeconds();
  for (;;) {
    signal.throwIfAborted();
    const found = await problem();
    const spent = clock.monotonicSeconds() - startedAt;
    if (found === null) return spent;
    if (spent > seconds) throw late(found);
    await clock.sleep(pollSeconds, signal);
  }
}
