/** The formats of an experiment that makes a document of its record. */
import { formatJson } from '../../results/json-text.ts';
import { FILE_LOOK, seriesFrom } from '../charts/chart.ts';
import { darkened, pngOf, standaloneSvg } from '../charts/index.ts';
import { csvText } from '../csv.ts';
import type { Format, RenderOptions, ReportFile } from '../renderer.ts';
import { documentBrief } from './brief.ts';
import { type ReportDocument, withoutEmpty } from './document.ts';
import { drawCharts } from './draw.ts';
import { documentMarkdown, documentPost } from './markdown.ts';
import { documentPage } from './page.ts';
import { documentText } from './terminal.ts';

async function* svgs(document: ReportDocument) {
  const series = seriesFrom(document.series);
  for (const plot of await drawCharts(document, FILE_LOOK))
    yield { name: plot.name, svg: standaloneSvg(plot, series, FILE_LOOK), series: series.length };
}

const chartPath = (name: string) => `charts/${name}.svg`;

async function* svgFiles(
  document: ReportDocument,
  pathOf: (name: string) => string,
): AsyncGenerator<ReportFile> {
  for await (const { name, svg } of svgs(document)) yield { path: pathOf(name), content: svg };
}

async function* pngFiles(document: ReportDocument): AsyncGenerator<ReportFile> {
  for await (const { name, svg, series } of svgs(document)) {
    yield { path: `charts/${name}.png`, content: await pngOf(svg) };
    yield { path: `charts/${name}-dark.png`, content: await pngOf(darkened(svg, series)) };
  }
}

async function* blogFiles(document: ReportDocument, options: RenderOptions): AsyncGenerator<ReportFile> {
  yield { path: 'blog/index.md', content: documentPost(document, options) };
  yield* svgFiles(document, (name) => `blog/${name}.svg`);
}

/** The file that `bench open` opens. */
export const PAGE_NAME = 'report.html';

async function* pageFile(document: ReportDocument, { raw }: RenderOptions): AsyncGenerator<ReportFile> {
  yield { path: PAGE_NAME, content: await documentPage(document, raw) };
}

/**
 * Every format for records of which `toDocument` makes a document: a pure function. The document is kept as long as
 * its record, so that formats share its charts; only the definition of differences makes another one.
 */
export function documentFormats<R extends object>(
  toDocument: (record: R, options: Pick<RenderOptions, 'delta'>) => ReportDocument,
): Format<R>[] {
  const kept = new WeakMap<R, Map<string, ReportDocument>>();
  const documentOf = (record: R, { delta }: Pick<RenderOptions, 'delta'>): ReportDocument => {
    const known = kept.get(record) ?? new Map<string, ReportDocument>();
    kept.set(record, known);
    const before = known.get(delta);
    if (before !== undefined) return before;
    const made = toDocument(record, { delta });
    const document = { ...made, sections: withoutEmpty(made.sections) };
    known.set(delta, document);
    return document;
  };
  return [
    {
      name: 'terminal',
      fileName: null,
      description: 'the text that a run ends with',
      render: (record, options) => documentText(documentOf(record, options), options),
    },
    {
      name: 'markdown',
      aliases: ['md'],
      fileName: 'report.md',
      isRoutine: true,
      description: 'the whole report',
      render: (record, options) =>
        documentMarkdown(documentOf(record, options), ({ name }) =>
          options.hasCharts === true ? chartPath(name) : undefined,
        ),
    },
    {
      name: 'csv',
      fileName: 'trials.csv',
      isRoutine: true,
      description: 'the figures for spreadsheets',
      render: (record, options) => {
        const { columns, rows } = documentOf(record, options).data;
        return csvText(columns, rows);
      },
    },
    { name: 'json', fileName: 'record.json', description: 'the record (record.json)', render: formatJson },
    {
      name: 'html',
      isRoutine: true,
      shown: 'piped',
      description: 'one page to explore, works offline',
      files: (record, options) => pageFile(documentOf(record, options), options),
      brief: (record, options) => documentBrief(documentOf(record, options)),
    },
    {
      name: 'blog',
      aliases: ['post'],
      shown: 'always',
      description: 'a post for a Docusaurus blog, with its charts',
      files: (record, options) => blogFiles(documentOf(record, options), options),
    },
    {
      name: 'svg',
      shown: 'never',
      description: 'the charts, for light and dark',
      files: (record, options) => svgFiles(documentOf(record, options), chartPath),
    },
    {
      name: 'png',
      shown: 'never',
      description: 'the charts as pictures, light and dark',
      files: (record, options) => pngFiles(documentOf(record, options)),
    },
  ];
}

export { chart, code, facts, list, numbers, type ReportDocument, table, text } from './document.ts';
