/** Where the label of a horizontal line stands: at the end of it where lines of data cross it the least. Pure. */
import { textWidth } from '../charts/text-width.ts';
import type { LineChart } from './document.ts';

/** In the order of preference: at the left or the right end, above or below its line. */
export const MARK_PLACES = [
  { align: 'left', isAbove: true },
  { align: 'right', isAbove: true },
  { align: 'left', isAbove: false },
  { align: 'right', isAbove: false },
] as const;

/** Both axes, from 0 to 1. */
interface Box {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

type Panel = LineChart['panels'][number];
type At = readonly [x: number, y: number];

/** Of a plot, in pixels. */
export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** Steps along a line at which it is looked at. */
const STEPS = 50;

function hits(box: Box, [fromX, fromY]: At, [toX, toY]: At): number {
  let count = 0;
  for (let step = 0; step <= STEPS; step += 1) {
    const share = step / STEPS;
    const [x, y] = [fromX + (toX - fromX) * share, fromY + (toY - fromY) * share];
    if (x >= box.left && x <= box.right && y >= box.bottom && y <= box.top) count += 1;
  }
  return count;
}

/** How numbers lie between the ends of an axis, from 0 to 1. */
function axisOf(values: readonly number[], scale: 'linear' | 'log', fromZero: boolean) {
  const on = (value: number) => (scale === 'log' ? Math.log(value) : value);
  const low = on(fromZero && scale === 'linear' ? Math.min(0, ...values) : Math.min(...values));
  const high = on(Math.max(...values));
  return (value: number) => (on(value) - low) / (high - low || 1);
}

/** What is drawn of the data: lines, and intervals. */
function segmentsOf({ lines }: Panel): (readonly [x: number, y: number][])[] {
  return lines.flatMap(({ points, isJoined = true }) => [
    ...(isJoined ? [points.map(({ x, y }): [number, number] => [x, y])] : []),
    ...points.map(({ x, y, low = y, high = y }): [number, number][] => [
      [x, low],
      [x, high],
    ]),
  ]);
}

/** Of each mark of `panel`, its place among `MARK_PLACES`. `panels`: those with the same vertical axis. */
export function markPlaces(
  { xScale = 'linear', yScale = 'linear', fromZero = true, xFromZero = false }: LineChart,
  panel: Panel,
  panels: readonly Panel[],
  { width, height }: PlotSize,
  fontSize: number,
): number[] {
  const { marks = [] } = panel;
  const points = panels.flatMap(({ lines }) => lines.flatMap((line) => line.points));
  const x = axisOf(
    points.map((point) => point.x),
    xScale,
    xFromZero,
  );
  const all = points.flatMap(({ y, high = y, low = y }) => [low, high]);
  const y = axisOf(
    [...all, ...panels.flatMap((each) => (each.marks ?? []).map((mark) => mark.y))],
    yScale,
    fromZero,
  );
  const drawn = segmentsOf(panel).map((line) => line.map(([a, b]): At => [x(a), y(b)]));
  return marks.map((mark) => {
    const long = (textWidth(mark.label, fontSize) + 8) / width;
    const high = (fontSize + 8) / height;
    const crossings = MARK_PLACES.map(({ align, isAbove }) => {
      const [left, bottom] = [align === 'left' ? 0 : 1 - long, isAbove ? y(mark.y) : y(mark.y) - high];
      const box = { left, right: left + long, bottom, top: bottom + high };
      return drawn.reduce(
        (sum, line) => sum + line.reduce((own, at, index) => own + hits(box, line[index - 1] ?? at, at), 0),
        0,
      );
    });
    return crossings.indexOf(Math.min(...crossings));
  });
}
