/** Text inside Markdown: nothing that a server, a tool or a path contains may break the report. */
import { markdownTable } from 'markdown-table';

/** Braces hold code where a blog reads Markdown as MDX; tildes strike through in GitHub's dialect. */
function escaped(text: string, markup: RegExp): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(markup, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/^(?:[#+=-]|\d+[.)])(?=\s|$|[#=-])/, '\u2060$&');
}

/**
 * Text for a paragraph or a table cell: on one line, nothing in it is markup. Brackets stay where they make no link, so that
 * intervals can be read in the source.
 */
export function plain(text: string): string {
  return escaped(text, /[\\`*_|{}~]|\](?=[(:[])|^\[/g);
}

/** Text for the description of a picture, which any bracket could end. */
export function description(text: string): string {
  return escaped(text, /[\\`*_[\]|{}~]/g);
}

/** The longest run of backticks in `text`, which a fence must outdo (CommonMark 0.31.2, 4.5 and 6.1). */
function longestBackticks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

/** A code span that may stand in a table cell, where only the pipe has to be escaped (GFM 0.29, 4.10). */
export function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return '';
  const fence = '`'.repeat(longestBackticks(line) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${space}${line.replaceAll('|', '\\|')}${space}${fence}`;
}

/** A fenced code block. */
export function codeBlock(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestBackticks(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * A table of cells that are Markdown already. The first column is text and aligned left; of the others, `text`
 * names those (counted from 0) that are text too, the rest is numbers and aligned right.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  text: readonly number[] = [],
): string {
  const align = header.map((_, index) => (index === 0 || text.includes(index) ? 'l' : 'r'));
  return markdownTable([header, ...rows], { align });
}

/** A table of two columns, for facts. */
export function factTable(
  header: readonly [string, string],
  rows: readonly (readonly [string, string])[],
): string {
  return table(header, rows, [1]);
}

/** Joins blocks with an empty line between them; omits empty blocks. */
export function blocks(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** Blocks that GitHub shows below `summary` when it is opened. */
export function folded(summary: string, ...content: readonly string[]): string {
  return blocks(`<details><summary>${summary}</summary>`, ...content, '</details>');
}

/** Code, which GitHub leaves as it is, or what it would take for a mention or for an issue: `@name`, `#1`, `GH-1`. */
const ADDRESS = /(?<![\\`])(?<fence>`+)(?!`).*?(?<!`)\k<fence>(?!`)|@|#(?=\d)|\bGH-(?=\d)/gs;

/** Our text must not notify anybody, nor link to an issue: a word joiner prevents it. */
export function unaddressed(text: string): string {
  return text.replaceAll(ADDRESS, (found) => (found.startsWith('`') ? found : `${found}\u2060`));
}
