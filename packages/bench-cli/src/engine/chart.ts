/** A figure of a case in a chart. Pure. */
import { type IntervalChart, intervalOf } from '../report/document/document.ts';
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
