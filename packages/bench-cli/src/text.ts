/** Small pure helpers for what people read. */

/** `75` → `1 min 15 s`; whole seconds, for progress and plans. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = whole % 60;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  if (minutes > 0) return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
  return `${rest} s`;
}

/** `2026-11-21 01:50` (UTC) */
export function formatTimestamp(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** A word for a shell command line: quoted only if it must be. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command ready to paste into a shell. */
export function shellCommand(words: readonly string[]): string {
  return words.map(shellQuote).join(' ');
}

/** Spaces before units, at which no line may end: `95 %`, `1.9 × as many`, `13.8 µs`. */
export const BEFORE_UNIT = / (?=(?:[%×]|µs|ms|MiB|GiB|Mi)(?![\w]))/g;

/** Breaks text at spaces into lines of at most `columns`; a longer word stands on a line of its own. */
export function wrapText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Lines of at most `columns`: a longer one goes on below, two spaces further in; indentation stays, as do longer words. */
export function foldLines(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      if (line.length <= columns) return [line];
      const indent = /^ */.exec(line)?.[0] ?? '';
      const [first = '', ...rest] = wrapText(line, columns - indent.length - 2);
      return [indent + first, ...rest.map((part) => `${indent}  ${part}`)];
    })
    .join('\n');
}

/** `text` as a part of a file's name: what is special to shells or file systems becomes a hyphen. */
export function fileNameOf(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._+@-]+/g, '-').replace(/^[.-]+/, '');
}

/** Words that stay on one line of a table. */
export function unbroken(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** `others took` → `Others took` */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `a figure is missing` → `A figure is missing.`; what begins with a name such as `coredns@1.13.1` keeps it. */
export function asSentence(text: string): string {
  const begun = text.replace(/^[a-z]+(?=[ ,])/, capitalized);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** `1 case`, `2 cases`: of words that take an `s`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** `A`, `A and B`, `A, B and C`. */
export function listed(words: readonly string[], conjunction: 'and' | 'or' = 'and'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}

/** Each line once, with how often it was there. */
export function countedLines(lines: readonly string[]): string[] {
  return [...Map.groupBy(lines, (line) => line)].map(([line, { length }]) =>
    length === 1 ? line : `${line} (${length} times)`,
  );
}

/** Lines of cells, every column as wide as its widest cell; the first is left-aligned, the others right. */
export function columnsOf(
  rows: readonly (readonly string[])[],
  gap = 2,
  leftAligned: readonly number[] = [0],
): string[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map((row) => [...(row[index] ?? '')].length)),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - [...cell].length));
        return leftAligned.includes(index) ? cell + space : space + cell;
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}

/** A word of Node.js for an architecture, `x64`, as Go and Kubernetes say it: `amd64`. */
export const goArchitecture = (architecture: string) => (architecture === 'x64' ? 'amd64' : architecture);

/** Whether nothing that is sent to `address` leaves this machine. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./i.test(address);
}

/** The value of a text in JSON; null for a text that is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
