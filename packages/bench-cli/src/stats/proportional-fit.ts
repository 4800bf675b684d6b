/**
 * Least squares for values that scatter in proportion to their size, as memory does that Go collects when it has grown by a
 * share. Pure.
 *
 * The method is quasi-likelihood with a constant coefficient of variation and the identity as its link: P. McCullagh and
 * J. A. Nelder, Generalized Linear Models, 2nd edition, 1989, chapters 8 and 9.
 */
import { CONFIDENCE } from './intervals.ts';
import { dot, type LeastSquares, leastSquares } from './least-squares.ts';
import { studentQuantile } from './student-t.ts';

/** It takes about five; a line that does not settle is as good as its last step. */
const MAX_STEPS = 100;

/** The line has settled when no value of it moves by more than this share of itself. */
const SETTLED = 1e-9;

/** A line may cross zero where there are few values; below this share of the smallest one, it says nothing of the scatter. */
const MIN_SHARE = 0.5;

/**
 * Fits `values` = Σ coefficient × column, where each value counts by its distance from the line as a share of the line. So
 * `residual` is a share: 0.05 where values scatter by 5 %. Null as `leastSquares` is, and for values that are not above zero.
 */
export function proportionalFit(
  columns: readonly (readonly number[])[],
  values: readonly number[],
): LeastSquares | null {
  const least = MIN_SHARE * Math.min(...values);
  if (!(least > 0)) return null;
  let line = values;
  for (let step = 1; ; step += 1) {
    const shares = (column: readonly number[]) => column.map((value, at) => value / (line[at] ?? 1));
    const fit = leastSquares(columns.map(shares), shares(values));
    if (fit === null) return null;
    const estimates = fit.coefficients.map(({ estimate }) => estimate);
    const next = values.map((_, at) => {
      const counts = columns.map((column) => column[at] ?? 0);
      return Math.max(least, dot(estimates, counts));
    });
    const isSettled = next.every((value, at) => Math.abs(value / (line[at] ?? 1) - 1) <= SETTLED);
    if (isSettled || step === MAX_STEPS) return fit;
    line = next;
  }
}

export interface Line {
  readonly estimates: readonly number[];
  readonly covariance: readonly (readonly number[])[];
  /** Scatter as a share of the line. */
  readonly residual: number;
  /** Values behind it, without the number of estimates. At least one. */
  readonly degrees: number;
}

/**
 * Where one further value is expected, and the interval that it lies in with 95 % confidence (Student's t): it scatters
 * itself, and the line is known from few values only.
 */
export function expectedValue(
  { estimates, covariance, residual, degrees }: Line,
  counts: readonly number[],
): { readonly value: number; readonly low: number; readonly high: number } {
  const value = dot(estimates, counts);
  const ofLine = dot(
    counts,
    covariance.map((row) => dot(row, counts)),
  );
  const quantile = studentQuantile(1 - (1 - CONFIDENCE) / 2, degrees);
  const half = quantile * Math.sqrt((residual * value) ** 2 + Math.max(0, ofLine));
  return { value, low: value - half, high: value + half };
}
