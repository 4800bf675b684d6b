/** The end of a run: reports beside the record, the result on stdout, the exit status. */
import { relative } from 'node:path';
import {
  type Format,
  filesOf,
  findRenderer,
  formats,
  type RenderOptions,
  type ReportFile,
  runStatus,
} from '../report/index.ts';
import { readRawOutput } from '../results/raw-output.ts';
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

/** The same, with what the tools of a run printed. */
export async function withRawOutput(
  world: World,
  options: RenderOptions,
  runDirectory: string,
  record: RunRecord,
): Promise<RenderOptions> {
  return { ...options, raw: await readRawOutput(world, runDirectory, record) };
}

/** The formats that every run leaves beside its record. */
export const routineFormats: readonly Format[] = formats.filter(({ isRoutine }) => isRoutine === true);

/** Writes the files into `directory`; resolves with their paths. */
export async function writeFiles(
  store: RunStore,
  directory: string,
  files: AsyncIterable<ReportFile>,
): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, content } of files) paths.push(await store.writeBeside(directory, path, content));
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
  const withRaw = await withRawOutput(world, options, directory, record);
  const paths = await writeFiles(store, directory, filesOf(routineFormats, record, withRaw));
  world.stdout.write(findRenderer(json ? 'json' : 'terminal')?.render(record, options) ?? '');
  const shown = [`${directory}/run.json`, ...paths].map((path) => relative(world.cwd, path) || path);
  world.stderr.write(`\nWritten: ${shown.join(', ')}\n`);
  return runStatus(record).exitStatus;
}
