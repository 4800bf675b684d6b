/** The verdicts as a picture: the difference of each case from its baseline, with its interval. */
import type { CaseRecord, Delta } from '../../results/record.ts';
import { deltaFigures } from '../../stats/deltas.ts';
import { serverTitle } from '../cases.ts';
import { NOT_COMPARED, shownOf } from '../decisive.ts';
import { formatDelta, formatFixed, signed } from '../numbers.ts';
import {
  type Chart,
  type ChartData,
  frame,
  type Look,
  labelExpression,
  labelLines,
  nameOf,
  serverChannels,
} from './chart.ts';
import { CUT_NOTE, cut, reachOf } from './cut.ts';
import { MUTED, NOISE } from './theme.ts';

/** From this many rows on, they are one line high, and their figures are only in tooltips and tables. */
const MANY = 9;

/** A narrower scale would make negligible differences look large. */
const MIN_REACH = 0.2;

interface Row {
  readonly position: number;
  readonly server: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly isCutLow: boolean;
  readonly isCutHigh: boolean;
  readonly tip: string;
}

function rowOf(data: ChartData, item: CaseRecord, delta: Delta, position: number, reach: number): Row {
  const { value, low, high } = deltaFigures(delta, data.delta);
  const interval =
    low === null || high === null
      ? 'no interval'
      : `95 % interval ${formatDelta(low)} to ${formatDelta(high)}`;
  return {
    position,
    server: item.server,
    value,
    ...cut(low ?? value, high ?? value, reach),
    tip: `${nameOf(data, item)}: ${formatDelta(value)} queries/s, ${interval}; ${low === null ? 'no difference can be shown' : delta.verdict}`,
  };
}

/** Bands of the noise floor, where `--aa` measured it. */
function bands(data: ChartData, positions: ReadonlyMap<string, readonly number[]>, reach: number): object[] {
  return (data.record.noiseFloors ?? []).flatMap(({ comparison, floor }) => {
    const rows = positions.get(comparison.baseline);
    if (rows === undefined || rows.length === 0 || floor.qps === null) return [];
    return [
      {
        from: Math.min(...rows) - 0.45,
        to: Math.max(...rows) + 0.45,
        low: -Math.min(floor.qps, reach, 1),
        high: floor.qps,
      },
    ];
  });
}

function layers(data: ChartData, look: Look, rows: readonly Row[], noise: readonly object[]) {
  const { color, shape } = serverChannels(data);
  const y = { field: 'position', type: 'quantitative' as const };
  const aria = { aria: false };
  return [
    {
      data: { values: [...noise] },
      mark: { type: 'rect' as const, color: NOISE.light, opacity: 0.55, ...aria },
      encoding: {
        x: { field: 'low', type: 'quantitative' as const },
        x2: { field: 'high' },
        y: { field: 'from', type: 'quantitative' as const },
        y2: { field: 'to' },
      },
    },
    {
      data: { values: [{}] },
      mark: { type: 'rule' as const, color: MUTED.light, strokeWidth: 1.5, ...aria },
      encoding: { x: { datum: 0, type: 'quantitative' as const } },
    },
    {
      data: { values: [...rows] },
      mark: { type: 'rule' as const, strokeWidth: 2.5, ...aria },
      encoding: { x: { field: 'low', type: 'quantitative' as const }, x2: { field: 'high' }, y, color },
    },
    ...(['low', 'high'] as const).map((end) => ({
      data: {
        values: rows.filter((row) => row.high > row.low && !(end === 'low' ? row.isCutLow : row.isCutHigh)),
      },
      mark: {
        type: 'tick' as const,
        thickness: 2.5,
        size: 12,
        opacity: 1,
        orient: 'vertical' as const,
        ...aria,
      },
      encoding: { x: { field: end, type: 'quantitative' as const }, y, color },
    })),
    ...(['low', 'high'] as const).map((end) => ({
      data: { values: rows.filter((row) => (end === 'low' ? row.isCutLow : row.isCutHigh)) },
      mark: { type: 'text' as const, text: end === 'low' ? '◀' : '▶', fontSize: look.fontSize, ...aria },
      encoding: { x: { field: end, type: 'quantitative' as const }, y, color },
    })),
    {
      data: { values: [...rows] },
      mark: { type: 'point' as const, filled: true, size: 110, opacity: 1 },
      encoding: {
        x: { field: 'value', type: 'quantitative' as const },
        y,
        color,
        shape,
        description: { field: 'tip', type: 'nominal' as const },
      },
    },
    {
      data: {
        values: (rows.length >= MANY ? [] : rows).map((row) => ({
          ...row,
          label: `${signed(formatFixed(row.value * 100, 1))} %`,
        })),
      },
      mark: {
        type: 'text' as const,
        dy: -12,
        fontSize: look.fontSize - 1,
        fontWeight: 600 as const,
        ...aria,
      },
      encoding: { x: { field: 'value', type: 'quantitative' as const }, y, text: { field: 'label' }, color },
    },
  ];
}

export const differenceChart: Chart = {
  name: 'difference',
  title: 'Difference from the baseline',
  draw(data, look) {
    const reach = Math.max(
      MIN_REACH,
      reachOf(
        data.groups.flatMap(({ cases }) =>
          cases.flatMap((item) => {
            const shown = shownOf(item, data.record, 'qps');
            return shown === null || shown.verdict === NOT_COMPARED
              ? []
              : deltaFigures(shown.delta, data.delta).value;
          }),
        ),
      ),
    );
    const rows: Row[] = [];
    let leftOut = 0;
    const titles = new Map(data.servers.map(({ server, title }) => [server, title]));
    const labels: string[][] = [];
    const positions = new Map<string, number[]>();
    for (const group of data.groups) {
      for (const item of group.cases) {
        const shown = shownOf(item, data.record, 'qps');
        if (item.comparison === null || shown === null) continue;
        if (shown.verdict === NOT_COMPARED) {
          leftOut++;
          continue;
        }
        const position = rows.length;
        rows.push(rowOf(data, item, shown.delta, position, reach));
        labels.push([titles.get(item.server) ?? item.server, labelLines(group).join(', ')]);
        positions.set(item.comparison.baseline, [
          ...(positions.get(item.comparison.baseline) ?? []),
          position,
        ]);
      }
    }
    if (rows.length === 0) {
      return {
        missing:
          leftOut === 0 ? 'nothing was compared with a baseline' : 'no throughput was limited by the servers',
      };
    }
    const noise = bands(data, positions, reach);
    const baseline = serverTitle(data.record, data.record.baseline);
    const caption =
      `Queries per second against ${baseline} at the same point, ${data.delta} delta; to the right of the line is more. ` +
      'Whiskers: 95 % intervals; where they cross the line, no difference was shown.' +
      (leftOut > 0 ? ` Left out: ${leftOut} whose throughput was not limited by the servers.` : '') +
      (noise.length > 0 ? ` Grey: what ${baseline} shows against itself (the noise floor).` : '') +
      (rows.some(({ isCutLow, isCutHigh }) => isCutLow || isCutHigh) ? CUT_NOTE : '');
    const isMany = rows.length >= MANY;
    const rowHeight = look.fontSize * (isMany ? 1.9 : 4.2);
    const spec = {
      ...frame(look),
      width: look.width,
      height: Math.max(look.standalone ? 180 : 130, rows.length * rowHeight + 60),
      autosize: { type: 'fit' as const, contains: 'padding' as const },
      encoding: {
        x: {
          type: 'quantitative' as const,
          scale: { zero: true, nice: true },
          axis: {
            title: `difference in queries per second (${data.delta})`,
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
            labelExpr: labelExpression(isMany ? labels.map((lines) => [lines.join(', ')]) : labels),
            labelOverlap: false,
            grid: false,
          },
        },
      },
      layer: layers(data, look, rows, noise),
    };
    return { spec, caption };
  },
};
