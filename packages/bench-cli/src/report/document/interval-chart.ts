/** Figures with their intervals, by group and series, and the samples that they rest on. */
import { type ChartServer, dodge, type Look, labelExpression, serverChannels } from '../charts/chart.ts';
import { MUTED } from '../charts/theme.ts';
import type { IntervalChart } from './document.ts';

interface Place {
  readonly left: number;
  readonly middle: number;
  readonly right: number;
}

function marksOf(chart: IntervalChart, servers: readonly ChartServer[]) {
  return chart.groups.flatMap(({ points }, index) =>
    points.map((point) => {
      const order = servers.findIndex(({ server }) => server === point.series);
      const { left, middle, right } = dodge(Math.max(0, order), Math.max(1, servers.length));
      const place: Place = { left: index + left, middle: index + middle, right: index + right };
      return { ...point, ...place, server: point.series };
    }),
  );
}

type Marks = ReturnType<typeof marksOf>;

/** The samples side by side, in their order, so that a drift shows. */
function samplesOf(marks: Marks) {
  return marks.flatMap(({ samples = [], left, middle, right, server }) => {
    const step = (right - left) / (samples.length + 1);
    return samples.map((value, index) => ({
      server,
      value,
      x: samples.length === 1 ? middle : left + (index + 1) * step,
    }));
  });
}

function layers(marks: Marks, servers: readonly ChartServer[], look: Look) {
  const { color, shape } = serverChannels({ servers });
  const x = { field: 'middle', type: 'quantitative' as const };
  const whiskers = marks.filter(({ low, high }) => low !== null && high !== null);
  const bounds = { x: { field: 'left', type: 'quantitative' as const }, x2: { field: 'right' } };
  const aria = { aria: false };
  return [
    {
      data: { values: [{}] },
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1.2, ...aria },
      encoding: { y: { datum: 0, type: 'quantitative' as const } },
    },
    {
      data: { values: marks.map(({ samples: _, ...mark }) => mark) },
      mark: { type: 'rect' as const, opacity: 0.28 },
      encoding: {
        ...bounds,
        y: { field: 'value', type: 'quantitative' as const },
        y2: { datum: 0 },
        color,
        description: { field: 'tip', type: 'nominal' as const },
      },
    },
    {
      data: { values: samplesOf(marks) },
      mark: { type: 'point' as const, filled: true, size: 24, opacity: 0.7, ...aria },
      encoding: {
        x: { field: 'x', type: 'quantitative' as const },
        y: { field: 'value', type: 'quantitative' as const },
        color,
        shape,
      },
    },
    {
      data: { values: whiskers.map(({ samples: _, ...mark }) => mark) },
      mark: { type: 'rule' as const, strokeWidth: 2, ...aria },
      encoding: { x, y: { field: 'low', type: 'quantitative' as const }, y2: { field: 'high' }, color },
    },
    ...(['low', 'high'] as const).map((end) => ({
      data: { values: whiskers.map(({ samples: _, ...mark }) => mark) },
      mark: {
        type: 'tick' as const,
        thickness: 2,
        size: Math.max(10, look.width / 45),
        opacity: 1,
        orient: 'horizontal' as const,
        ...aria,
      },
      encoding: { x, y: { field: end, type: 'quantitative' as const }, color },
    })),
    {
      data: { values: marks.map(({ samples: _, ...mark }) => mark) },
      mark: { type: 'rule' as const, strokeWidth: 3, ...aria },
      encoding: { ...bounds, y: { field: 'value', type: 'quantitative' as const }, color },
    },
  ];
}

export function intervalSpec(chart: IntervalChart, servers: readonly ChartServer[], look: Look) {
  const labels = chart.groups.map(({ label }) => [label]);
  return {
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
    layer: layers(marksOf(chart, servers), servers, look),
  };
}
