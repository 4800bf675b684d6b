/**
 * What a person watches while bench works, on stderr: lines that stay, and on a terminal one live line below
 * them that is replaced. Without a terminal only the lines that stay are written.
 */

import type { Output } from '../world.ts';
export interface Display {
  /** Writes a line that stays. */
  line(text: string): void;
  /** Replaces the live line; nothing without a terminal. */
  live(text: string): void;
  /** Removes the live line. */
  clear(): void;
  readonly isLive: boolean;
}

const ERASE_LINE = '\r\u001b[2K';
/** Styling has no width, and a cut must not split it. Constructed, to keep control characters out of the source. */
const STYLE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
const DEFAULT_COLUMNS = 80;

/** The text without styling, cut to `columns` with an ellipsis. */
export function fitLine(text: string, columns: number): string {
  const plain = text.replace(STYLE, '');
  if (plain.length <= columns) return text;
  return `${plain.slice(0, Math.max(0, columns - 1))}…`;
}

/** A display on `output`; live only if it is a terminal. */
export function createDisplay(output: Output): Display {
  let shown = false;
  const clear = () => {
    if (shown) output.write(ERASE_LINE);
    shown = false;
  };
  return {
    isLive: output.isTerminal,
    clear,
    line(text) {
      clear();
      output.write(`${text}\n`);
    },
    live(text) {
      if (!output.isTerminal) return;
      // Leave one column free: a full line would wrap on some terminals.
      output.write(ERASE_LINE + fitLine(text, (output.columns ?? DEFAULT_COLUMNS) - 1));
      shown = true;
    },
  };
}
