/** The compared figures: their names, which direction is better, and the words for it. */
import type { Comparison, TrialMetrics } from '../results/record.ts';
import type { Direction } from './summarize.ts';

/** The metrics of a comparison. */
export type ComparedMetric = Exclude<keyof Comparison, 'baseline'> & keyof TrialMetrics;

export const COMPARED_METRICS = ['qps', 'latencySeconds', 'cpuSecondsPerQuery', 'memoryBytes'] as const;

export function byMetric<T>(of: (metric: ComparedMetric) => T): Readonly<Record<ComparedMetric, T>> {
  // With a value for each.
  return Object.fromEntries(COMPARED_METRICS.map((metric) => [metric, of(metric)])) as Record<
    ComparedMetric,
    T
  >;
}

const SPEED = { better: 'faster', worse: 'slower' } as const;
const COST = { better: 'less', worse: 'more' } as const;

export const DIRECTIONS: Readonly<Record<ComparedMetric, Direction>> = {
  qps: { goal: 'higher', ...SPEED },
  latencySeconds: { goal: 'lower', ...SPEED },
  cpuSecondsPerQuery: { goal: 'lower', ...COST },
  memoryBytes: { goal: 'lower', ...COST },
};

/** Names that people type and read. */
export const METRIC_NAMES: Readonly<Record<ComparedMetric, string>> = {
  qps: 'qps',
  latencySeconds: 'latency',
  cpuSecondsPerQuery: 'cpu',
  memoryBytes: 'memory',
};

/** What each is, in words. */
export const METRIC_TITLES: Readonly<Record<ComparedMetric, string>> = {
  qps: 'queries per second',
  latencySeconds: 'mean latency',
  cpuSecondsPerQuery: 'CPU time per query',
  memoryBytes: 'memory',
};

/** The metric of that name (`cpu`) or field (`cpuSecondsPerQuery`), or undefined. */
export function findMetric(name: string): ComparedMetric | undefined {
  return COMPARED_METRICS.find((metric) => metric === name || METRIC_NAMES[metric] === name);
}
