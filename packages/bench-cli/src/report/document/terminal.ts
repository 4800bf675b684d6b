/** A document for a terminal: findings and tables, without charts. */
import { printable } from '@dinodns-bench/program';
import { Ansis } from 'ansis';
import { BEFORE_UNIT, wrapText } from '../../text.ts';
import type { RenderOptions } from '../renderer.ts';
import {
  type Block,
  type Cell,
  cellOf,
  type DocumentLead,
  type Finding,
  type ReportDocument,
  type Section,
  sectionsOn,
  type Tone,
} from './document.ts';
import { tableLines } from './text-table.ts';

const DEFAULT_COLUMNS = 80;

type Paint = InstanceType<typeof Ansis>;

const COLOURS = {
  good: 'green',
  bad: 'red',
  warn: 'yellow',
  even: 'dim',
} as const satisfies Record<Tone, string>;

function colour(text: string, tone: Tone | undefined, paint: Paint): string {
  return tone === undefined ? text : paint[COLOURS[tone]](text);
}

/** Lines of at most `columns`, of which none begins with a unit. */
function wrapped(content: string, columns: number): string[] {
  const kept = printable(content).replaceAll(BEFORE_UNIT, '\u2060');
  return wrapText(kept, columns).map((line) => line.replaceAll('\u2060', ' '));
}

function hanging(content: string, columns: number, sign = '• '): string {
  return wrapped(content, columns - 2)
    .map((line, index) => (index === 0 ? sign : '  ') + line)
    .join('\n');
}

const printableCell = (cell: Cell | string): Cell => {
  const { text, below = '', ...rest } = cellOf(cell);
  return { text: printable(text), below: printable(below), ...rest };
};

/** Space between the names, the bars and the figures. */
const BAR_GAP = '  ';
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A bar of this many columns, to an eighth of one; never empty. */
function bar(columns: number): string {
  const eighths = Math.max(1, Math.round(columns * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

/** The sentence and the picture for a reader in a hurry. */
function leadText({ text, bars, caption }: DocumentLead, columns: number, paint: Paint): string {
  const rows = bars.map(({ title, value, share }) => ({
    title: printable(title),
    value: printable(value),
    share,
  }));
  const width = (texts: readonly string[]) => Math.max(...texts.map((each) => [...each].length));
  const names = width(rows.map(({ title }) => title));
  const left = columns - names - width(rows.map(({ value }) => value)) - 2 * BAR_GAP.length;
  return [
    paint.bold(wrapped(text, columns).join('\n')),
    '',
    ...rows.map(({ title, value, share }) =>
      [title.padEnd(names), bar(share * Math.max(8, left)), value].join(BAR_GAP),
    ),
    paint.dim(printable(caption)),
  ].join('\n');
}

function blockText(block: Block, columns: number, paint: Paint): string {
  switch (block.kind) {
    case 'text':
      return block.isNote === true
        ? paint.dim(hanging(block.text, columns, ''))
        : wrapped(block.text, columns).join('\n');
    case 'heading':
      return paint.bold(printable(block.text));
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
        (text, { tone }, isName) => (isName ? paint.bold(text) : colour(text, tone, paint)),
        (text) => paint.dim(text),
      ).join('\n');
    case 'chart':
    case 'cases':
      return '';
  }
}

/** A sentence that names its subject says enough. */
function findingText({ subject, sentence }: Finding, columns: number): string {
  return hanging(sentence.includes(subject) ? sentence : `${subject}: ${sentence}`, columns);
}

function sectionText(
  { title, blocks }: Section,
  findings: readonly Finding[],
  columns: number,
  paint: Paint,
): string {
  const parts = blocks.map((block) => blockText(block, columns, paint)).filter((part) => part !== '');
  if (parts.length === 0) return '';
  const told = findings.map((finding) => findingText(finding, columns));
  return [
    ...(title === '' ? [] : [paint.bold(wrapped(title, columns).join('\n'))]),
    ...parts,
    ...(told.length === 0 ? [] : ['', ...told]),
  ].join('\n');
}

/** The lead or the title, tables, what was found, what to be careful about, and how the run ended. */
export function documentText(document: ReportDocument, options: RenderOptions): string {
  const columns = options.columns ?? DEFAULT_COLUMNS;
  const paint = new Ansis(options.color === true ? 1 : 0);
  const { title, tone, lead, findings, warnings, headline, state } = document;
  const brief = sectionsOn(document, 'terminal').filter(({ isBrief = true }) => isBrief);
  const isOf = (section: Section) => (finding: Finding) => finding.group === section.title;
  const end = wrapped(headline, columns).join('\n');
  const parts = [
    lead === undefined
      ? paint.bold(colour(wrapped(title, columns).join('\n'), tone, paint))
      : leadText(lead, columns, paint),
    ...brief.map((section) => sectionText(section, findings.filter(isOf(section)), columns, paint)),
    findings
      .filter((finding) => !brief.some((section) => isOf(section)(finding)))
      .map((finding) => findingText(finding, columns))
      .join('\n'),
    paint.yellow(warnings.map((warning) => hanging(warning, columns, '! ')).join('\n')),
    state === 'complete' ? end : paint.yellow(end),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}
