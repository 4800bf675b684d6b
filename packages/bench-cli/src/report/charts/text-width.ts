import { BEFORE_UNIT } from '../../text.ts';

/**
 * The width of a text without drawing it. Vega alone assumes 0.8 font sizes per character, so it omits labels that
 * would fit. The classes are the mean advance widths of Inter (and within 10 % those of other sans serifs), in font
 * sizes.
 */
const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/[iljI.,:;'|!·]/, 0.27],
  [/[ ftr()[\]/]/, 0.36],
  [/-/, 0.46],
  [/[mwMW%@…]/, 0.9],
  [/[A-Z+=≈±−–]/, 0.68],
  [/[0-9]/, 0.63],
];
const OTHERS = 0.58;

/** Width in pixels. */
export function textWidth(text: string, fontSize: number): number {
  let sum = 0;
  for (const character of text) {
    sum += CLASSES.find(([pattern]) => pattern.test(character))?.[1] ?? OTHERS;
  }
  return sum * fontSize;
}

/** The lines of a text that is broken at spaces to be at most `width` pixels wide. */
export function linesWithin(text: string, width: number, fontSize: number): string[] {
  const lines: string[] = [];
  for (const word of text.replaceAll(BEFORE_UNIT, '\u00a0').split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && textWidth(`${last} ${word}`, fontSize) <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** At most `width` pixels, the last character an ellipsis where something was cut off. */
export function shortened(text: string, width: number, fontSize: number): string {
  if (textWidth(text, fontSize) <= width) return text;
  const characters = [...text];
  while (characters.length > 0 && textWidth(`${characters.join('')}…`, fontSize) > width) characters.pop();
  return `${characters.join('')}…`;
}

/** Longer lines at an axis would leave no room for the figures: about 32 characters. In font sizes. */
const LABEL_WIDTH = 32 * OTHERS;

/** The lines of a label at an axis: broken at spaces, since cut off they could be the same as a neighbour's. */
export function labelLines(lines: readonly string[]): string[] {
  return lines
    .flatMap((line) => linesWithin(line, LABEL_WIDTH, 1))
    .map((line) => shortened(line, LABEL_WIDTH, 1));
}

/** The same as a single line. */
export function labelLine(lines: readonly string[]): string {
  return shortened(lines.join(', '), 2 * LABEL_WIDTH, 1);
}
