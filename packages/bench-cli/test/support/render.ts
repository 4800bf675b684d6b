/** Reports on comparisons, each by the name of its format. */
import { FILE_LOOK, type Look, seriesFrom } from '../../src/report/charts/chart.ts';
import { standaloneSvg } from '../../src/report/charts/index.ts';
import type { DrawnPlot } from '../../src/report/charts/render.ts';
import { compareDocument } from '../../src/report/compare/document.ts';
import type { ReportDocument } from '../../src/report/document/document.ts';
import { drawCharts } from '../../src/report/document/draw.ts';
import { formats } from '../../src/report/index.ts';
import {
  filesOf,
  findFormat,
  findRenderer,
  isBundle,
  type RenderOptions,
} from '../../src/report/renderer.ts';
import type { RunRecord } from '../../src/results/record.ts';

const RELATIVE: RenderOptions = { delta: 'relative' };

/** Those that are one text. */
export const renderers = formats.flatMap((format) => (isBundle(format) ? [] : [format]));

function rendererOf(name: string) {
  return (record: RunRecord, options: RenderOptions = RELATIVE): string => {
    const renderer = findRenderer(name, formats);
    if (renderer === undefined) throw new Error(`no format ${name}`);
    return renderer.render(record, options);
  };
}

export const renderTerminal = rendererOf('terminal');
export const renderMarkdown = rendererOf('markdown');
export const renderCsv = rendererOf('csv');

/** What a format leaves on disk, by path. */
export async function filesFor(
  name: string,
  record: RunRecord,
  options: RenderOptions = RELATIVE,
): Promise<Map<string, string | Uint8Array>> {
  const format = findFormat(name, formats);
  if (format === undefined) throw new Error(`no format ${name}`);
  const files = new Map<string, string | Uint8Array>();
  for await (const { path, content } of filesOf([format], record, options)) files.set(path, content);
  return files;
}

/** The text of the post, which comes before its charts: these take long to draw. */
export async function renderPost(record: RunRecord): Promise<string> {
  const format = findFormat('blog', formats);
  if (format === undefined) throw new Error('no format blog');
  const { value } = await filesOf([format], record, RELATIVE).next();
  if (value?.path !== 'blog/index.md') throw new Error(`the post begins with ${value?.path}`);
  return String(value.content);
}

export async function renderHtml(record: RunRecord, options: RenderOptions = RELATIVE): Promise<string> {
  return String((await filesFor('html', record, options)).get('report.html'));
}

/** Drawing takes long: once for each record. */
const kept = new WeakMap<RunRecord, Map<string, ReportDocument>>();

function documentOf(record: RunRecord, delta: RenderOptions['delta']): ReportDocument {
  const known = kept.get(record) ?? new Map<string, ReportDocument>();
  kept.set(record, known);
  const document = known.get(delta) ?? compareDocument(record, { delta });
  known.set(delta, document);
  return document;
}

/** The charts of a record, and the texts that name those without data. */
export async function plotsOf(
  record: RunRecord,
  delta: RenderOptions['delta'] = 'relative',
  look: Look = FILE_LOOK,
): Promise<{ drawn: readonly DrawnPlot[]; missing: string; svg(name: string): string }> {
  const document = documentOf(record, delta);
  const drawn = await drawCharts(document, look);
  const texts = document.sections
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  return {
    drawn,
    missing: texts.find((text) => text.startsWith('Omitted for lack of data')) ?? '',
    svg(name) {
      const plot = drawn.find((candidate) => candidate.name === name);
      if (plot === undefined) throw new Error(`no chart ${name}`);
      return standaloneSvg(plot, seriesFrom(document.series), look);
    },
  };
}
