/** tiger-bench's summary of a list of numbers. Pure. */

/** Zero values are omitted there, so an empty summary is `{}`. */
export interface TigerSummary {
  readonly min?: number;
  readonly max?: number;
  readonly avg?: number;
  readonly P50?: number;
  readonly P75?: number;
  readonly P90?: number;
  readonly P99?: number;
  /** Never set for dnsperf, whose numbers are seconds. */
  readonly unit?: string;
  readonly datapoints?: number;
}

const PERCENTILES = [50, 75, 90, 99] as const;

/** Nearest rank: item ⌈n·p/100⌉ of the ascending list, counted from 1; the first one for rank 0. Undefined for none. */
export function nearestRank(ascending: readonly number[], percentile: number): number | undefined {
  const rank = Math.ceil((ascending.length * percentile) / 100);
  return ascending[Math.max(0, rank - 1)];
}

/** Fields in the order of the results file. */
export function summarize(values: readonly number[]): TigerSummary {
  if (values.length === 0) return {};
  const ascending = values.toSorted((a, b) => a - b);
  const fields: [string, number][] = [
    ['min', ascending[0] ?? 0],
    ['max', ascending.at(-1) ?? 0],
    ['avg', values.reduce((sum, value) => sum + value, 0) / values.length],
    ...PERCENTILES.map((p): [string, number] => [`P${p}`, nearestRank(ascending, p) ?? 0]),
    ['datapoints', values.length],
  ];
  return Object.fromEntries(fields.filter(([, value]) => value !== 0));
}
