/** A document as Markdown: the report beside the record, and the post of a blog. */
import { frontMatterOf } from '../front-matter.ts';
import { blocks, bullets, code, codeBlock, factTable, plain, table } from '../markdown-text.ts';
import type { RenderOptions } from '../renderer.ts';
import { type Block, cellOf, type DocumentChart, type ReportDocument, type Section } from './document.ts';

/** Where the pictures are, relative to the text; undefined for a text without pictures. */
export type PicturePath = (chart: DocumentChart) => string | undefined;

function tableText({ columns, rows }: Extract<Block, { kind: 'table' }>): string {
  const cells = rows.map((row) =>
    row.map((cell) => {
      const { text, tone } = cellOf(cell);
      const shown = plain(text.replaceAll('\u00a0', ' '));
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
    case 'chart': {
      const path = pictureOf(block.chart);
      const { title, caption } = block.chart;
      return path === undefined ? '' : `![${plain(`${title}. ${caption}`)}](${path})`;
    }
  }
}

function sectionText({ title, blocks: parts }: Section, pictureOf: PicturePath): string {
  const content = blocks(...parts.map((block) => blockText(block, pictureOf)));
  return content === '' ? '' : blocks(`## ${plain(title)}`, content);
}

function findings(document: ReportDocument): string {
  return bullets(
    document.findings.map(
      ({ subject, badge, sentence }) => `**${plain(subject)}** (${plain(badge.text)}): ${plain(sentence)}`,
    ),
  );
}

function warnings(document: ReportDocument): string {
  return document.warnings.length === 0
    ? ''
    : blocks('## Read with care', bullets(document.warnings.map(plain)));
}

/** The whole report, without pictures. */
export function documentMarkdown(document: ReportDocument): string {
  const text = blocks(
    `# ${plain(document.title)}`,
    plain([document.headline, ...document.facts].join(' · ')),
    findings(document),
    warnings(document),
    ...document.sections.map((section) => sectionText(section, () => undefined)),
  );
  return `${text}\n`;
}

/** The post of a blog: its first paragraph is the description, its pictures lie beside it. */
export function documentPost(document: ReportDocument, { post }: RenderOptions): string {
  const text = blocks(
    frontMatterOf({ ...document.post, title: document.title, version: document.version }, post),
    plain(document.post.description),
    '<!-- truncate -->',
    '## TL;DR',
    findings(document),
    warnings(document),
    ...document.sections.map((section) => sectionText(section, ({ name }) => `./${name}.svg`)),
  );
  return `${text}\n`;
}
