/** Latency by percentile: every nine takes the same width, so that the tail shows. */
import { formatTime } from '../numbers.ts';
import { type Chart, type ChartData, frame, nameOf, serverChannels } from './chart.ts';
import { timeUnit } from './metrics.ts';
import { panelFacet, panelGrid } from './panels.ts';

/** 0 for the 0th percentile, 1 for the 90th, 2 for the 99th, 3 for the 99.9th. */
export function nines(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** `99.9 %` */
function percentileText(percentile: number): string {
  return `${Number(percentile.toFixed(6))} %`;
}

/** 1, 2 and 5 of every decade between the ends, or only the powers of ten where they would be too many. */
function logTicks(low: number, high: number): number[] {
  const decades = Array.from(
    { length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 },
    (_, index) => Math.floor(Math.log10(low)) + index,
  );
  const ticks = (steps: readonly number[]) =>
    decades
      .flatMap((decade) => steps.map((step) => step * 10 ** decade))
      .filter((tick) => tick >= low && tick <= high);
  const fine = ticks([1, 2, 5]);
  return fine.length <= 8 ? fine : ticks([1]);
}

const TICKS = [0, 50, 90, 99, 99.9, 99.99, 99.999];

interface Row {
  readonly panel: string;
  readonly server: string;
  readonly nines: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly tip: string;
}

function rowsOf(data: ChartData): Row[] {
  return data.groups.flatMap((group) =>
    group.cases.flatMap((item) =>
      (item.summary?.latencyPercentiles ?? [])
        // The largest latency has infinitely many nines.
        .filter(({ percentile }) => percentile < 100)
        .map(({ percentile, seconds: { median, low, high } }) => ({
          panel: group.title,
          server: item.server,
          nines: nines(percentile),
          value: median,
          low: low ?? median,
          high: high ?? median,
          tip:
            `${nameOf(data, item)}: ${percentileText(percentile)} of answers within ${formatTime(median)}` +
            (low === null || high === null
              ? ''
              : ` (95 % interval ${formatTime(low)} to ${formatTime(high)})`),
        })),
    ),
  );
}

export const percentileChart: Chart = {
  name: 'latency-percentiles',
  title: 'Latency percentiles',
  draw(data, look) {
    const rows = rowsOf(data);
    if (rows.length === 0)
      return {
        missing:
          'the load generator reported none (dnsperf reports only the mean; the built-in loader reports them)',
      };
    const largest = Math.max(...rows.map(({ high }) => high));
    const unit = timeUnit('latency', largest);
    const groups = data.groups.filter(({ title }) => rows.some(({ panel }) => panel === title));
    const { columns, spacing, ...size } = panelGrid(groups, look);
    const { color, shape } = serverChannels(data);
    const from = Math.min(...rows.map((row) => row.nines));
    const to = Math.max(...rows.map((row) => row.nines));
    const ticks = TICKS.filter(
      (percentile) => nines(percentile) >= from - 1e-9 && nines(percentile) <= to + 1e-9,
    );
    const caption =
      'Latency of answered queries by percentile; lower is better. Median of the trials, whiskers: 95 % intervals. ' +
      'Both axes are logarithmic: each step to the right is another nine.';
    const scaled = rows.map((row) => ({
      ...row,
      value: row.value / unit.size,
      low: row.low / unit.size,
      high: row.high / unit.size,
    }));
    const lowest = Math.min(...scaled.map(({ low }) => low));
    const highest = Math.max(...scaled.map(({ high }) => high));
    const x = {
      field: 'nines',
      type: 'quantitative' as const,
      scale: { domain: [from, to], nice: false, zero: false },
      axis: {
        title: 'percentile',
        values: ticks.map(nines),
        labelExpr: `${JSON.stringify(Object.fromEntries(ticks.map((tick) => [nines(tick).toFixed(4), String(tick)])))}[format(datum.value, '.4f')]`,
        labelOverlap: true,
        grid: true,
      },
    };
    const y = {
      field: 'value',
      type: 'quantitative' as const,
      scale: { type: 'log' as const, nice: false, domain: [lowest * 0.85, highest * 1.15] },
      axis: { title: unit.axis, format: '~r', values: logTicks(lowest * 0.85, highest * 1.15) },
    };
    const spec = {
      ...frame(look),
      data: { values: scaled },
      facet: panelFacet(groups),
      columns,
      spacing,
      spec: {
        ...size,
        layer: [
          { mark: { type: 'line' as const, strokeWidth: 2, aria: false }, encoding: { x, y, color } },
          {
            mark: { type: 'rule' as const, strokeWidth: 1.5, opacity: 0.7, aria: false },
            encoding: { x, y: { field: 'low', type: 'quantitative' as const }, y2: { field: 'high' }, color },
          },
          {
            mark: { type: 'point' as const, filled: true, size: 36, opacity: 1 },
            encoding: { x, y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
          },
        ],
      },
    };
    return { spec, caption };
  },
};
