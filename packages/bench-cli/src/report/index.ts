/** The registry of reports: adding one is adding a file in this folder and a line here. */
import { renderCsv } from './csv.ts';
import { renderJson } from './json.ts';
import { renderMarkdown } from './markdown.ts';
import type { Renderer } from './renderer.ts';
import { renderTerminal } from './terminal.ts';

export const renderers: readonly Renderer[] = [
  { name: 'terminal', fileName: null, description: 'the table of `bench run`', render: renderTerminal },
  { name: 'markdown', fileName: 'report.md', description: 'the whole report', render: renderMarkdown },
  { name: 'csv', fileName: 'trials.csv', description: 'one line for each trial', render: renderCsv },
  { name: 'json', fileName: null, description: 'the record (run.json)', render: renderJson },
];

/** The renderer of that name, or undefined. */
export function findRenderer(name: string): Renderer | undefined {
  return renderers.find((renderer) => renderer.name === name);
}

export type { Renderer, RenderOptions } from './renderer.ts';
export { type RunStatus, runStatus } from './status.ts';
export { verdictSentence } from './verdict-sentence.ts';
