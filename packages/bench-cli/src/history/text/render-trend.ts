/** A figure over time as text for a terminal: one row per run, its interval drawn as a whisker. Pure. */
import type { Ansis } from 'ansis';
import { formatFixed, formatP } from '../../report/numbers.ts';
import { compareKind } from '../../results/compare-kind.ts';
import { columnsOf, wrapText } from '../../text.ts';
import { placeText } from '../axes.ts';
import type { TrendChange, TrendLine, TrendPoint } from '../trend.ts';
import { formatFigure, formatTimestamp } from './words.ts';

type Paint = InstanceType<typeof Ansis>;

const BARS = '▁▂▃▄▅▆▇█';
const MIN_PLOT_WIDTH = 12;

/** The medians as a line of bars, the lowest value at the bottom. */
export function sparkline(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const steps = BARS.length - 1;
  return values
    .map((value) => BARS[high === low ? 3 : Math.round(((value - low) / (high - low)) * steps)] ?? '')
    .join('');
}

/** `├──●──┤` between the ends of the scale. */
function whisker(point: TrendPoint, low: number, high: number, width: number): string {
  const place = (value: number) =>
    high === low ? Math.floor((width - 1) / 2) : Math.round(((value - low) / (high - low)) * (width - 1));
  const [left, middle, right] = [
    place(point.low ?? point.median),
    place(point.median),
    place(point.high ?? point.median),
  ];
  return Array.from({ length: width }, (_, column) => {
    if (column === middle) return '●';
    if (column === left) return '├';
    if (column === right) return '┤';
    return column > left && column < right ? '─' : ' ';
  })
    .join('')
    .trimEnd();
}

function changeText({ relativeChange, pValue }: TrendChange): string {
  const word = relativeChange < 0 ? 'fell' : 'rose';
  return `── ${word} by ${formatFixed(Math.abs(relativeChange) * 100, 1)} % (p ${formatP(pValue)}) ──`;
}

/** `coredns, tier 1, single, half, udp on HOST`; of experiments other than the comparison, with their name. */
function headingOf(line: TrendLine): string {
  const isNamed = line.experiment !== compareKind.experiment;
  const settings = Object.entries(line.settings).map(([name, value]) => `, ${name} ${value}`);
  return `${isNamed ? `${line.experiment}: ` : ''}${placeText(line, 'unknown server')} on ${line.machine}${settings.join('')}`;
}

function renderLine(line: TrendLine, isRatio: boolean, columns: number, paint: Paint): string[] {
  const { points, changes, estimand } = line;
  const left = columnsOf(
    points.map((point) => [
      formatTimestamp(point.at),
      point.commit?.slice(0, 8) ?? '',
      formatFigure(estimand, point.median, { isRatio, isBound: point.isBound }),
    ]),
    2,
    [0, 1],
  ).map((text) => text.padEnd(1));
  const widest = Math.max(...left.map((text) => [...text].length));
  const width = Math.max(MIN_PLOT_WIDTH, columns - widest - 2);
  const low = Math.min(...points.map((point) => point.low ?? point.median));
  const high = Math.max(...points.map((point) => point.high ?? point.median));
  const rows = points.flatMap((point, position) => {
    const change = changes.find((candidate) => candidate.position === position);
    const text = left[position] ?? '';
    const row = `${text}${' '.repeat(Math.max(0, widest - [...text].length))}  ${whisker(point, low, high, width)}`;
    return [...(change === undefined ? [] : [paint.yellow(changeText(change))]), row.trimEnd()];
  });
  const spark = sparkline(points.slice(-columns).map(({ median }) => median));
  return [
    ...wrapText(headingOf(line), columns).map((text) => paint.bold(text)),
    ...(points.length > 1 ? [spark] : []),
    ...rows,
    '',
  ];
}

/** All lines of the trend, one below the other. */
export function renderTrend(
  lines: readonly TrendLine[],
  normalize: string | null,
  columns: number,
  paint: Paint,
): string {
  const titles = [...new Set(lines.map(({ estimand }) => estimand.title))].join(' or ');
  const what = normalize === null ? titles : `${titles} relative to ${normalize}`;
  const hasChanges = lines.some(({ changes }) => changes.length > 0);
  const few = lines.every(({ points }) => points.length < 6);
  const closing = few
    ? 'Change points need at least six runs.'
    : hasChanges
      ? 'A change point separates earlier from later runs better than 95 % of random orders would.'
      : 'No change point was found.';
  return [
    ...wrapText(`${what}, median and 95 % interval of each run, the oldest first`, columns),
    '',
    ...lines.flatMap((line) => renderLine(line, normalize !== null, columns, paint)),
    ...wrapText(closing, columns).map((text) => paint.dim(text)),
    '',
  ].join('\n');
}
