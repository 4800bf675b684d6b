/** The charts of a comparison, the one of its verdict first. Pure. */
import type {
  CaseRecord,
  CaseSummary,
  NeighbourSecond,
  OkTrial,
  RunRecord,
  SummaryStatistic,
} from '../../results/record.ts';
import { type DeltaDefinition, deltaFigures } from '../../stats/deltas.ts';
import { isHeavy, momentsOf, neighboursOf } from '../../stats/neighbours.ts';
import { wholeIntervals } from '../../stats/steady-state.ts';
import { type CaseGroup, furtherPoint, groupCases, marksOf, serverTitle } from '../cases.ts';
import { type DecisiveMetric, NOT_COMPARED, shownOf } from '../decisive.ts';
import type {
  DifferenceChart,
  DocumentChart,
  IntervalChart,
  LineChart,
  Series,
} from '../document/document.ts';
import { okTrialsByCase } from '../marks.ts';
import { isShared } from '../neighbours.ts';
import { formatBytes, formatCpus, formatDelta, formatFixed, formatQps, formatTime } from '../numbers.ts';
import { percentileOf, trialPercentile } from '../percentiles.ts';
import { notableTails } from '../tail.ts';
import { allowanceChart } from './allowance-chart.ts';

/** Why a record has nothing to draw, as the end of a sentence: "the run has only one tier". */
type Missing = string;

type Draw = (data: Data) => DocumentChart | Missing;

interface Data {
  readonly record: RunRecord;
  readonly delta: DeltaDefinition;
  readonly groups: readonly CaseGroup[];
  trialsOf(item: CaseRecord): readonly OkTrial[];
}

/** With more points than this in one chart, they hide each other and drawing takes seconds. */
const MAX_POINTS = 600;
/** Fewer points of a case would not show how its trials scatter. */
const MIN_PER_CASE = 12;

/** At most `most` of `items`, evenly chosen, the first and the last always among them. */
function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) =>
    Math.round((index * (items.length - 1)) / (most - 1)),
  ).flatMap((index) => items[index] ?? []);
}

/** What charts tell apart: the baseline first, so that it is grey in every report. */
export function seriesOf(record: RunRecord): Series[] {
  const servers = [...new Set([record.baseline, ...record.cases.map(({ server }) => server)])];
  return servers
    .filter((server) => record.cases.some((item) => item.server === server))
    .map((server) => ({ name: server, title: serverTitle(record, server) }));
}

/** `CoreDNS, tier 1, single`, as tooltips begin. */
export function nameOf(record: RunRecord, item: CaseRecord): string {
  const point = [`tier ${formatCpus(item.tier)}`, item.mode, ...furtherPoint(record, item)];
  return [serverTitle(record, item.server), ...point].join(', ');
}

const intervalText = ({ low, high, n }: SummaryStatistic, format: (value: number) => string) =>
  low === null || high === null
    ? 'one trial, no interval'
    : `95 % interval ${format(low)} to ${format(high)}, ${n} trials`;

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
  /** The axis with its unit, the size of the unit, and a figure in text, for figures up to `largest` (in base units). */
  unit(largest: number): readonly [axis: string, size: number, format: (value: number) => string];
}

/** Seconds on an axis: in milliseconds from one millisecond on, otherwise in microseconds. */
function timeUnit(what: string, largest: number): ReturnType<Metric['unit']> {
  return largest >= 0.001 ? [`${what} (ms)`, 1e-3, formatTime] : [`${what} (µs)`, 1e-6, formatTime];
}

const [throughput, latency, p99, cpuPerQuery, memory]: readonly [Metric, Metric, Metric, Metric, Metric] = [
  {
    name: 'qps',
    title: 'Throughput',
    missing: 'no trial succeeded',
    isMoreBetter: true,
    isOfThroughput: true,
    summary: (_, { qps }) => qps,
    trial: ({ metrics }) => metrics.qps,
    unit: () => ['queries per second', 1, (value) => `${formatQps(value)} queries/s`],
  },
  {
    name: 'latency',
    title: 'Average latency',
    missing: 'the load generator measured no latency',
    isOfThroughput: true,
    summary: (_, { latencySeconds }) => latencySeconds,
    trial: ({ metrics }) => metrics.latencySeconds,
    unit: (largest) => timeUnit('average latency', largest),
  },
  {
    name: 'latency-p99',
    title: '99th percentile of latency',
    missing: 'no p99 is twice or half that of the baseline',
    summary: (item) => percentileOf(item, 99),
    trial: (trial) => trialPercentile(trial, 99),
    unit: (largest) => timeUnit('99th percentile of latency', largest),
  },
  {
    name: 'cpu-per-query',
    title: 'CPU per query',
    missing: 'the CPU time of the servers was not observed',
    summary: (_, { cpuSecondsPerQuery }) => cpuSecondsPerQuery,
    trial: ({ metrics }) => metrics.cpuSecondsPerQuery,
    unit: (largest) => timeUnit('CPU time per query', largest),
  },
  {
    name: 'memory',
    title: 'Memory',
    missing: 'the memory of the servers was not observed',
    summary: (_, { memoryBytes }) => memoryBytes,
    trial: ({ metrics }) => metrics.memoryBytes,
    unit: () => ['memory (MiB)', 1024 ** 2, formatBytes],
  },
];

function figureOf(metric: DecisiveMetric, largest: number) {
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
function bars(metric: Metric): Draw {
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
const tailBars: Draw = (data) => (notableTails(data.record).length === 0 ? p99.missing : bars(p99)(data));

/** The verdicts as a picture: the difference of each case from its baseline, with its interval. */
const differences: Draw = ({ record, delta, groups }) => {
  let omitted = 0;
  const rows: DifferenceChart['rows'][number][] = [];
  const places = new Map<string, number[]>();
  for (const { title, cases } of groups) {
    for (const item of cases) {
      const shown = shownOf(item, record, 'qps');
      if (item.comparison === null || shown === null) continue;
      if (shown.verdict === NOT_COMPARED) {
        omitted++;
        continue;
      }
      const { value, low, high } = deltaFigures(shown.delta, delta);
      const interval =
        low === null || high === null
          ? 'no interval; no difference can be shown'
          : `95 % interval ${formatDelta(low)} to ${formatDelta(high)}; ${shown.isAtLeast ? 'a lower bound' : shown.verdict}`;
      const { baseline } = item.comparison;
      places.set(baseline, [...(places.get(baseline) ?? []), rows.length]);
      const bound = shown.isAtLeast ? 'at least ' : '';
      rows.push({
        label: [serverTitle(record, item.server), title],
        series: item.server,
        value,
        low,
        high,
        bound,
        tip: `${nameOf(record, item)}: ${bound}${formatDelta(value)} queries/s, ${interval}`,
      });
    }
  }
  if (rows.length === 0)
    return omitted === 0
      ? 'nothing was compared with a baseline'
      : 'no throughput was limited by the servers';
  const bands = (record.noiseFloors ?? []).flatMap(({ comparison, floor }) => {
    const at = places.get(comparison.baseline) ?? [];
    return at.length === 0 || floor.qps === null
      ? []
      : [{ from: Math.min(...at), to: Math.max(...at), size: floor.qps }];
  });
  const baseline = serverTitle(record, record.baseline);
  return {
    type: 'differences',
    name: 'difference',
    title: 'Difference from the baseline',
    axis: `difference in queries per second (${delta})`,
    caption:
      `Queries per second against ${baseline} at the same point, ${delta} delta; to the right of the line is more. ` +
      'Whiskers: 95 % intervals; where they cross the line, no difference was shown.' +
      (omitted > 0 ? ` Omitted: ${omitted} whose throughput was not limited by the servers.` : '') +
      (bands.length > 0 ? ` Grey: the difference of ${baseline} from itself (the noise floor).` : ''),
    rows,
    bands,
  };
};

/** 0 for the 0th percentile, 1 for the 90th, 2 for the 99th, 3 for the 99.9th. */
export function nines(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** Every nine takes the same width, so that the tail shows. */
const percentiles: Draw = ({ record, groups }) => {
  const panels = groups.map(({ title, cases }) => ({
    title,
    lines: cases.map((item) => ({
      series: item.server,
      points: (item.summary?.latencyPercentiles ?? [])
        // The largest latency has infinitely many nines.
        .filter(({ percentile }) => percentile < 100)
        .map(({ percentile, seconds }) => ({
          x: nines(percentile),
          seconds,
          tip: `${nameOf(record, item)}: ${Number(percentile.toFixed(6))} % of answers within ${formatTime(seconds.median)}; ${intervalText(seconds, formatTime)}`,
        })),
    })),
  }));
  const all = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points));
  if (all.length === 0)
    return 'the load generator reported none (dnsperf reports only the mean; the built-in loader reports them)';
  const [yAxis, size] = timeUnit('latency', Math.max(...all.map(({ seconds }) => seconds.median)));
  return {
    type: 'lines',
    name: 'latency-percentiles',
    title: 'Latency percentiles',
    xAxis: 'percentile',
    yAxis,
    yScale: 'log',
    xTicks: [0, 50, 90, 99, 99.9, 99.99, 99.999].map((at) => ({ at: nines(at), label: String(at) })),
    caption:
      'Latency of answered queries by percentile; lower is better. Median of the trials, whiskers: 95 % intervals. ' +
      'Both axes are logarithmic: each step to the right is another nine.',
    panels: panels.map(({ title, lines }) => ({
      title,
      lines: lines.map(({ series, points }) => ({
        series,
        points: points.map(({ x, tip, seconds: { median, low, high } }) => ({
          x,
          y: median / size,
          low: (low ?? median) / size,
          high: (high ?? median) / size,
          tip,
        })),
      })),
    })),
  };
};

/** Throughput against tier, with the line on which twice the CPUs would mean twice the queries. */
const scaling: Draw = ({ record, groups }) => {
  // What sets cases apart beside server and tier.
  const titleOf = (title: string) => title.replace(/^Tier [^,]+, /, '');
  const panels = [...Map.groupBy(groups, ({ title }) => titleOf(title))].map(([title, members]) => {
    const cases = members
      .flatMap((group) => group.cases)
      .flatMap((item) => (item.summary === null ? [] : [{ ...item, qps: item.summary.qps }]))
      .toSorted((a, b) => a.tier - b.tier);
    const lines = [...Map.groupBy(cases, ({ server }) => server)].flatMap(([series, own]) => {
      const [smallest] = own;
      if (smallest === undefined || own.length < 2) return [];
      const ideal = (tier: number) => (smallest.qps.median * tier) / smallest.tier;
      return [
        {
          series,
          isMarked: false,
          isDashed: true,
          points: own.map(({ tier }) => ({ x: tier, y: ideal(tier), tip: '' })),
        },
        {
          series,
          points: own.map((item) => ({
            x: item.tier,
            y: item.qps.median,
            low: item.qps.low ?? item.qps.median,
            high: item.qps.high ?? item.qps.median,
            tip: `${nameOf(record, item)}: ${formatQps(item.qps.median)} queries/s, ${formatFixed((item.qps.median / ideal(item.tier)) * 100, 0)} % of ideal`,
          })),
        },
      ];
    });
    return { title, lines };
  });
  const drawn = panels.filter(({ lines }) => lines.length > 0);
  if (drawn.length === 0) return 'no server was measured in two tiers of the same mode';
  const tiers = [...new Set(record.cases.map(({ tier }) => tier))];
  return {
    type: 'lines',
    name: 'scaling',
    title: 'Scaling with CPUs',
    xAxis: 'tier (vCPUs)',
    yAxis: 'queries per second',
    xTicks: tiers.map((at) => ({ at, label: formatCpus(at) })),
    xFromZero: true,
    caption:
      'Queries per second against the tier (vCPUs in total); higher is better. Dashed: ideal, proportional to the ' +
      'median of the smallest tier. Whiskers: 95 % intervals.',
    panels: drawn,
  };
};

/** More lines than this of one case overlap; this many, evenly chosen, show the same. */
const MAX_TRIALS = 12;
/** With very many cases, fewer lines each. */
const MAX_LINES = 120;
/** Intervals of a long trial beyond this number are drawn as every n-th. */
const MAX_INTERVALS = 60;

/** The second of the trial in which an interval ended. */
function secondAt(seconds: readonly NeighbourSecond[], at: number): NeighbourSecond | undefined {
  return seconds.find(
    ({ atSeconds, durationSeconds }) => at <= atSeconds && at > atSeconds - durationSeconds,
  );
}

/** Throughput within each trial, second by second: whether it was steady, and what disturbed it. */
const overTime: Draw = ({ record, groups, trialsOf }) => {
  const cases = groups.flatMap((group) => group.cases);
  const cpus = record.environment.availableCpus;
  const drawn = Math.max(3, Math.min(MAX_TRIALS, Math.floor(MAX_LINES / Math.max(1, cases.length))));
  const most = Math.max(0, ...cases.map((item) => trialsOf(item).length));
  const lineOf = (item: CaseRecord, trial: OkTrial) => {
    const intervals = wholeIntervals(trial.load.intervals);
    if (intervals.length < 2) return [];
    const points = thinned(intervals, MAX_INTERVALS).map(({ atSeconds, qps }) => {
      const beside = secondAt(trial.neighbours ?? [], atSeconds);
      const isRinged = beside !== undefined && isHeavy(beside, cpus);
      const others = isRinged
        ? `; others had ${(beside.stealCores + beside.otherCores).toFixed(1)} CPUs`
        : '';
      return {
        x: atSeconds,
        y: qps,
        isRinged,
        tip: `${nameOf(record, item)}, trial ${trial.round + 1}, after ${formatFixed(atSeconds, 1)} s: ${formatQps(qps)} queries/s${others}`,
      };
    });
    return [{ series: item.server, points }];
  };
  const panels = groups
    .map(({ title, cases: members }) => ({
      title,
      lines: members.flatMap((item) =>
        thinned(trialsOf(item), drawn).flatMap((trial) => lineOf(item, trial)),
      ),
    }))
    .filter(({ lines }) => lines.length > 0);
  if (panels.length === 0) return 'no trial has throughput by interval';
  const hasRings = panels.some(({ lines }) =>
    lines.some(({ points }) => points.some(({ isRinged }) => isRinged)),
  );
  return {
    type: 'lines',
    name: 'over-time',
    title: 'Throughput within the trials',
    xAxis: 'seconds since the trial began',
    yAxis: 'queries per second',
    xFromZero: true,
    caption:
      'Queries per second over the time of the trials; each line is a trial.' +
      (hasRings ? ' Rings: others had a large share of the machine then.' : '') +
      (most > drawn ? ` Drawn are ${drawn} trials of each case, evenly chosen.` : ''),
    panels,
  };
};

/** What the rest of the machine took during each trial; null where that was little. */
function othersChart({ record, groups, trialsOf }: Data): LineChart | null {
  if (!isShared(record)) return null;
  const cases = groups.flatMap((group) => group.cases);
  const lines = cases.map((item) => ({
    series: item.server,
    isJoined: false,
    points: thinned(trialsOf(item), MAX_LINES).flatMap((trial) => {
      const beside = neighboursOf(trial);
      if (beside === null) return [];
      const moments = momentsOf(trial).map(({ stealCores, otherCores }) => stealCores + otherCores);
      const mean = beside.stealCores + beside.otherCores;
      return [
        {
          x: trial.order + 1,
          y: mean,
          low: mean,
          high: Math.max(mean, ...moments),
          tip: `${nameOf(record, item)}, trial ${trial.round + 1}: others had ${formatFixed(mean, 2)} CPUs on average, ${formatFixed(beside.stealCores, 2)} of them taken by the hypervisor`,
        },
      ];
    }),
  }));
  return {
    type: 'lines',
    name: 'others',
    title: 'CPU used by other programs',
    xAxis: 'trial, in the order of the run',
    xFromZero: true,
    yAxis: `CPUs, of ${record.environment.availableCpus}`,
    caption:
      'CPUs that other programs and the hypervisor took during each trial: the mean, and up to its highest second.',
    panels: [{ title: '', lines }],
  };
}

export interface Charts {
  readonly drawn: readonly DocumentChart[];
  /** Titles of charts without data, and why. */
  readonly missing: readonly (readonly [title: string, reason: Missing])[];
}

/** Those that the record has data for; `first` is the name of the one that shows the verdict. */
export function chartsOf(record: RunRecord, delta: DeltaDefinition, first: string): Charts {
  const trials = okTrialsByCase(record);
  const data = {
    record,
    delta,
    groups: groupCases(record),
    trialsOf: (item: CaseRecord) => trials.get(item.key) ?? [],
  };
  const all: readonly (readonly [title: string, draw: Draw])[] = [
    ['Difference from the baseline', differences],
    [throughput.title, bars(throughput)],
    [latency.title, bars(latency)],
    ['Latency percentiles', percentiles],
    [cpuPerQuery.title, bars(cpuPerQuery)],
    [memory.title, bars(memory)],
    ['Scaling with CPUs', scaling],
    ['Throughput within the trials', overTime],
  ];
  const results = all.map(([title, draw]) => [title, draw(data)] as const);
  const tail = tailBars(data);
  const others = othersChart(data);
  const allowance = allowanceChart({ ...data, nameOf: (item) => nameOf(record, item), figureOf });
  const drawn = [
    ...results.flatMap(([, result]) => (typeof result === 'string' ? [] : [result])),
    ...(typeof tail === 'string' ? [] : [tail]),
    ...(others === null ? [] : [others]),
    ...(allowance === null ? [] : [allowance]),
  ];
  return {
    drawn: drawn.toSorted((a, b) => Number(b.name === first) - Number(a.name === first)),
    missing: results.flatMap(([title, result]) =>
      typeof result === 'string' ? [[title, result] as const] : [],
    ),
  };
}
