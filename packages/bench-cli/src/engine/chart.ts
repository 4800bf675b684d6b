/** A figure of a case in a chart. Pure. */
import { type IntervalChart, intervalOf, type LineChart } from '../report/document/document.ts';
import { type EngineCase, type EngineRecord, okTrials } from './record.ts';

type Point = IntervalChart['groups'][number]['points'][number];
type LinePoint = LineChart['panels'][number]['lines'][number]['points'][number];

/** The median with its interval and the trials; nothing without the figure. `scale`: from base units to those of the axis. */
export function casePoint(
  record: Pick<EngineRecord<unknown>, 'trials'>,
  { key, summary }: EngineCase,
  figure: string,
  scale: number,
  texts: Pick<Point, 'series' | 'tip'>,
): Point[] {
  const statistic = summary[figure];
  if (statistic == null) return [];
  return [
    {
      ...texts,
      ...intervalOf(statistic, scale),
      samples: okTrials(record, key).flatMap(({ figures }) => {
        const value = figures[figure];
        return value == null ? [] : [value * scale];
      }),
    },
  ];
}

/** The same on a line, at `x`; `tip` says the median. */
export function linePoint(
  statistic: EngineCase['summary'][string] | undefined,
  scale: number,
  x: number,
  tip: (median: number) => string,
): LinePoint[] {
  if (statistic == null) return [];
  const { value: y, low, high } = intervalOf(statistic, scale);
  return [{ x, y, tip: tip(statistic.median), ...(low === null || high === null ? {} : { low, high }) }];
}
