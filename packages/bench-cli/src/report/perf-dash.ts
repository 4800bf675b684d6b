/**
 * The figures as `PerfData`, which perf-dash of kubernetes/perf-tests draws: `version` and `dataItems`, each a few numbers
 * of one unit and labels that tell them apart. Milliseconds and MiB as perf-dash has them, not rounded.
 */
import type { CaseRecord, RunRecord, SummaryStatistic } from '../results/record.ts';
import { MEBIBYTE } from './numbers.ts';

interface DataItem {
  readonly data: Readonly<Record<string, number>>;
  readonly unit: string;
  readonly labels: Readonly<Record<string, string>>;
}

function interval({ median, low, high }: SummaryStatistic, scale: number): Record<string, number> {
  return {
    median: median * scale,
    ...(low === null ? {} : { low: low * scale }),
    ...(high === null ? {} : { high: high * scale }),
  };
}

function itemsOf(item: CaseRecord): DataItem[] {
  const { summary, server, tier, mode, workload, transport, ratePerSecond } = item;
  if (summary === null || item.aa) return [];
  const rate = String(ratePerSecond ?? 'max');
  const labels = { server, tier: String(tier), mode, workload, transport, rate };
  const figure = (name: string, unit: string, statistic: SummaryStatistic | null, scale: number) =>
    statistic === null
      ? []
      : [{ data: interval(statistic, scale), unit, labels: { Metric: name, ...labels } }];
  const percentiles = Object.fromEntries(
    summary.latencyPercentiles?.map(({ percentile, seconds }) => [
      `Perc${percentile}`,
      seconds.median * 1000,
    ]) ?? [],
  );
  return [
    ...figure('qps', '1/s', summary.qps, 1),
    ...figure('latency', 'ms', summary.latencySeconds, 1000),
    ...(Object.keys(percentiles).length === 0
      ? []
      : [{ data: percentiles, unit: 'ms', labels: { Metric: 'latency_percentiles', ...labels } }]),
    ...figure('cpu_per_query', 'ms', summary.cpuSecondsPerQuery, 1000),
    ...figure('memory', 'MiB', summary.memoryBytes, 1 / MEBIBYTE),
    ...figure('lost', '%', summary.lostRatio, 100),
  ];
}

export function renderPerfDash(record: RunRecord): string {
  const data = { version: 'v1', dataItems: record.cases.flatMap(itemsOf) };
  return `${JSON.stringify(data, null, 2)}\n`;
}
