/** What the canary, a client of the cluster's DNS, saw of a whole swap, in words. Pure. */
import { formatCount, formatFixed, formatShare } from '../../report/numbers.ts';
import { counted } from '../../text.ts';
import type { CanaryFigures, SwapRecord } from './record.ts';

interface CanaryTotals {
  /** Rolling updates: those of placements, and that at the end if there was one. */
  readonly rollouts: number;
  readonly during: CanaryFigures;
  readonly between: CanaryFigures;
}

function sumOf(counts: readonly (CanaryFigures | null)[]): CanaryFigures {
  const known = counts.filter((one) => one !== null);
  const total = (field: 'seconds' | 'sent' | 'lost') => known.reduce((sum, one) => sum + one[field], 0);
  const longestLossSeconds = Math.max(0, ...known.map((one) => one.longestLossSeconds));
  return { seconds: total('seconds'), sent: total('sent'), lost: total('lost'), longestLossSeconds };
}

/** Null beside the cluster's DNS, which has no canary. */
function canaryOf({ method, placements, restore }: SwapRecord): CanaryTotals | null {
  if (method !== 'in-place') return null;
  const rollouts = [...placements.map(({ rolloutCanary }) => rolloutCanary), restore?.canary ?? null];
  return {
    rollouts: rollouts.filter((one) => one !== null).length,
    during: sumOf(rollouts),
    between: sumOf(placements.map(({ canary }) => canary)),
  };
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

/** Empty without a canary. */
export function canarySentence(record: SwapRecord): string {
  const totals = canaryOf(record);
  if (totals === null) return '';
  const { rollouts, during, between } = totals;
  if (rollouts === 0) return `The canary lost ${lostOf(between)} queries.`;
  const each = rollouts > 1 && during.lost > 0 ? `, ${formatFixed(during.lost / rollouts, 1)} each` : '';
  const inRow =
    during.longestLossSeconds > 0 ? `; losses lasted ${during.longestLossSeconds} s in a row at most` : '';
  return (
    `The canary lost ${lostOf(during)} queries during ${counted(rollouts, 'rolling update')}${each}${inRow}, ` +
    `and ${lostOf(between)} in the rest of the time.`
  );
}
