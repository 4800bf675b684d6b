/** The figures that have a bar chart. */
import { formatBytes, formatQps, formatTime } from '../numbers.ts';
import { type BarUnit, barChart } from './bars.ts';

/** Seconds on an axis: in milliseconds from one millisecond on, else in microseconds. */
export function timeUnit(what: string, largest: number): BarUnit {
  return largest >= 0.001
    ? { axis: `${what} (ms)`, size: 1e-3, format: formatTime }
    : { axis: `${what} (µs)`, size: 1e-6, format: formatTime };
}

export const throughputChart = barChart({
  name: 'qps',
  title: 'Throughput',
  missing: 'no trial succeeded',
  summary: ({ qps }) => qps,
  trial: ({ qps }) => qps,
  unit: () => ({ axis: 'queries per second', size: 1, format: (value) => `${formatQps(value)} queries/s` }),
  lowerIsBetter: false,
});

export const latencyChart = barChart({
  name: 'latency',
  title: 'Average latency',
  missing: 'the load generator measured no latency',
  summary: ({ latencySeconds }) => latencySeconds,
  trial: ({ latencySeconds }) => latencySeconds,
  unit: (largest) => timeUnit('average latency', largest),
  lowerIsBetter: true,
});

export const cpuChart = barChart({
  name: 'cpu-per-query',
  title: 'CPU per query',
  missing: 'the CPU time of the servers was not observed',
  summary: ({ cpuSecondsPerQuery }) => cpuSecondsPerQuery,
  trial: ({ cpuSecondsPerQuery }) => cpuSecondsPerQuery,
  unit: (largest) => timeUnit('CPU time per query', largest),
  lowerIsBetter: true,
});

export const memoryChart = barChart({
  name: 'memory',
  title: 'Memory',
  missing: 'the memory of the servers was not observed',
  summary: ({ memoryBytes }) => memoryBytes,
  trial: ({ memoryBytes }) => memoryBytes,
  unit: () => ({ axis: 'memory (MiB)', size: 1024 ** 2, format: formatBytes }),
  lowerIsBetter: true,
});
