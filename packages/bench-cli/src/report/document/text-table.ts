/** Tables as text for a terminal, however narrow: cells are broken at spaces, or each row becomes a list. */
import { wrapText } from '../../text.ts';
import { type Cell, cellOf, type TableBlock } from './document.ts';

/** Colours a text that has its final width. */
export type Painter = (text: string, cell: Cell) => string;

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

/** Widths of the columns that fit, or null if not even words do. */
function widthsFor(rows: readonly (readonly string[])[], columns: number): number[] | null {
  const count = rows[0]?.length ?? 0;
  const column = (index: number, measure: (text: string) => number) =>
    Math.max(...rows.map((row) => measure(row[index] ?? '')));
  const widths = Array.from({ length: count }, (_, index) => column(index, widthOf));
  const least = Array.from({ length: count }, (_, index) => column(index, longestWord));
  const excess = () => widths.reduce((sum, width) => sum + width, 0) + 2 * (count - 1) - columns;
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
  isRight: readonly boolean[],
  paint: Painter,
): string[] {
  const parts = cells.map(({ text }, index) => broken(text, widths[index] ?? 0));
  const height = Math.max(...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((cell, index) => {
        const part = parts[index]?.[line] ?? '';
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(part)));
        const isLast = index === cells.length - 1;
        if (isRight[index]) return space + paint(part, cell);
        return paint(part, cell) + (isLast ? '' : space);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Each row as a list of titles and values, where the terminal is too narrow for a table. */
function asLists({ columns, rows }: TableBlock, paint: Painter): string[] {
  return rows.flatMap((row, number) => [
    ...(number === 0 ? [] : ['']),
    ...row.map((cell, index) => {
      const { text, ...rest } = cellOf(cell);
      const value = text.replaceAll('\u00a0', ' ');
      return `${columns[index]?.title ?? ''}: ${paint(value, { text: value, ...rest })}`;
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
  const headings = block.columns.map(({ title }) => ({ text: title }));
  const rows = block.rows.map((row) => row.map(cellOf));
  const widths = widthsFor(
    [headings, ...rows].map((row) => row.map(({ text }) => text)),
    columns,
  );
  if (widths === null) return asLists(block, paint);
  const isRight = block.columns.map(({ isNumber }) => isNumber === true);
  return [
    ...rowLines(headings, widths, isRight, (text) => dim(text)),
    ...rows.flatMap((row) => rowLines(row, widths, isRight, paint)),
  ];
}
