/** One rule for percentiles of a few values; that of `beside/program/memory.mjs`, too, which cannot import this. Pure. */

/** Nearest rank: the smallest value that at least this percentage of the values do not exceed. 0 for none. */
export function percentileOf(values: readonly number[], percent: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.max(1, Math.ceil((ascending.length * percent) / 100)) - 1] ?? 0;
}

/** Of those that a load generator gives, or of their summaries; null where it does not give this one. */
export function percentileIn<T>(
  percentiles: readonly { readonly percentile: number; readonly seconds: T }[] | null | undefined,
  wanted: number,
): T | null {
  return percentiles?.find(({ percentile }) => percentile === wanted)?.seconds ?? null;
}
