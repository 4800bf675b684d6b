/** How cases, rates and shares are written. Pure. */
import { formatCount, formatCpus, formatFixed, formatOutwards, signed } from '../../../report/numbers.ts';
import type { Delta, SummaryStatistic } from '../../../results/record.ts';
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

/** `12,345 [11,900, 12,800]`, with words kept on one line; `–` for none. */
export function interval(summary: SummaryStatistic | null, show: (value: number) => string): string {
  if (summary === null) return '–';
  const { median, low, high } = summary;
  if (low === null || high === null) return show(median);
  return `${show(median)}\u00a0[${show(low)},\u00a0${show(high)}]`;
}

/** `≥ 12,345 [11,900, 12,800]`: with the sign where the load generator was the limit of any repetition. */
export function rateText(rate: SummaryStatistic | null, generatorLimited: number): string {
  return `${generatorLimited > 0 ? '≥\u00a0' : ''}${interval(rate, formatCount)}`;
}

/** `+12.3 % [+8, +17]: faster` */
export function deltaText({ relative, low, high, verdict }: Delta): string {
  const size = `${signed(formatFixed(relative * 100, 1))}\u00a0%`;
  if (low === null || high === null) return `${size}, no interval`;
  const ends = formatOutwards(low * 100, high * 100, 0);
  return `${size}\u00a0[${signed(ends.low)},\u00a0${signed(ends.high)}]: ${verdict}`;
}
