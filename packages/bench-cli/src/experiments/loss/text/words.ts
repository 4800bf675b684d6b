/** How cases, rates and shares are written. Pure. */
import {
  formatCount,
  formatCpus,
  formatFixed,
  formatOutwards,
  formatShort,
  signed,
} from '../../../report/numbers.ts';
import type { Delta, SummaryStatistic } from '../../../results/record.ts';
import { formatDuration } from '../../../text.ts';
import type { LossCase, LossRecord } from '../record.ts';

/** `0.1 %` */
export function shareText(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(3))} %`;
}

/** `no loss`, `at most 0.1 % lost` */
export function bandTitle(maxLostRatio: number): string {
  return maxLostRatio === 0 ? 'No loss' : `At most ${shareText(maxLostRatio)} lost`;
}

/** The server, and of tier, mode and workload what is not the same in all cases. */
export function caseTitle({ cases, serverRecords }: LossRecord, item: LossCase): string {
  const varies = (value: (item: LossCase) => unknown) => new Set(cases.map(value)).size > 1;
  const title = serverRecords.find(({ name }) => name === item.server)?.title ?? item.server;
  const parts = [
    ...(varies(({ tier }) => tier) ? [`tier ${formatCpus(item.tier)}`] : []),
    ...(varies(({ mode }) => mode) ? [item.mode] : []),
    ...(varies(({ workload }) => workload) ? [item.workload] : []),
  ];
  return [title, ...parts].join(', ');
}

/** Words that stay on one line of a table. */
export function unbroken(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** `12.3 ms [11.9 ms, 12.8 ms]`, on one line; `–` for none. */
export function interval(summary: SummaryStatistic | null, show: (value: number) => string): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null || low === high) return unbroken(show(median));
  return unbroken(`${show(median)} [${show(low)}, ${show(high)}]`);
}

/** `12,345 ±4 %`: with the longer side of the interval, rounded up; `–` for none. */
export function plusMinus(summary: SummaryStatistic | null, show: (value: number) => string): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null || median === 0) return unbroken(show(median));
  const side = Math.max(high - median, median - low) / median;
  return unbroken(`${show(median)} ±${formatCount(Math.ceil(side * 100 - 1e-9))} %`);
}

/** `24.8 [16.0, 36.5]`, milliseconds; `–` for none. */
export function millisecondsText(summary: SummaryStatistic | null): string {
  return interval(summary, (seconds) => formatShort(seconds * 1000));
}

/** `≥ 12,345 ±4 %`: with the sign where the load generator was the limit of any repetition. */
export function rateText(rate: SummaryStatistic | null, generatorLimited: number): string {
  return `${generatorLimited > 0 ? '≥\u00a0' : ''}${plusMinus(rate, formatCount)}`;
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

/** Of a rate, in which more is better. */
const VERDICTS: Readonly<Record<string, string>> = { faster: 'higher', slower: 'lower' };

/** `+12.3 % [+8, +17]: higher` */
export function deltaText({ relative, low, high, verdict }: Delta): string {
  const size = `${signed(formatFixed(relative * 100, 1))}\u00a0%`;
  if (low === null || high === null) return `${size}, no interval`;
  const ends = formatOutwards(low * 100, high * 100, 0);
  return `${size}\u00a0[${signed(ends.low)},\u00a0${signed(ends.high)}]: ${VERDICTS[verdict] ?? verdict}`;
}
