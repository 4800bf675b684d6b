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

/** At most `most` characters, the last of them an ellipsis where something was cut off. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
