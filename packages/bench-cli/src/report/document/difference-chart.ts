/** Differences from a baseline, one below the other, each with its interval. */
import { type ChartServer, type Look, labelExpression, serverChannels } from '../charts/chart.ts';
import { CUT_NOTE, cut, reachOf } from '../charts/cut.ts';
import { labelLine, labelLines } from '../charts/text-width.ts';
import { MUTED, NOISE } from '../charts/theme.ts';
import { formatFixed, signed } from '../numbers.ts';
import type { DifferenceChart } from './document.ts';

/** From this many rows on, they are one line high, and their figures are only in tooltips and tables. */
const MANY = 9;

/** A narrower scale would make negligible differences look large. */
const MIN_REACH = 0.2;

function layers(chart: DifferenceChart, servers: readonly ChartServer[], look: Look, reach: number) {
  const { color, shape } = serverChannels({ servers });
  const y = { field: 'position', type: 'quantitative' as const };
  const at = (field: string) => ({ field, type: 'quantitative' as const });
  const aria = { aria: false };
  const rows = chart.rows.map(({ label: _, series, low, high, ...row }, position) => ({
    ...row,
    ...cut(low ?? row.value, high ?? row.value, reach),
    position,
    server: series,
    text: `${row.bound}${signed(formatFixed(row.value * 100, 1))} %`,
  }));
  const end = Math.max(...rows.map(({ high }) => high));
  const noise = chart.bands.map(({ from, to, size }) => ({
    from: from - 0.45,
    to: to + 0.45,
    low: -Math.min(size, reach, 1),
    high: size,
  }));
  const layer = [
    {
      data: { values: noise },
      mark: { type: 'rect' as const, color: NOISE.light, opacity: 0.55, ...aria },
      encoding: { x: at('low'), x2: { field: 'high' }, y: at('from'), y2: { field: 'to' } },
    },
    {
      data: { values: [{}] },
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1.5, ...aria },
      encoding: { x: { datum: 0, type: 'quantitative' as const } },
    },
    {
      data: { values: rows },
      mark: { type: 'rule' as const, strokeWidth: 2.5, ...aria },
      encoding: { x: at('low'), x2: { field: 'high' }, y, color },
    },
    ...(['low', 'high'] as const).flatMap((end) => {
      const isCut = (row: (typeof rows)[number]) => (end === 'low' ? row.isCutLow : row.isCutHigh);
      const encoding = { x: at(end), y, color };
      return [
        {
          data: { values: rows.filter((row) => row.high > row.low && !isCut(row)) },
          mark: {
            type: 'tick' as const,
            thickness: 2.5,
            size: 12,
            opacity: 1,
            orient: 'vertical' as const,
            ...aria,
          },
          encoding,
        },
        {
          data: { values: rows.filter(isCut) },
          mark: { type: 'text' as const, text: end === 'low' ? '◀' : '▶', fontSize: look.fontSize, ...aria },
          encoding,
        },
      ];
    }),
    {
      data: { values: rows },
      mark: { type: 'point' as const, filled: true, size: 110, opacity: 1 },
      encoding: { x: at('value'), y, color, shape, description: { field: 'tip', type: 'nominal' as const } },
    },
    {
      data: { values: rows.length >= MANY ? [] : rows },
      mark: {
        type: 'text' as const,
        dy: -12,
        // Centred, it would leave the picture at the end of the axis.
        align: { expr: `datum.value > ${0.7 * end} ? 'right' : 'center'` },
        fontSize: look.fontSize - 1,
        fontWeight: 600 as const,
        ...aria,
      },
      encoding: { x: at('value'), y, text: { field: 'text' }, color },
    },
  ];
  return { layer, isCut: rows.some(({ isCutLow, isCutHigh }) => isCutLow || isCutHigh) };
}

export function differenceSpec(chart: DifferenceChart, servers: readonly ChartServer[], look: Look) {
  const { rows, axis } = chart;
  const isMany = rows.length >= MANY;
  const labels = rows.map(({ label }) => (isMany ? [labelLine(label)] : labelLines(label)));
  const reach = Math.max(MIN_REACH, reachOf(rows.map(({ value }) => value)));
  const { layer, isCut } = layers(chart, servers, look, reach);
  const spec = {
    width: look.width,
    height: Math.max(look.standalone ? 180 : 130, rows.length * look.fontSize * (isMany ? 1.9 : 4.2) + 60),
    autosize: { type: 'fit' as const, contains: 'padding' as const },
    encoding: {
      x: {
        type: 'quantitative' as const,
        scale: { zero: true, nice: true },
        axis: {
          title: axis,
          labelExpr: "datum.value === 0 ? '0' : format(datum.value, '+.0%')",
          tickCount: 6,
          grid: true,
          domain: false,
        },
      },
      y: {
        type: 'quantitative' as const,
        scale: { domain: [-0.6, rows.length - 0.4], reverse: true, nice: false, zero: false },
        axis: {
          title: null,
          values: rows.map((_, index) => index),
          labelExpr: labelExpression(labels),
          labelOverlap: false,
          grid: false,
        },
      },
    },
    layer,
  };
  return { spec, note: isCut ? CUT_NOTE : '' };
}
