/** What the canary, a client of the cluster's DNS, saw of a whole swap, in words. Pure. */
import { formatCount, formatFixed, formatShare } from '../../report/numbers.ts';
import { counted } from '../../text.ts';
import type { CanaryFigures } from './evidence.ts';

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

/** @param rollouts of all rolling updates, that at the end included; `between`: of the rest of the time */
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
