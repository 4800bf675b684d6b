/** Bars with whiskers and points: one figure by point of the matrix and server. */
import type { CaseRecord, CaseSummary, SummaryStatistic, TrialMetrics } from '../../results/record.ts';
import { marksOf } from '../cases.ts';
import {
  type Chart,
  type ChartData,
  dodge,
  drawnTrials,
  frame,
  type Look,
  labelExpression,
  labelLines,
  nameOf,
  serverChannels,
  thinned,
} from './chart.ts';
import { CUT_NOTE, cut, reachOf } from './cut.ts';
import { MUTED } from './theme.ts';

export interface BarUnit {
  /** Name on the axis, with the unit: `queries per second`. */
  readonly axis: string;
  /** Base units in one of this unit. */
  readonly size: number;
  /** A figure in base units with its unit, for tooltips. */
  format(value: number): string;
}

export interface BarMetric {
  readonly name: string;
  readonly title: string;
  /** `the load generator gave no latency`, where no case has a figure. */
  readonly missing: string;
  summary(summary: CaseSummary): SummaryStatistic | null;
  trial(metrics: TrialMetrics): number | null;
  /** The unit that suits figures up to `largest` (in base units). */
  unit(largest: number): BarUnit;
  readonly lowerIsBetter: boolean;
}

interface Bar {
  readonly server: string;
  readonly left: number;
  readonly middle: number;
  readonly right: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly isCutHigh: boolean;
  readonly tip: string;
  readonly marks: string;
}

interface Point {
  readonly server: string;
  readonly x: number;
  readonly value: number;
  readonly tip: string;
}

function tipOf(name: string, statistic: SummaryStatistic, unit: BarUnit): string {
  const { median, low, high, n } = statistic;
  const interval =
    low === null || high === null
      ? 'one trial, no interval'
      : `95 % interval ${unit.format(low)} to ${unit.format(high)}, ${n} trials`;
  return `${name}: median ${unit.format(median)}; ${interval}`;
}

function pointsOf(
  data: ChartData,
  item: CaseRecord,
  metric: BarMetric,
  unit: BarUnit,
  place: { left: number; right: number },
): Point[] {
  const measured = data
    .trialsOf(item)
    .toSorted((a, b) => a.round - b.round)
    .flatMap((trial) => {
      const value = metric.trial(trial.metrics);
      return value === null ? [] : [{ value, round: trial.round }];
    });
  const shown = thinned(measured, drawnTrials(data).most);
  const margin = (place.right - place.left) * 0.12;
  const step = (place.right - place.left - 2 * margin) / Math.max(1, shown.length - 1);
  return shown.map(({ value, round }, index) => ({
    server: item.server,
    // In the order of the rounds, so that a drift shows; a single one in the middle.
    x: shown.length === 1 ? (place.left + place.right) / 2 : place.left + margin + index * step,
    value: value / unit.size,
    tip: `${nameOf(data, item)}, trial ${round + 1}: ${unit.format(value)}`,
  }));
}

function layers(look: Look, data: ChartData, { bars, points, none }: Marks) {
  const { color, shape } = serverChannels(data);
  const x = { field: 'middle', type: 'quantitative' as const };
  const y = { field: 'value', type: 'quantitative' as const };
  const cap = Math.max(5, look.width / 90);
  const whiskers = bars.filter(({ low, high }) => high > low);
  const aria = { aria: false };
  return [
    {
      data: { values: [...bars] },
      mark: { type: 'rect' as const, opacity: 0.32 },
      encoding: {
        x: { field: 'left', type: 'quantitative' as const },
        x2: { field: 'right' },
        y,
        y2: { datum: 0 },
        color,
        description: { field: 'tip', type: 'nominal' as const },
      },
    },
    {
      data: { values: [...bars] },
      mark: { type: 'rule' as const, strokeWidth: 2.5, ...aria },
      encoding: { x: { field: 'left', type: 'quantitative' as const }, x2: { field: 'right' }, y, color },
    },
    {
      data: { values: [...points] },
      mark: { type: 'point' as const, filled: true, size: points.length > 150 ? 14 : 30, opacity: 0.85 },
      encoding: {
        x: { field: 'x', type: 'quantitative' as const },
        y,
        color,
        shape,
        description: { field: 'tip', type: 'nominal' as const },
      },
    },
    {
      data: { values: whiskers },
      mark: { type: 'rule' as const, strokeWidth: 1.8, ...aria },
      encoding: { x, y: { field: 'low', type: 'quantitative' as const }, y2: { field: 'high' }, color },
    },
    ...(['low', 'high'] as const).map((end) => ({
      data: { values: end === 'high' ? whiskers.filter(({ isCutHigh }) => !isCutHigh) : whiskers },
      mark: {
        type: 'tick' as const,
        thickness: 1.8,
        size: cap * 2,
        opacity: 1,
        orient: 'horizontal' as const,
        ...aria,
      },
      encoding: { x, y: { field: end, type: 'quantitative' as const }, color },
    })),
    {
      data: { values: whiskers.filter(({ isCutHigh }) => isCutHigh) },
      mark: { type: 'text' as const, text: '▲', dy: 3, fontSize: look.fontSize - 2, ...aria },
      encoding: { x, y: { field: 'high', type: 'quantitative' as const }, color },
    },
    {
      data: { values: bars.filter(({ marks }) => marks !== '') },
      mark: { type: 'text' as const, dy: -9, fontSize: look.fontSize, ...aria },
      encoding: { x, y: { field: 'high', type: 'quantitative' as const }, text: { field: 'marks' }, color },
    },
    {
      data: { values: none },
      mark: {
        type: 'text' as const,
        angle: 270,
        align: 'left' as const,
        dx: 4,
        fontSize: look.fontSize - 2,
        color: MUTED.light,
        ...aria,
      },
      encoding: { x, y: { datum: 0, type: 'quantitative' as const }, text: { field: 'text' } },
    },
  ];
}

/** Everything that `layers` draws. */
interface Marks {
  readonly bars: Bar[];
  readonly points: Point[];
  /** Labels of cases without a figure. */
  readonly none: { readonly middle: number; readonly text: string }[];
}

/** The top of the axis, in the unit: it may cut off whiskers, but no median and no trial. */
function axisReach(
  data: ChartData,
  metric: BarMetric,
  unit: BarUnit,
  statistics: readonly SummaryStatistic[],
): number {
  const trials = data.groups.flatMap(({ cases }) =>
    cases.flatMap((item) => data.trialsOf(item).flatMap(({ metrics }) => metric.trial(metrics) ?? [])),
  );
  return reachOf([...statistics.map(({ median }) => median), ...trials]) / unit.size;
}

function placeMarks(data: ChartData, metric: BarMetric, unit: BarUnit, reach: number): Marks {
  const marks: Marks = { bars: [], points: [], none: [] };
  for (const [index, group] of data.groups.entries()) {
    for (const [order, { server }] of data.servers.entries()) {
      const item = group.cases.find((candidate) => candidate.server === server);
      if (item === undefined) continue;
      const offset = dodge(order, data.servers.length);
      const place = {
        left: index + offset.left,
        middle: index + offset.middle,
        right: index + offset.right,
      };
      const statistic = item.summary === null ? null : metric.summary(item.summary);
      if (statistic === null) {
        marks.none.push({ middle: place.middle, text: 'no result' });
        continue;
      }
      const { median, low, high } = statistic;
      marks.bars.push({
        ...place,
        server,
        value: median / unit.size,
        ...cut((low ?? median) / unit.size, (high ?? median) / unit.size, reach),
        tip: tipOf(nameOf(data, item), statistic, unit),
        marks: marksOf(item),
      });
      marks.points.push(...pointsOf(data, item, metric, unit, place));
    }
  }
  return marks;
}

function captionOf(data: ChartData, metric: BarMetric, unit: BarUnit, bars: readonly Bar[]): string {
  const drawn = drawnTrials(data);
  const caption =
    `${unit.axis.charAt(0).toUpperCase()}${unit.axis.slice(1)}; ${metric.lowerIsBetter ? 'lower' : 'higher'} is better. ` +
    'Bars: medians. Whiskers: 95 % intervals. Points: single trials, in the order of the rounds' +
    (drawn.isThinned ? `, of each case ${drawn.most}, evenly chosen.` : '.');
  return bars.some(({ isCutHigh }) => isCutHigh) ? caption + CUT_NOTE : caption;
}

/** The groups of cases from left to right, the figure upwards. */
function axes({ groups }: ChartData, unit: BarUnit) {
  return {
    x: {
      type: 'quantitative' as const,
      scale: { domain: [-0.5, groups.length - 0.5], nice: false, zero: false },
      axis: {
        title: null,
        values: groups.map((_, index) => index),
        labelExpr: labelExpression(groups.map(labelLines)),
        ticks: false,
        labelOverlap: false,
        labelPadding: 8,
      },
    },
    y: {
      type: 'quantitative' as const,
      scale: { zero: true, nice: true },
      axis: { title: unit.axis, format: ',~r', tickCount: 6 },
    },
  };
}

/** The chart of one figure. */
export function barChart(metric: BarMetric): Chart {
  return {
    name: metric.name,
    title: metric.title,
    draw(data, look) {
      const statistics = data.groups.flatMap(({ cases }) =>
        cases.flatMap(({ summary }) => (summary === null ? [] : (metric.summary(summary) ?? []))),
      );
      const largest = Math.max(0, ...statistics.map(({ median, high }) => high ?? median));
      if (largest === 0) return { missing: metric.missing };
      const unit = metric.unit(largest);
      const marks = placeMarks(data, metric, unit, axisReach(data, metric, unit, statistics));
      const spec = {
        ...frame(look),
        width: look.width,
        height: look.height,
        autosize: { type: 'fit' as const, contains: 'padding' as const },
        encoding: axes(data, unit),
        layer: layers(look, data, marks),
      };
      return { spec, caption: captionOf(data, metric, unit, marks.bars) };
    },
  };
}
