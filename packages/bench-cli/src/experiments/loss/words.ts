/** How shares and rates are written. Pure. */
import { interval } from '../../engine/words.ts';
import { beside, formatCount, formatPercent, formatShort } from '../../report/numbers.ts';
import type { SummaryStatistic } from '../../results/record.ts';
import { formatDuration, unbroken } from '../../text.ts';

/** `no loss`, `≤ 0.1 % lost` */
export function bandTitle(maxLostRatio: number): string {
  return maxLostRatio === 0 ? 'no loss' : `${unbroken(`≤ ${formatPercent(maxLostRatio)}`)} lost`;
}

/** `24.8 [16.0, 36.5]`, milliseconds; `–` for none. */
export function millisecondsText(summary: SummaryStatistic | null): string {
  return interval(summary, (seconds, { largest } = beside(seconds)) =>
    formatShort(seconds * 1000, beside(largest * 1000)),
  );
}

/** `12,345 queries per second or more (95 % interval 11,900 to 12,800)`; "or more" where the load generator was the limit. */
export function rateWords({ median, low, high }: SummaryStatistic, generatorLimited: number): string {
  const rate = `${formatCount(median)} queries per second${generatorLimited > 0 ? ' or more' : ''}`;
  return low === null || high === null
    ? rate
    : `${rate} (95 % interval ${formatCount(low)} to ${formatCount(high)})`;
}

/** `0.3 s` */
export function secondsText(seconds: number): string {
  return seconds < 10 ? `${Number(seconds.toPrecision(3))} s` : formatDuration(seconds);
}
