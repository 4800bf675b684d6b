/** What a canary asks, what it counts, in figures and in words, and when it has lost too much. Pure. */
import { formatCount, formatFixed, formatShare } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import type { CanaryFigures } from '../evidence.ts';

/** Enough to see 1 % within some seconds; nothing for a DNS server. */
export const CANARY_RATE = 20;
/** A query without an answer after this is lost; resolvers ask again after 5 s. */
export const CANARY_TIMEOUT_SECONDS = 2;
export const MAX_LOST_RATIO = 0.01;
/** The share is over this number of seconds: one query of 60 lost is more than 1 %. */
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

function sumOf(known: readonly CanaryFigures[]): CanaryFigures {
  const total = (field: 'seconds' | 'sent' | 'lost') => known.reduce((sum, one) => sum + one[field], 0);
  const longestLossSeconds = Math.max(0, ...known.map((one) => one.longestLossSeconds));
  return { seconds: total('seconds'), sent: total('sent'), lost: total('lost'), longestLossSeconds };
}

/** `12 of 2,400`. */
export function countsOf({ sent, lost }: Pick<CanaryFigures, 'sent' | 'lost'>): string {
  return `${formatCount(lost)} of ${formatCount(sent)}`;
}

/** `12 of 240 (5.00%)`. */
export function lostOf({ sent, lost }: CanaryFigures): string {
  const counts = countsOf({ sent, lost });
  return sent === 0 ? counts : `${counts} (${formatShare(lost / sent)})`;
}

/** Of a whole swap. @param rollouts of all rolling updates, that at the end included; `between`: of the rest of the time */
export function canarySentence(seen: {
  readonly rollouts: readonly CanaryFigures[];
  readonly between: readonly CanaryFigures[];
}): string {
  const { length } = seen.rollouts;
  const [during, between] = [sumOf(seen.rollouts), sumOf(seen.between)];
  if (length === 0) return `The canary lost ${lostOf(between)} queries.`;
  const each = length > 1 && during.lost > 0 ? `, ${formatFixed(during.lost / length, 1)} each` : '';
  const inRow =
    during.longestLossSeconds > 0 ? `; losses lasted ${during.longestLossSeconds} s in a row at most` : '';
  return (
    `The canary lost ${lostOf(during)} queries during ${counted(length, 'rolling update')}${each}${inRow}, ` +
    `and ${lostOf(between)} in the rest of the time.`
  );
}
