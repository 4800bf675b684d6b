/** Figures by point and server, with their trials. Pure. */
import type { CaseRecord, CaseSummary, OkTrial, SummaryStatistic } from '../../../results/record.ts';
import type { DecisiveMetric } from '../../../stats/decisive.ts';
import { marksOf } from '../../cases.ts';
import type { IntervalChart } from '../../document/document.ts';
import { formatBytes, formatQps } from '../../numbers.ts';
import { percentileOf, trialPercentile } from '../../percentiles.ts';
import { notableTails } from '../../tail.ts';
import {
  type Data,
  type Draw,
  type FigureUnit,
  intervalText,
  type Missing,
  nameOf,
  thinned,
  timeUnit,
} from './data.ts';

/** With more points than this in one chart, they hide each other and drawing takes seconds. */
const MAX_POINTS = 600;
/** Fewer points of a case would not show how its trials scatter. */
const MIN_PER_CASE = 12;

interface Metric {
  readonly name: string;
  readonly title: string;
  /** Where no case has a figure. */
  readonly missing: Missing;
  readonly isMoreBetter?: boolean;
  /** Whether its marks are those of throughput, which the latency of a closed loop mirrors. */
  readonly isOfThroughput?: boolean;
  summary(item: CaseRecord, summary: CaseSummary): SummaryStatistic | null;
  trial(trial: OkTrial): number | null;
  /** For figures up to `largest` (in base units). */
  unit(largest: number): FigureUnit;
}

export const throughput: Metric = {
  name: 'qps',
  title: 'Throughput',
  missing: 'no trial succeeded',
  isMoreBetter: true,
  isOfThroughput: true,
  summary: (_, { qps }) => qps,
  trial: ({ metrics }) => metrics.qps,
  unit: () => ['queries per second', 1, (value) => `${formatQps(value)} queries/s`],
};

export const latency: Metric = {
  name: 'latency',
  title: 'Average latency',
  missing: 'the load generator measured no latency',
  isOfThroughput: true,
  summary: (_, { latencySeconds }) => latencySeconds,
  trial: ({ metrics }) => metrics.latencySeconds,
  unit: (largest) => timeUnit('average latency', largest),
};

export const p99: Metric = {
  name: 'latency-p99',
  title: '99th percentile of latency',
  missing: 'no p99 is twice or half that of the baseline',
  summary: (item) => percentileOf(item, 99),
  trial: (trial) => trialPercentile(trial, 99),
  unit: (largest) => timeUnit('99th percentile of latency', largest),
};

export const cpuPerQuery: Metric = {
  name: 'cpu-per-query',
  title: 'CPU per query',
  missing: 'the CPU time of the servers was not observed',
  summary: (_, { cpuSecondsPerQuery }) => cpuSecondsPerQuery,
  trial: ({ metrics }) => metrics.cpuSecondsPerQuery,
  unit: (largest) => timeUnit('CPU time per query', largest),
};

export const memory: Metric = {
  name: 'memory',
  title: 'Memory',
  missing: 'the memory of the servers was not observed',
  summary: (_, { memoryBytes }) => memoryBytes,
  trial: ({ metrics }) => metrics.memoryBytes,
  unit: () => ['memory (MiB)', 1024 ** 2, formatBytes],
};

export function figureOf(metric: DecisiveMetric, largest: number) {
  const { title, unit } = metric === 'qps' ? throughput : cpuPerQuery;
  const [axis, size, show] = unit(largest);
  return { title, axis, size, show };
}

/** How many trials of each case are drawn: all of them, unless there are very many. */
function drawnTrials({ groups, trialsOf }: Data): { most: number; isThinned: boolean } {
  const cases = groups.flatMap((group) => group.cases);
  const longest = Math.max(0, ...cases.map((item) => trialsOf(item).length));
  const most = Math.max(MIN_PER_CASE, Math.floor(MAX_POINTS / Math.max(1, cases.length)));
  return longest > most ? { most, isThinned: true } : { most: longest, isThinned: false };
}

/** One figure by point of the matrix and server. */
export function bars(metric: Metric): Draw {
  return (data) => {
    const { record, groups, trialsOf } = data;
    const statisticOf = (item: CaseRecord) =>
      item.summary === null ? null : metric.summary(item, item.summary);
    const statistics = groups.flatMap(({ cases }) => cases.flatMap((item) => statisticOf(item) ?? []));
    const largest = Math.max(0, ...statistics.map(({ median, high }) => high ?? median));
    if (largest === 0) return metric.missing;
    const [axis, size, format] = metric.unit(largest);
    const drawn = drawnTrials(data);
    const point = (item: CaseRecord): IntervalChart['groups'][number]['points'][number] => {
      const statistic = statisticOf(item);
      const name = nameOf(record, item);
      if (statistic === null)
        return { series: item.server, value: null, low: null, high: null, tip: `${name}: no result` };
      const measured = trialsOf(item)
        .toSorted((a, b) => a.round - b.round)
        .flatMap((trial) => {
          const value = metric.trial(trial);
          return value === null
            ? []
            : [{ value, tip: `${name}, trial ${trial.round + 1}: ${format(value)}` }];
        });
      const shown = thinned(measured, drawn.most);
      const { median, low, high } = statistic;
      return {
        series: item.server,
        value: median / size,
        low: low === null ? null : low / size,
        high: high === null ? null : high / size,
        samples: shown.map(({ value }) => value / size),
        sampleTips: shown.map(({ tip }) => tip),
        mark: metric.isOfThroughput === true ? marksOf(item) : '',
        tip: `${name}: median ${format(median)}; ${intervalText(statistic, format)}`,
      };
    };
    return {
      type: 'intervals',
      name: metric.name,
      title: metric.title,
      axis,
      caption:
        `${axis.charAt(0).toUpperCase()}${axis.slice(1)}; ${metric.isMoreBetter === true ? 'higher' : 'lower'} is better. ` +
        'Bars: medians. Whiskers: 95 % intervals. Points: single trials, in the order of the rounds' +
        (drawn.isThinned ? `, of each case ${drawn.most}, evenly chosen.` : '.'),
      groups: groups.map(({ title, cases }) => ({
        label: title.replaceAll(', ', '\n'),
        points: cases.map(point),
      })),
    };
  };
}

/** Only where it tells what the mean does not. */
export const tailBars: Draw = (data) =>
  notableTails(data.record).length === 0 ? p99.missing : bars(p99)(data);
