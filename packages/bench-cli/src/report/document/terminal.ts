/** A document for a terminal: findings and tables, without charts. */
import { Ansis } from 'ansis';
import { wrapText } from '../../text.ts';
import { printable } from '../printable.ts';
import type { RenderOptions } from '../renderer.ts';
import { type Block, type Cell, cellOf, type ReportDocument, type Section, type Tone } from './document.ts';
import { tableLines } from './text-table.ts';

const DEFAULT_COLUMNS = 80;

type Paint = InstanceType<typeof Ansis>;

function colour(text: string, tone: Tone | undefined, paint: Paint): string {
  switch (tone) {
    case 'good':
      return paint.green(text);
    case 'bad':
      return paint.red(text);
    case 'warn':
      return paint.yellow(text);
    case 'even':
      return paint.dim(text);
    default:
      return text;
  }
}

function hanging(content: string, columns: number, sign = '• '): string {
  return wrapText(printable(content), columns - 2)
    .map((line, index) => (index === 0 ? sign : '  ') + line)
    .join('\n');
}

const printableCell = (cell: Cell | string): Cell => {
  const { text, ...rest } = cellOf(cell);
  return { text: printable(text), ...rest };
};

function blockText(block: Block, columns: number, paint: Paint): string {
  switch (block.kind) {
    case 'text':
      return wrapText(printable(block.text), columns).join('\n');
    case 'list':
      return block.items.map((item) => hanging(item, columns)).join('\n');
    case 'facts':
      return block.facts.map(([name, value]) => hanging(`${name}: ${value}`, columns)).join('\n');
    case 'code':
      return block.text.split('\n').map(printable).join('\n');
    case 'table':
      return tableLines(
        { ...block, rows: block.rows.map((row) => row.map(printableCell)) },
        columns,
        (text, { tone }) => colour(text, tone, paint),
        (text) => paint.dim(text),
      ).join('\n');
    case 'chart':
      return '';
  }
}

function sectionText({ title, blocks }: Section, columns: number, paint: Paint): string {
  const parts = blocks.map((block) => blockText(block, columns, paint)).filter((part) => part !== '');
  return parts.length === 0 ? '' : [paint.bold(printable(title)), ...parts].join('\n');
}

/** Title, tables, then what was found, what to be careful about, and how the run ended. */
export function documentText(document: ReportDocument, options: RenderOptions): string {
  const columns = options.columns ?? DEFAULT_COLUMNS;
  const paint = new Ansis(options.color === true ? 1 : 0);
  const { title, findings, warnings, sections, headline, state } = document;
  const brief = sections.filter(({ isBrief = true }) => isBrief);
  const end = wrapText(printable(headline), columns).join('\n');
  const parts = [
    paint.bold(wrapText(printable(title), columns).join('\n')),
    ...brief.map((section) => sectionText(section, columns, paint)),
    findings.map(({ subject, sentence }) => hanging(`${subject}: ${sentence}`, columns)).join('\n'),
    paint.yellow(warnings.map((warning) => hanging(warning, columns, '! ')).join('\n')),
    state === 'complete' ? end : paint.yellow(end),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
