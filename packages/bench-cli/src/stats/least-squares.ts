/** Linear least squares with intervals of the coefficients, for a few terms. Pure. */
import { CONFIDENCE } from './intervals.ts';
import { studentQuantile } from './student-t.ts';

export interface Coefficient {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export interface LeastSquares {
  /** One for each column, in their order. */
  readonly coefficients: readonly Coefficient[];
  /** Of the estimates with each other, in the order of the columns. */
  readonly covariance: readonly (readonly number[])[];
  /** Standard deviation of the residuals. */
  readonly residual: number;
}

/** A column depends on the others when less than this of its square is its own: rounded counts are never quite proportional. */
const DEPENDENT = 1e-3;

/** The inverse of a symmetric positive matrix; null if its columns depend on each other. */
function inverse(matrix: readonly (readonly number[])[]): number[][] | null {
  const size = matrix.length;
  const rows = matrix.map((row, at) => [...row, ...row.map((_, column) => (column === at ? 1 : 0))]);
  for (let pivot = 0; pivot < size; pivot += 1) {
    const value = rows[pivot]?.[pivot] ?? 0;
    const before = matrix[pivot]?.[pivot] ?? 0;
    if (!(value > DEPENDENT * before)) return null;
    rows[pivot] = (rows[pivot] ?? []).map((entry) => entry / value);
    for (let row = 0; row < size; row += 1) {
      if (row === pivot) continue;
      const factor = rows[row]?.[pivot] ?? 0;
      rows[row] = (rows[row] ?? []).map((entry, column) => entry - factor * (rows[pivot]?.[column] ?? 0));
    }
  }
  return rows.map((row) => row.slice(size));
}

export const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

/**
 * Fits `values` = Σ coefficient × column. Null where the columns depend on each other, or where there are not more values
 * than columns: then nothing can be said of the intervals. They are 95 % intervals by Student's t, which assumes that all
 * values scatter alike around the line.
 */
export function leastSquares(
  columns: readonly (readonly number[])[],
  values: readonly number[],
): LeastSquares | null {
  const degrees = values.length - columns.length;
  if (degrees < 1) return null;
  // Columns of very different sizes (a constant and thousands of objects) are brought to one size first.
  const sizes = columns.map((column) => Math.max(...column.map(Math.abs)));
  if (sizes.some((size) => size === 0)) return null;
  const scaled = columns.map((column, at) => column.map((value) => value / (sizes[at] ?? 1)));
  const inverted = inverse(scaled.map((a) => scaled.map((b) => dot(a, b))));
  if (inverted === null) return null;
  const moments = scaled.map((column) => dot(column, values));
  const estimates = inverted.map((row) => dot(row, moments));
  const fitted = values.map((_, at) =>
    scaled.reduce((sum, column, c) => sum + (column[at] ?? 0) * (estimates[c] ?? 0), 0),
  );
  const squares = values.reduce((sum, value, at) => sum + (value - (fitted[at] ?? 0)) ** 2, 0);
  const residual = Math.sqrt(squares / degrees);
  const quantile = studentQuantile(1 - (1 - CONFIDENCE) / 2, degrees);
  const covariance = inverted.map((row, a) =>
    row.map((entry, b) => (residual ** 2 * entry) / ((sizes[a] ?? 1) * (sizes[b] ?? 1))),
  );
  return {
    residual,
    covariance,
    coefficients: estimates.map((scaledEstimate, at) => {
      const half = quantile * Math.sqrt(Math.max(0, covariance[at]?.[at] ?? 0));
      const estimate = scaledEstimate / (sizes[at] ?? 1);
      return { estimate, low: estimate - half, high: estimate + half };
    }),
  };
}
