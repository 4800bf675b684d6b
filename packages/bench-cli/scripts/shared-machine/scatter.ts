/** How much the trials of a series scatter, and what explains it. */
import { sum } from '../../src/stats/intervals.ts';
import type { Figure } from './comparisons.ts';
import type { Cause, SeriesRun, ServerName } from './runs.ts';

/** The logarithm of the figure, then the causes, as deviations from their means within a server and run; and how many are free. */
function deviations(
  runs: readonly SeriesRun[],
  servers: readonly ServerName[],
  figure: Figure,
  causes: readonly Cause[],
) {
  const groups = runs.flatMap(({ trials }) =>
    servers.flatMap((server) => {
      const rows = trials[server].flatMap(({ figures, causes: told }) =>
        figures[figure] == null ? [] : [[Math.log(figures[figure]), ...causes.map((cause) => told[cause])]],
      );
      const means = (rows[0] ?? []).map((_, at) => sum(rows.map((each) => each[at] ?? 0)) / rows.length);
      return rows.length === 0 ? [] : [rows.map((each) => each.map((value, at) => value - (means[at] ?? 0)))];
    }),
  );
  const points = groups.flat();
  const columns = [0, ...causes.map((_, at) => at + 1)].map((at) => points.map((point) => point[at] ?? 0));
  return { columns, free: points.length - groups.length };
}

const dot = (a: readonly number[], b: readonly number[]) => sum(a.map((value, at) => value * (b[at] ?? 0)));

/** Adjusted share of the variance within servers and runs that a regression on the causes explains. */
export function explained(
  runs: readonly SeriesRun[],
  servers: readonly ServerName[],
  figure: Figure,
  causes: readonly Cause[],
): number {
  const { columns, free } = deviations(runs, servers, figure, causes);
  const [target = [], ...others] = columns;
  // Gram–Schmidt: each cause without what those before it explain.
  const basis: number[][] = [];
  const residual = (column: readonly number[]) =>
    basis.reduce<number[]>(
      (left, axis) => {
        const along = dot(left, axis) / dot(axis, axis);
        return left.map((value, at) => value - along * (axis[at] ?? 0));
      },
      [...column],
    );
  for (const column of others) basis.push(residual(column));
  const left = residual(target);
  return 1 - dot(left, left) / (free - causes.length) / (dot(target, target) / free);
}

interface Slope {
  readonly slope: number;
  readonly standardError: number;
  /** Standard deviations of the logarithm within runs, before and after. */
  readonly scatter: readonly [number, number];
}

/** Change of the logarithm for each CPU taken, by least squares; null for too few trials. */
export function slopeOf(runs: readonly SeriesRun[], server: ServerName, figure: Figure): Slope | null {
  const { columns, free } = deviations(runs, [server], figure, ['taken']);
  const [log = [], taken = []] = columns;
  if (free < 2) return null;
  const [squares, total] = [dot(taken, taken), dot(log, log)];
  const slope = dot(log, taken) / squares;
  const left = Math.max(0, total - slope ** 2 * squares) / (free - 1);
  return {
    slope,
    standardError: Math.sqrt(left / squares),
    scatter: [Math.sqrt(total / free), Math.sqrt(left)],
  };
}
