/** The charts of a swap: CPU over time with the placements, and what the load costs by version and workload. */
import type { IntervalChart, LineChart } from '../../report/document/document.ts';
import type { SummaryStatistic } from '../../results/record.ts';
import { figuresOf } from './placement-figures.ts';
import type { Phase, SwapRecord, SwapRow, SwapWorkload } from './record.ts';
import { workloadWords } from './words.ts';

const secondsBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;

const inMillicores = (cores: number) => cores * 1000;

/** Samples of a phase; one point in its middle where there are none. */
function pointsOf({ startedAt, observation }: Phase, origin: string): { x: number; y: number }[] {
  if (observation === null) return [];
  const begin = secondsBetween(origin, startedAt);
  const { samples, cpuCores, durationSeconds } = observation;
  const points = samples.map((sample) => ({ x: begin + sample.atSeconds, y: inMillicores(sample.cpuCores) }));
  return points.length > 0 ? points : [{ x: begin + durationSeconds / 2, y: inMillicores(cpuCores) }];
}

/** Each placement is a line and a shade; a minute is 60. */
export function timeChart(record: SwapRecord): LineChart {
  const { placements, startedAt } = record;
  const origin = placements[0]?.startedAt ?? startedAt;
  const minutes = (seconds: number) => seconds / 60;
  return {
    type: 'lines',
    name: 'cpu-over-time',
    title: 'CPU of the DNS containers over time',
    caption:
      'Millicores of all DNS containers together, without their sidecars. Each shade is a placement, with its number, in the colour of its ' +
      'version; within it idle, load with both workloads, idle. Lines join readings of one phase.',
    xAxis: 'minutes since the first placement',
    yAxis: 'millicores',
    panels: [
      {
        title: '',
        lines: placements.flatMap(({ side, number, phases }) =>
          phases.map((phase) => ({
            series: side,
            points: pointsOf(phase, origin).map(({ x, y }) => ({
              x: minutes(x),
              y,
              tip: `Placement ${number}, ${record.versions[side].version}, ${phase.kind}: ${y.toFixed(1)} millicores`,
            })),
          })),
        ),
        bands: placements.map(({ side, startedAt: begin, endedAt, number }) => ({
          from: minutes(secondsBetween(origin, begin)),
          to: minutes(secondsBetween(origin, endedAt)),
          series: side,
          label: String(number),
        })),
      },
    ],
  };
}

interface BarFigure {
  readonly name: string;
  readonly title: string;
  readonly axis: string;
  readonly caption: string;
  /** Of a row, in base units. */
  of(row: SwapRow): SummaryStatistic | null;
  /** Of each placement that counts, in base units. */
  ofPlacement(record: SwapRecord, row: SwapRow): number[];
  /** Base units to those of the axis. */
  readonly scale: number;
}

function placementValues(
  { placements, settings }: SwapRecord,
  { side, workload }: SwapRow,
  value: 'netCores' | 'cpuSecondsPerQuery',
): number[] {
  return placements
    .filter((placement) => placement.side === side)
    .map((placement) => figuresOf(placement, workload, settings.ratePerSecond))
    .flatMap((one) => (one.excluded === null ? (one[value] ?? []) : []));
}

const NET: BarFigure = {
  name: 'net-cpu',
  title: 'What the load costs',
  axis: 'net millicores',
  caption:
    'CPU under load minus CPU when idle. Bars: medians over placements. Whiskers: 95 % intervals of the median. Points: placements, in their order.',
  of: ({ netCores }) => netCores,
  ofPlacement: (record, row) => placementValues(record, row, 'netCores'),
  scale: 1000,
};

const PER_QUERY: BarFigure = {
  name: 'cpu-per-query',
  title: 'CPU per query',
  axis: 'µs per query',
  caption: 'Net CPU ÷ queries answered. Bars, whiskers and points as above.',
  of: ({ cpuSecondsPerQuery }) => cpuSecondsPerQuery,
  ofPlacement: (record, row) => placementValues(record, row, 'cpuSecondsPerQuery'),
  scale: 1e6,
};

function barChart(record: SwapRecord, figure: BarFigure): IntervalChart {
  const { name, title, axis, caption, scale } = figure;
  const workloads = [...new Set(record.results.map(({ workload }) => workload))];
  const pointOf = (row: SwapRow, workload: SwapWorkload) => {
    const statistic = figure.of(row);
    if (statistic === null) return [];
    const { median, low, high, n } = statistic;
    const text = `${(median * scale).toFixed(1)} ${axis}`;
    return [
      {
        series: row.side,
        value: median * scale,
        low: low === null ? null : low * scale,
        high: high === null ? null : high * scale,
        samples: figure.ofPlacement(record, row).map((value) => value * scale),
        tip: `${record.versions[row.side].version}, ${workload}: ${text}, ${n} placements`,
      },
    ];
  };
  return {
    type: 'intervals',
    name,
    title,
    axis,
    caption,
    groups: workloads.map((workload) => ({
      label: `${workload}: ${workloadWords(workload)}`,
      points: record.results
        .filter((row) => row.workload === workload)
        .flatMap((row) => pointOf(row, workload)),
    })),
  };
}

export const netChart = (record: SwapRecord) => barChart(record, NET);
export const perQueryChart = (record: SwapRecord) => barChart(record, PER_QUERY);
