/** Lines over time or over a size, with shaded stretches and horizontal limits, in one panel or several. */
import { type ChartServer, type Look, serverChannels } from '../charts/chart.ts';
import { panelFacet, panelGrid } from '../charts/panels.ts';
import { INK, MUTED, NOISE } from '../charts/theme.ts';
import type { LineChart } from './document.ts';

/** With more points than this, lines are drawn without them. */
const MAX_MARKED = 800;

/** What all layers read, told apart by `layer`: the panels of a facet share one list of data. */
function rowsOf({ panels }: LineChart) {
  return panels.flatMap(({ title: panel, lines, bands = [], marks = [] }) => [
    ...bands.map(({ from, to, series = '', label = '' }) => ({
      layer: series === '' ? 'grey band' : 'band',
      panel,
      server: series,
      x: from,
      x2: to,
      label,
    })),
    ...marks.map(({ y, label }) => ({ layer: 'mark', panel, server: '', y, label })),
    ...lines.flatMap(({ series, isMarked = true, points }, line) =>
      points.map(({ x, y, low, high, tip }) => ({
        layer: 'point',
        panel,
        server: series,
        line: `${panel} ${line}`,
        isMarked,
        x,
        y,
        low: low ?? y,
        high: high ?? y,
        tip,
      })),
    ),
  ]);
}

const only = (layer: string, more = 'true') => [
  { filter: `datum.layer === ${JSON.stringify(layer)} && ${more}` },
];

function layers(chart: LineChart, servers: readonly ChartServer[], look: Look, isMarked: boolean) {
  const { xAxis, yAxis, xScale = 'linear', fromZero = true } = chart;
  const { color, shape } = serverChannels({ servers });
  const x = {
    field: 'x',
    type: 'quantitative' as const,
    scale: { type: xScale, zero: false, nice: false },
    axis: { title: xAxis, tickCount: 6, format: xScale === 'log' ? ',~g' : '~s' },
  };
  const y = {
    field: 'y',
    type: 'quantitative' as const,
    scale: { zero: fromZero, nice: true },
    axis: { title: yAxis, format: ',~r', tickCount: 5 },
  };
  const aria = { aria: false };
  const stretch = { x, x2: { field: 'x2' } };
  return [
    {
      transform: only('grey band'),
      mark: { type: 'rect' as const, color: NOISE.light, opacity: 0.5, ...aria },
      encoding: stretch,
    },
    {
      transform: only('band'),
      mark: { type: 'rect' as const, opacity: 0.13, ...aria },
      encoding: { ...stretch, color },
    },
    // A border, because neighbours may have the same colour.
    {
      transform: only('band'),
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1, opacity: 0.6, ...aria },
      encoding: { x },
    },
    {
      transform: only('band'),
      mark: {
        type: 'text' as const,
        align: 'left' as const,
        baseline: 'top' as const,
        dx: 4,
        dy: 4,
        fontSize: look.fontSize - 2,
        color: INK.light,
        ...aria,
      },
      encoding: { x, y: { value: 0 }, text: { field: 'label', type: 'nominal' as const } },
    },
    {
      transform: only('mark'),
      mark: { type: 'rule' as const, color: MUTED.light, strokeDash: [5, 4], ...aria },
      encoding: { y },
    },
    {
      transform: only('mark'),
      mark: {
        type: 'text' as const,
        align: 'left' as const,
        dx: 4,
        dy: -6,
        fontSize: look.fontSize - 2,
        color: INK.light,
        ...aria,
      },
      encoding: { x: { value: 0 }, y, text: { field: 'label', type: 'nominal' as const } },
    },
    {
      transform: only('point', 'datum.high > datum.low'),
      mark: { type: 'rule' as const, strokeWidth: 1.6, opacity: 0.8, ...aria },
      encoding: { x, y: { ...y, field: 'low' }, y2: { field: 'high' }, color },
    },
    {
      transform: only('point'),
      mark: { type: 'line' as const, strokeWidth: 1.8, ...aria },
      encoding: { x, y, color, detail: { field: 'line', type: 'nominal' as const } },
    },
    {
      transform: only('point', isMarked ? 'datum.isMarked' : 'false'),
      mark: { type: 'point' as const, filled: true, size: 26, opacity: 0.9 },
      encoding: { x, y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
    },
  ];
}

export function lineSpec(chart: LineChart, servers: readonly ChartServer[], look: Look) {
  const rows = rowsOf(chart);
  const points = rows.filter(({ layer }) => layer === 'point').length;
  const { columns, spacing, ...size } = panelGrid(chart.panels, look);
  return {
    data: { values: rows },
    facet: panelFacet(chart.panels),
    columns,
    spacing,
    spec: { ...size, layer: layers(chart, servers, look, points <= MAX_MARKED) },
  };
}
