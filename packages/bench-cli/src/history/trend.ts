/** A figure over time: one line per case and machine, with the points where its level changed. */
import { AXES, axisText } from '../config/case-filter.ts';
import { changePoints } from '../stats/change-points.ts';
import type { FigureRow } from './database.ts';

export interface TrendPoint {
  readonly runId: string;
  readonly at: string;
  readonly commit: string | null;
  readonly median: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
}

export interface TrendChange {
  /** Position of the first point of the new level. */
  readonly position: number;
  readonly pValue: number;
  readonly relativeChange: number;
}

export interface TrendLine {
  readonly server: string | null;
  readonly tier: number | null;
  readonly mode: string | null;
  readonly workload: string | null;
  readonly transport: string | null;
  readonly ratePerSecond: number | null;
  /** Figures of different machines are not on the same line. */
  readonly machine: string;
  readonly points: readonly TrendPoint[];
  readonly changes: readonly TrendChange[];
}

/**
 * Lines from figures in order of time. Change points need at least six runs and are found on the medians; the intervals
 * show how certain each median is.
 */
export function trendLines(figures: readonly FigureRow[], seed: string): TrendLine[] {
  const keyOf = (row: FigureRow) => JSON.stringify([...AXES.map((axis) => axisText(row, axis)), row.machine]);
  const lines = Map.groupBy(figures, keyOf);
  return [...lines].flatMap(([key, rows]) => {
    const [first] = rows;
    if (first === undefined) return [];
    const medians = rows.map(({ median }) => median);
    return [
      {
        server: first.server,
        tier: first.tier,
        mode: first.mode,
        workload: first.workload,
        transport: first.transport,
        ratePerSecond: first.ratePerSecond,
        machine: first.machine,
        points: rows.map(({ runId, startedAt, commit, median, low, high, n }) => ({
          runId,
          at: startedAt,
          commit,
          median,
          low,
          high,
          n,
        })),
        // The level of a figure of zero has no logarithm; there are none that bench compares.
        changes: medians.every((value) => value > 0) ? changePoints(medians, `${seed}${key}`) : [],
      },
    ];
  });
}
