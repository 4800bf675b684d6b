/** Tables as text for a terminal, however narrow: cells are broken at spaces, or each row becomes a list. */
import { wrapText } from '../../text.ts';
import { type Cell, cellOf, type TableBlock } from './document.ts';

/** Colours a part of a cell. `isName`: it names the row. */
export type Painter = (text: string, cell: Cell, isName: boolean) => string;

const widthOf = (text: string) => [...text].length;

/** Breaks at spaces only, not at no-break spaces, which are printed as spaces. */
function broken(text: string, width: number): string[] {
  const kept = text.replaceAll('\u00a0', '\u2060');
  const lines = wrapText(kept, width);
  return (lines.length === 0 ? [''] : lines).map((line) => line.replaceAll('\u2060', ' '));
}

function longestWord(text: string): number {
  return Math.max(0, ...text.split(' ').map(widthOf));
}

/** Widths of the columns that fit with `gap` spaces between them, or null if not even words do. */
function widthsFor(rows: readonly (readonly Cell[])[], columns: number, gap: number): number[] | null {
  const count = rows[0]?.length ?? 0;
  const column = (index: number, measure: (text: string) => number) =>
    Math.max(
      ...rows.map((row) => Math.max(measure(row[index]?.text ?? ''), measure(row[index]?.below ?? ''))),
    );
  const widths = Array.from({ length: count }, (_, index) => column(index, widthOf));
  const least = Array.from({ length: count }, (_, index) => column(index, longestWord));
  const excess = () => widths.reduce((sum, width) => sum + width, 0) + gap * (count - 1) - columns;
  while (excess() > 0) {
    // The widest column that can give way does.
    const [widest] = widths
      .map((width, index) => ({ width, index, room: width - (least[index] ?? 0) }))
      .filter(({ room }) => room > 0)
      .toSorted((a, b) => b.width - a.width);
    if (widest === undefined) return null;
    widths[widest.index] = widest.width - 1;
  }
  return widths;
}

function rowLines(
  cells: readonly Cell[],
  widths: readonly number[],
  gap: string,
  isRight: readonly boolean[],
  paint: Painter,
): string[] {
  const parts = cells.map(({ text, below = '' }, index) => {
    const width = widths[index] ?? 0;
    const upper = broken(text, width).map((part) => [part, false] as const);
    return below === '' ? upper : [...upper, ...broken(below, width).map((part) => [part, true] as const)];
  });
  const height = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, index) => {
        const [part, isBelow] = parts[index]?.[line] ?? ['', true];
        const painted = isBelow && cell.tone !== 'even' ? part : paint(part, cell, index === 0 && !isBelow);
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(part)));
        const isLast = index === cells.length - 1;
        if (isRight[index]) return space + painted;
        return painted + (isLast ? '' : space);
      })
      .join(gap)
      .trimEnd(),
  );
}

/** Each row as a list of titles and values, where the terminal is too narrow for a table. */
function asLists({ columns, rows }: TableBlock, paint: Painter): string[] {
  return rows.flatMap((row, number) => [
    ...(number === 0 ? [] : ['']),
    ...row.map((cell, index) => {
      const whole = cellOf(cell);
      const { text, below = '' } = whole;
      const value = `${text}${below === '' ? '' : ` (${below})`}`.replaceAll('\u00a0', ' ');
      return `${columns[index]?.title.replaceAll('\u00a0', ' ') ?? ''}: ${paint(value, whole, index === 0)}`;
    }),
  ]);
}

/** The lines of a table in at most `columns`. `dim` is for the headings. */
export function tableLines(
  block: TableBlock,
  columns: number,
  paint: Painter,
  dim: (text: string) => string,
): string[] {
  const headings = block.columns.map(({ title, below = '' }) => ({
    text: title,
    below,
    tone: 'even' as const,
  }));
  const rows = block.rows.map((row) => row.map(cellOf));
  for (const gap of [2, 1]) {
    const widths = widthsFor([headings, ...rows], columns, gap);
    if (widths === null) continue;
    const isRight = block.columns.map(({ isNumber }) => isNumber === true);
    const space = ' '.repeat(gap);
    return [
      ...rowLines(headings, widths, space, isRight, (text) => dim(text)),
      ...rows.flatMap((row) => rowLines(row, widths, space, isRight, paint)),
    ];
  }
  return asLists(block, paint);
}
