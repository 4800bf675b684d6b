/** The registry of reports. To add one, add a file in this folder and a line here. */

import type { RunRecord } from '../results/record.ts';
import { renderBenchstat } from './benchstat.ts';
import { blogFiles } from './blog.ts';
import { comparisonBrief } from './brief.ts';
import { pngFiles, svgFiles } from './chart-files.ts';
import { renderCsv } from './csv.ts';
import { renderGithub } from './github.ts';
import { renderHtml } from './html/index.ts';
import { renderJson } from './json.ts';
import { renderMarkdown } from './markdown.ts';
import { renderOpenMetrics } from './openmetrics.ts';
import { renderPerfDash } from './perf-dash.ts';
import type { Bundle, Format, Renderer, RenderOptions, ReportFile } from './renderer.ts';
import { renderTerminal } from './terminal.ts';

/** Reports that are one text. */
export const renderers: readonly Renderer[] = [
  { name: 'terminal', fileName: null, description: 'the table of `bench run`', render: renderTerminal },
  {
    name: 'markdown',
    aliases: ['md'],
    fileName: 'report.md',
    isRoutine: true,
    description: 'the whole report',
    render: renderMarkdown,
  },
  {
    name: 'github',
    fileName: 'github.md',
    description: 'short, for a pull request comment',
    render: renderGithub,
  },
  {
    name: 'csv',
    fileName: 'trials.csv',
    isRoutine: true,
    description: 'one line for each trial',
    render: renderCsv,
  },
  { name: 'json', fileName: 'record.json', description: 'the record (run.json)', render: renderJson },
  {
    name: 'openmetrics',
    fileName: 'metrics.txt',
    description: 'medians and intervals for Prometheus',
    render: renderOpenMetrics,
  },
  {
    name: 'benchstat',
    fileName: 'benchstat.txt',
    description: 'trials in the format of benchstat',
    render: renderBenchstat,
  },
  {
    name: 'perf-dash',
    fileName: 'perf-dash.json',
    description: 'PerfData of kubernetes/perf-tests',
    render: renderPerfDash,
  },
];

/** The file that `bench open` opens. */
export const HTML_NAME = 'report.html';

async function* htmlFile(record: RunRecord, options: RenderOptions): AsyncGenerator<ReportFile> {
  yield { path: HTML_NAME, content: await renderHtml(record, options) };
}

/** Reports that are made of files. */
export const bundles: readonly Bundle[] = [
  {
    name: 'html',
    isRoutine: true,
    shown: 'piped',
    description: 'one page to explore, works offline',
    files: htmlFile,
    brief: comparisonBrief,
  },
  {
    name: 'blog',
    shown: 'always',
    description: 'a post for a Docusaurus blog, with its charts',
    files: blogFiles,
  },
  { name: 'svg', shown: 'never', description: 'the charts, for light and dark', files: svgFiles },
  { name: 'png', shown: 'never', description: 'the charts as pictures, light and dark', files: pngFiles },
];

export const formats: readonly Format[] = [...renderers, ...bundles];

export { runStatus } from './status.ts';
