/**
 * How much the CPU limit held a server back: the share of the quota's periods in which it was stopped. Not a share of
 * time: the kernel's throttled seconds (`throttled_time`, `throttled_usec`) are sums over all CPUs on which the group
 * wanted to run, so they can exceed the time that has passed.
 * https://docs.kernel.org/scheduler/sched-bwc.html#statistics
 */
import type { Observation, OkTrial } from '../results/record.ts';
import { median } from '../stats/intervals.ts';
import { formatFixed } from './numbers.ts';

/** Between 0 and 1; null where the kernel did not say, or where there was no period. */
export function throttledShare(observation: Pick<Observation, 'throttling'> | null): number | null {
  const throttling = observation?.throttling ?? null;
  if (throttling === null || throttling.periods === 0) return null;
  // The two counters are not read at the same instant.
  return Math.min(1, throttling.throttledPeriods / throttling.periods);
}

/** The median over the trials that have one; null if none has. */
export function throttledShareOf(trials: readonly Pick<OkTrial, 'server'>[]): number | null {
  const shares = trials.flatMap(({ server }) => throttledShare(server) ?? []);
  return shares.length === 0 ? null : median(shares);
}

/** `98 %` */
export function formatThrottled(share: number): string {
  return `${formatFixed(share * 100, 0)} %`;
}

/** For the notes below tables. */
export const THROTTLED_EXPLANATION =
  'Throttled is the share of scheduling periods (usually 100 ms) in which the CPU limit stopped the server.';
