/** A figure of a case in a chart. Pure. */
import type { IntervalChart } from '../report/document/document.ts';
import { type EngineCase, type EngineRecord, okTrials } from './record.ts';

type Point = IntervalChart['groups'][number]['points'][number];

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
  const { median, n } = statistic;
  // The interval of two trials is many times as wide as they are apart.
  const { low, high } = n < 3 ? { low: null, high: null } : statistic;
  return [
    {
      ...texts,
      value: median * scale,
      low: low === null ? null : low * scale,
      high: high === null ? null : high * scale,
      samples: okTrials(record, key).flatMap(({ figures }) => {
        const value = figures[figure];
        return value == null ? [] : [value * scale];
      }),
    },
  ];
}
