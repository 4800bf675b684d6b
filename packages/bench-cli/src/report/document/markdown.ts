/** A document as Markdown: the report beside the record, and the post of a blog. */
import { frontMatterOf } from '../front-matter.ts';
import {
  blocks,
  bullets,
  code,
  codeBlock,
  description,
  factTable,
  folded,
  plain,
  table,
  unaddressed,
} from '../markdown-text.ts';
import type { RenderOptions } from '../renderer.ts';
import {
  type Block,
  cellOf,
  type DocumentChart,
  type Finding,
  type ReportDocument,
  type Section,
  sectionsOn,
  type Tone,
  withoutEmpty,
} from './document.ts';

/** Where the pictures are, relative to the text; undefined for a text without pictures. */
export type PicturePath = (chart: DocumentChart) => string | undefined;

function tableText({ columns, rows }: Extract<Block, { kind: 'table' }>): string {
  const cells = rows.map((row) =>
    row.map((cell) => {
      const { text, tone, below = '' } = cellOf(cell);
      const shown = plain([text, below].join(' ').replaceAll('\u00a0', ' '));
      return shown !== '' && (tone === 'good' || tone === 'bad') ? `**${shown}**` : shown;
    }),
  );
  const texts = columns.flatMap(({ isNumber }, index) => (isNumber === true ? [] : [index]));
  return table(
    columns.map(({ title }) => plain(title)),
    cells,
    texts,
  );
}

function blockText(block: Block, pictureOf: PicturePath): string {
  switch (block.kind) {
    case 'text':
      return plain(block.text);
    case 'heading':
      return `### ${plain(block.text)}`;
    case 'list':
      return bullets(block.items.map(plain));
    case 'facts':
      return factTable(
        ['', ''],
        block.facts.map(([name, value]) => [plain(name), code(value)]),
      );
    case 'code':
      return codeBlock(block.text, block.language);
    case 'table':
      return tableText(block);
    case 'cases':
      return '';
    case 'chart': {
      const path = pictureOf(block.chart);
      const { title, caption } = block.chart;
      return path === undefined ? '' : `![${description(`${title}. ${caption}`)}](${path})`;
    }
  }
}

function sectionText({ title, blocks: parts }: Section, pictureOf: PicturePath): string {
  const content = blocks(...parts.map((block) => blockText(block, pictureOf)));
  return content === '' || title === '' ? content : blocks(`## ${plain(title)}`, content);
}

/** A sentence that names its subject needs no more than the group, where there are several. */
function findings(told: readonly Finding[]): string {
  const hasGroups = new Set(told.map(({ group }) => group)).size > 1;
  return bullets(
    told.map(({ subject, badge, sentence, group }) => {
      const where = group === undefined || !hasGroups ? '' : `${plain(group)}: `;
      const what = sentence.includes(subject) ? '' : `**${plain(subject)}** (${plain(badge.text)}): `;
      return where + what + plain(sentence);
    }),
  );
}

function warnings(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : blocks(title, bullets(lines.map(plain)));
}

const CARE = '## Read with care';

/** The whole report. Default: without pictures. */
export function documentMarkdown(document: ReportDocument, pictureOf: PicturePath = () => undefined): string {
  const text = blocks(
    `# ${plain(document.title)}`,
    plain([document.headline, ...document.facts].join(' · ')),
    findings(document.findings),
    warnings(CARE, document.warnings),
    ...sectionsOn(document, 'markdown').map((section) => sectionText(section, pictureOf)),
  );
  return `${text}\n`;
}

const SIGNS: Readonly<Record<Tone, string>> = { good: '✅ ', bad: '❌ ', warn: '⚠️ ', even: '' };

/** A comment on a pull request: what a terminal does not show is folded. */
export function documentComment(document: ReportDocument): string {
  const { title, tone = 'even', headline, findings: found, warnings: told } = document;
  const sections = sectionsOn(document, 'markdown').map((section) => {
    const content = blocks(...section.blocks.map((block) => blockText(block, () => undefined)));
    const name = plain(section.title);
    if (section.isBrief === false) return folded(name, content);
    return name === '' ? content : blocks(`**${name}**`, content);
  });
  const text = blocks(
    `### ${SIGNS[tone]}${plain(title)}`,
    plain(headline),
    findings(found),
    bullets(told.map(plain)),
    ...sections,
  );
  return `${unaddressed(text)}\n`;
}

/** How many caveats stand at the beginning of a post; the others are at its end. */
const FIRST_WARNINGS = 2;

/** The sections without one of their blocks. */
function without(sections: readonly Section[], taken: readonly (Block | undefined)[]): readonly Section[] {
  return withoutEmpty(
    sections.map((section) => ({
      ...section,
      blocks: section.blocks.filter((block) => !taken.includes(block)),
    })),
  );
}

/** The post of a blog: the verdict, its picture, what to keep in mind and how to repeat it, then everything else. */
export function documentPost(document: ReportDocument, { post }: RenderOptions): string {
  const { findings: found, post: facts } = document;
  const sections = sectionsOn(document, 'post');
  const all = sections.flatMap((section) => section.blocks);
  const picture = all.find((block) => block.kind === 'chart');
  const repeat = all.findLast((block) => block.kind === 'code');
  const pictureOf = ({ name }: DocumentChart) => `./${name}.svg`;
  const shown = (block: Block | undefined) => (block === undefined ? '' : blockText(block, pictureOf));
  const { excerpt = facts.description, origin = '', caveats = document.warnings, ...rest } = facts;
  const told = facts.excerpt === undefined ? found.filter(({ sentence }) => !excerpt.includes(sentence)) : [];
  const text = blocks(
    frontMatterOf({ title: document.title, ...rest, version: document.version }, post),
    plain(excerpt),
    '<!-- truncate -->',
    findings(told),
    shown(picture),
    plain(origin),
    warnings('Keep in mind:', caveats.slice(0, FIRST_WARNINGS)),
    repeat === undefined ? '' : blocks('Repeat it:', shown(repeat)),
    ...without(sections, [picture, repeat]).map((section) => sectionText(section, pictureOf)),
    warnings(CARE, caveats.slice(FIRST_WARNINGS)),
  );
  return `${text}\n`;
}
