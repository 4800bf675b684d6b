/** The end of a run: reports beside the record, the result on stdout, the exit status. */
import { relative } from 'node:path';
import { updateHistory } from '../history/history.ts';
import { findRenderer, type RenderOptions, renderers, runStatus } from '../report/index.ts';
import type { RunRecord } from '../results/record.ts';
import type { RunStore } from '../results/store.ts';
import type { World } from '../world.ts';

/** How reports look in this world: colours only where a terminal shows them and nobody objects. */
export function renderOptions(
  world: World,
  record: RunRecord,
  delta?: RenderOptions['delta'],
): RenderOptions {
  const { stdout } = world;
  return {
    delta: delta ?? record.deltaDefinition,
    color: stdout.isTerminal && (world.env.NO_COLOR ?? '') === '',
    columns: stdout.columns ?? 80,
  };
}

/** Writes every report that is a file beside the record; resolves with their paths. */
export async function writeReports(
  store: RunStore,
  directory: string,
  record: RunRecord,
  options: RenderOptions,
): Promise<string[]> {
  const paths: string[] = [];
  for (const renderer of renderers) {
    if (renderer.fileName === null) continue;
    const text = renderer.render(record, { ...options, color: false });
    paths.push(await store.writeBeside(directory, renderer.fileName, text));
  }
  return paths;
}

/** Writes the reports, prints the table or the record, and resolves with the exit status. */
export async function finishRun(
  world: World,
  store: RunStore,
  directory: string,
  record: RunRecord,
  json: boolean,
): Promise<number> {
  const options = renderOptions(world, record);
  const paths = await writeReports(store, directory, record, options);
  world.stdout.write(findRenderer(json ? 'json' : 'terminal')?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  const notice = await updateHistory(world, store.resultsDirectory);
  if (notice !== null) world.stderr.write(`Note: ${notice}\n`);
  return runStatus(record).exitStatus;
}
