/** What a canary asks, what it counts, and when it has lost too much. Pure. */

import type { CanaryFigures } from '../evidence.ts';

/** Enough to see 1 % within some seconds; nothing for a DNS server. */
export const CANARY_RATE = 20;
/** A query without an answer after this is lost; resolvers ask again after 5 s. */
export const CANARY_TIMEOUT_SECONDS = 2;
export const MAX_LOST_RATIO = 0.01;
/** The share is that of so many seconds: one query of 60 lost is more than 1 %. */
export const WINDOW_SECONDS = 3;
/** So long the share may be larger: a rolling update with one replica loses queries for some seconds, too. */
export const MAX_LOSING_SECONDS = 10;

export interface CanarySecond {
  readonly sent: number;
  readonly lost: number;
}

/** Sums up seconds. Pure. */
export function countSeconds(seconds: readonly CanarySecond[]): CanaryFigures {
  let run = 0;
  let longest = 0;
  for (const { lost } of seconds) {
    run = lost > 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  const sum = (field: keyof CanarySecond) => seconds.reduce((total, second) => total + second[field], 0);
  return { seconds: seconds.length, sent: sum('sent'), lost: sum('lost'), longestLossSeconds: longest };
}

/** Seconds in a row, up to now, in which the share of lost queries was too large. Pure. */
export function losingSeconds(seconds: readonly CanarySecond[]): number {
  let run = 0;
  for (let end = seconds.length; end > 0; end -= 1) {
    const { sent, lost } = countSeconds(seconds.slice(Math.max(0, end - WINDOW_SECONDS), end));
    if (lost <= sent * MAX_LOST_RATIO) break;
    run += 1;
  }
  return run;
}
