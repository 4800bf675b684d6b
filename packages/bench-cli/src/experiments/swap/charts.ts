/** The charts of a swap: CPU over time with the placements, and what the load costs by version and name set. */
import { casePoint } from '../../engine/chart.ts';
import { versionOf } from '../../engine/words.ts';
import type { IntervalChart, LineChart } from '../../report/document/document.ts';
import { NAME_SETS, type Phase, type SwapRecord } from './evidence.ts';
import { estimandName } from './figures.ts';
import { namesWords, placementsOf } from './words.ts';

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
  const placements = placementsOf(record);
  const origin = placements[0]?.startedAt ?? record.startedAt;
  const minutes = (seconds: number) => seconds / 60;
  return {
    type: 'lines',
    name: 'cpu-over-time',
    title: 'CPU of the DNS containers over time',
    caption:
      'Millicores of all DNS containers together, without their sidecars. Each shade is a placement, with its number, in the colour of its ' +
      'version; within it idle, load with both name sets, idle. Lines join readings of one phase.',
    xAxis: 'minutes since the first placement',
    yAxis: 'millicores',
    panels: [
      {
        title: '',
        lines: placements.flatMap(({ case: series, number, version, evidence }) =>
          evidence.phases.map((phase) => ({
            series,
            points: pointsOf(phase, origin).map(({ x, y }) => ({
              x: minutes(x),
              y,
              tip: `Placement ${number}, ${version}, ${phase.kind}: ${y.toFixed(1)} millicores`,
            })),
          })),
        ),
        bands: placements.map(({ case: series, startedAt: begin, endedAt, number }) => ({
          from: minutes(secondsBetween(origin, begin)),
          to: minutes(secondsBetween(origin, endedAt)),
          series,
          label: String(number),
        })),
      },
    ],
  };
}

/** `scale`: from base units to those of the axis. */
const COSTS = [
  {
    figure: 'net',
    ...{ scale: 1000, name: 'net-cpu', title: 'What the load costs', axis: 'net millicores' },
    caption:
      'CPU under load minus CPU when idle. Bars: medians over placements. Whiskers: 95 % intervals of the median, of three or more. Points: placements, in their order.',
  },
  {
    figure: 'query',
    ...{ scale: 1e6, name: 'cpu-per-query', title: 'CPU per query', axis: 'µs per query' },
    caption: 'Net CPU ÷ queries answered. Bars, whiskers and points as above.',
  },
  {
    figure: 'p99',
    ...{ scale: 1000, name: 'latency-p99', title: 'Latency p99', axis: 'ms' },
    caption: 'The time within which 99 of 100 queries were answered. Bars, whiskers and points as above.',
  },
] as const;

export const costCharts = (record: SwapRecord): IntervalChart[] =>
  COSTS.map(({ figure, scale, ...texts }) => ({
    type: 'intervals',
    ...texts,
    groups: NAME_SETS.map((names) => ({
      label: namesWords(names),
      points: record.cases.flatMap((item) => {
        const name = estimandName(figure, names);
        const statistic = item.summary[name];
        const size = `${((statistic?.median ?? 0) * scale).toFixed(1)} ${texts.axis}`;
        const tip = `${versionOf(record, item.subject)}, ${names}: ${size}, ${statistic?.n} placements`;
        return casePoint(record, item, name, scale, { series: item.key, tip });
      }),
    })),
  }));
