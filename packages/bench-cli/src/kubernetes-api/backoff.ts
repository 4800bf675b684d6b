/** Retries after transient failures, with growing pauses. */
import type { Clock } from '../world.ts';
import { ApiError, isTransient } from './api-error.ts';

export interface BackoffOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long an API server may be unreachable before that is an error. */
  readonly forSeconds: number;
}

const FIRST_PAUSE_SECONDS = 0.2;
const MAX_PAUSE_SECONDS = 5;

/**
 * The pause after this many failures in a row (from 1): doubled each time, at least what the server asked for.
 * @param random Chooses a share of it in [0.5, 1), so that clients do not all return at once.
 */
export function pauseAfter(failures: number, error?: unknown, random = Math.random): number {
  const pause = Math.min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (failures - 1));
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.max(pause * (0.5 + random() / 2), asked);
}

/** Calls `attempt` until it succeeds, fails permanently, or has failed transiently for `forSeconds`. */
export async function withBackoff<T>(options: BackoffOptions, attempt: () => Promise<T>): Promise<T> {
  const { clock, signal, forSeconds } = options;
  const startedAt = clock.monotonicSeconds();
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const pause = pauseAfter(failures, error);
      const spent = clock.monotonicSeconds() - startedAt;
      if (!isTransient(error) || spent + pause > forSeconds) throw error;
      await clock.sleep(pause, signal);
    }
  }
}
