import type { CaseRecord } from '../../../results/record.ts';
import { formatTime } from '../../numbers.ts';
import { type Draw, intervalText, nameOf, timeUnit } from './data.ts';

/** 0 for the 0th percentile, 1 for the 90th, 2 for the 99th, 3 for the 99.9th. */
export function nines(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** Every nine takes the same width, so that the tail shows. */
export const percentiles: Draw = ({ record, groups }) => {
  // The largest latency has infinitely many nines.
  const shownOf = ({ summary }: CaseRecord) =>
    (summary?.latencyPercentiles ?? []).filter(({ percentile }) => percentile < 100);
  const all = groups.flatMap(({ cases }) => cases.flatMap(shownOf));
  if (all.length === 0)
    return 'the load generator reported none (dnsperf reports only the mean; the built-in loader reports them)';
  const [yAxis, size] = timeUnit('latency', Math.max(...all.map(({ seconds }) => seconds.median)));
  return {
    type: 'lines',
    name: 'latency-percentiles',
    title: 'Latency percentiles',
    xAxis: 'percentile',
    yAxis,
    yScale: 'log',
    xTicks: [0, 50, 90, 99, 99.9, 99.99, 99.999].map((at) => ({ at: nines(at), label: String(at) })),
    caption:
      'Latency of answered queries by percentile; lower is better. Median of the trials, whiskers: 95 % intervals. ' +
      'Both axes are logarithmic: each step to the right is another nine.',
    panels: groups.map(({ title, cases }) => ({
      title,
      lines: cases.map((item) => ({
        series: item.server,
        points: shownOf(item).map(({ percentile, seconds }) => ({
          x: nines(percentile),
          y: seconds.median / size,
          low: (seconds.low ?? seconds.median) / size,
          high: (seconds.high ?? seconds.median) / size,
          tip: `${nameOf(record, item)}: ${Number(percentile.toFixed(6))} % of answers within ${formatTime(seconds.median)}; ${intervalText(seconds, formatTime)}`,
        })),
      })),
    })),
  };
};
