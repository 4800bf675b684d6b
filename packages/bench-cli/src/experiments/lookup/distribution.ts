/** Distributions of times: exact percentiles, and a histogram. */
import { median } from '../../stats/intervals.ts';
import { summed } from './capture/merge.ts';
import type { Distribution, PhaseDistributions } from './evidence.ts';
import { PHASES, type Phase, type Phases } from './sampling/sample.ts';

const PERCENTILES = [50, 75, 90, 99] as const;

const BINS_PER_DECADE = 20;

/** Item ⌈n · p ÷ 100⌉ of ascending values, counted from 1; the first for p = 0. NaN for no values. */
export function nearestRank(ascending: Float64Array, percentile: number): number {
  const rank = Math.ceil((ascending.length * percentile) / 100);
  return ascending[Math.max(1, rank) - 1] ?? Number.NaN;
}

function edge(bin: number): number {
  return Number((10 ** (bin / BINS_PER_DECADE)).toPrecision(6));
}

function histogramOf(ascending: Float64Array): Distribution['histogram'] {
  const counts = new Map<number, number>();
  for (const value of ascending) {
    // Times of less than a nanosecond are zero.
    const bin = Math.floor(Math.log10(Math.max(value, 1e-9)) * BINS_PER_DECADE);
    counts.set(bin, (counts.get(bin) ?? 0) + 1);
  }
  return [...counts].map(([bin, count]) => ({ lowSeconds: edge(bin), highSeconds: edge(bin + 1), count }));
}

/** Null for no values. */
export function distributionOf(values: readonly number[]): Distribution | null {
  const ascending = Float64Array.from(values).sort();
  const [min] = ascending;
  const max = ascending.at(-1);
  if (min === undefined || max === undefined) return null;
  return {
    n: ascending.length,
    min,
    max,
    mean: ascending.reduce((sum, value) => sum + value, 0) / ascending.length,
    percentiles: PERCENTILES.map((percentile) => ({
      percentile,
      seconds: nearestRank(ascending, percentile),
    })),
    histogram: histogramOf(ascending),
  };
}

/** Of several trials: everything is exact but the percentiles, each of which is the median of those of the trials. */
export function mergedDistribution(trials: readonly Distribution[]): Distribution {
  const n = trials.reduce((sum, trial) => sum + trial.n, 0);
  const bins = trials.flatMap(({ histogram }) => histogram);
  return {
    n,
    min: Math.min(...trials.map(({ min }) => min)),
    max: Math.max(...trials.map(({ max }) => max)),
    mean: trials.reduce((sum, trial) => sum + trial.mean * trial.n, 0) / n,
    percentiles: PERCENTILES.map((percentile) => ({
      percentile,
      seconds: median(trials.map((trial) => percentileOf(trial, percentile))),
    })),
    histogram: summed(bins, ({ lowSeconds }) => lowSeconds, 'count').sort(
      (a, b) => a.lowSeconds - b.lowSeconds,
    ),
  };
}

export function ofEachPhase(of: (phase: Phase) => Distribution | null): PhaseDistributions {
  // Every phase is there.
  return Object.fromEntries(PHASES.map((phase) => [phase, of(phase)])) as PhaseDistributions;
}

/** Each phase's distribution; null for no samples. */
export function phaseDistributions(samples: readonly Phases[]): PhaseDistributions | null {
  return samples.length === 0
    ? null
    : ofEachPhase((phase) => distributionOf(samples.map((sample) => sample[phase])));
}

/** The value of that percentile; NaN if the distribution does not have it. */
export function percentileOf({ percentiles }: Distribution, percentile: number): number {
  return percentiles.find((entry) => entry.percentile === percentile)?.seconds ?? Number.NaN;
}

/** The same; null where it would be the largest value: fewer than one of so few lies above it. */
export function tellingPercentile(distribution: Distribution, percentile: number): number | null {
  const isLargest = percentile > 50 && distribution.n * (100 - percentile) < 100;
  return isLargest ? null : percentileOf(distribution, percentile);
}
