/** Figures with their intervals, by group and series, and the samples that they rest on. */
import { type ChartServer, dodge, type Look, labelExpression, serverChannels } from '../charts/chart.ts';
import { CUT_NOTE, cut, reachOf } from '../charts/cut.ts';
import { labelLines } from '../charts/text-width.ts';
import { MUTED } from '../charts/theme.ts';
import type { IntervalChart } from './document.ts';

/** The axis may cut off whiskers, but no figure and no sample. */
function marksOf(chart: IntervalChart, servers: readonly ChartServer[]) {
  const all = chart.groups.flatMap(({ points }) => points);
  const reach = reachOf(all.flatMap(({ value, samples = [] }) => [value ?? 0, ...samples]));
  return chart.groups.flatMap(({ points }, index) =>
    points.map(({ samples = [], sampleTips = [], ...point }) => {
      const order = servers.findIndex(({ name }) => name === point.series);
      const { left, middle, right } = dodge(Math.max(0, order), Math.max(1, servers.length));
      const place = { left: index + left, middle: index + middle, right: index + right };
      const { value, low, high } = point;
      const ends = cut(low ?? value ?? 0, high ?? value ?? 0, reach);
      const hasWhisker = low !== null && high !== null;
      return { ...point, ...ends, ...place, hasWhisker, server: point.series, samples, sampleTips };
    }),
  );
}

type Marks = ReturnType<typeof marksOf>;

/** The samples side by side, in their order, so that a drift shows. */
function samplesOf(marks: Marks) {
  return marks.flatMap(({ samples, sampleTips, left, middle, right, server }) => {
    const step = (right - left) / (samples.length + 1);
    return samples.map((value, index) => ({
      server,
      value,
      x: samples.length === 1 ? middle : left + (index + 1) * step,
      tip: sampleTips[index] ?? '',
    }));
  });
}

function layers(marks: Marks, servers: readonly ChartServer[], look: Look) {
  const { color, shape } = serverChannels({ servers });
  const x = { field: 'middle', type: 'quantitative' as const };
  const y = { field: 'value', type: 'quantitative' as const };
  const high = { field: 'high', type: 'quantitative' as const };
  const description = { field: 'tip', type: 'nominal' as const };
  const drawn = marks.map(({ samples: _, sampleTips: __, ...mark }) => mark);
  const values = drawn.filter(({ value }) => value !== null);
  const whiskers = drawn.filter(({ hasWhisker }) => hasWhisker);
  const samples = samplesOf(marks);
  const bounds = { x: { field: 'left', type: 'quantitative' as const }, x2: { field: 'right' } };
  const aria = { aria: false };
  const small = { fontSize: look.fontSize - 2, ...aria };
  const tick = {
    type: 'tick' as const,
    thickness: 2,
    size: Math.max(10, look.width / 45),
    opacity: 1,
    orient: 'horizontal' as const,
    ...aria,
  };
  return [
    {
      data: { values: [{}] },
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1.2, ...aria },
      encoding: { y: { datum: 0, type: 'quantitative' as const } },
    },
    {
      data: { values },
      mark: { type: 'rect' as const, opacity: 0.28 },
      encoding: { ...bounds, y, y2: { datum: 0 }, color, description },
    },
    {
      data: { values: samples },
      mark: {
        type: 'point' as const,
        filled: true,
        size: samples.length > 150 ? 14 : 26,
        opacity: 0.75,
        aria: samples.some(({ tip }) => tip !== ''),
      },
      encoding: { x: { field: 'x', type: 'quantitative' as const }, y, color, shape, description },
    },
    {
      data: { values: whiskers },
      mark: { type: 'rule' as const, strokeWidth: 2, ...aria },
      encoding: { x, y: { ...high, field: 'low' }, y2: { field: 'high' }, color },
    },
    {
      data: { values: whiskers },
      mark: tick,
      encoding: { x, y: { ...high, field: 'low' }, color },
    },
    {
      data: { values: whiskers.filter(({ isCutHigh }) => !isCutHigh) },
      mark: tick,
      encoding: { x, y: high, color },
    },
    {
      data: { values: whiskers.filter(({ isCutHigh }) => isCutHigh) },
      mark: { type: 'text' as const, text: '▲', dy: 3, ...small },
      encoding: { x, y: high, color },
    },
    {
      data: { values },
      mark: { type: 'rule' as const, strokeWidth: 3, ...aria },
      encoding: { ...bounds, y, color },
    },
    {
      data: { values: values.filter(({ mark = '' }) => mark !== '') },
      mark: { type: 'text' as const, dy: -9, ...aria, fontSize: look.fontSize },
      encoding: { x, y: high, text: { field: 'mark' }, color },
    },
    {
      data: { values: drawn.filter(({ value }) => value === null) },
      mark: {
        type: 'text' as const,
        text: 'no result',
        angle: 270,
        align: 'left' as const,
        dx: 4,
        color: MUTED.light,
        ...small,
      },
      encoding: { x, y: { datum: 0, type: 'quantitative' as const } },
    },
  ];
}

export function intervalSpec(chart: IntervalChart, servers: readonly ChartServer[], look: Look) {
  const labels = chart.groups.map(({ label }) => labelLines(label.split('\n')));
  const marks = marksOf(chart, servers);
  const spec = {
    width: look.width,
    height: look.height,
    autosize: { type: 'fit' as const, contains: 'padding' as const },
    encoding: {
      x: {
        type: 'quantitative' as const,
        scale: { domain: [-0.5, chart.groups.length - 0.5], nice: false, zero: false },
        axis: {
          title: null,
          values: chart.groups.map((_, index) => index),
          labelExpr: labelExpression(labels),
          ticks: false,
          labelOverlap: false,
          labelPadding: 8,
        },
      },
      y: {
        type: 'quantitative' as const,
        scale: { zero: true, nice: true },
        axis: { title: chart.axis, format: ',~r', tickCount: 6 },
      },
    },
    layer: layers(marks, servers, look),
  };
  return { spec, note: marks.some(({ isCutHigh }) => isCutHigh) ? CUT_NOTE : '' };
}
