/** Reports beside the record: how they look, and where they go. For the end of every run and for `bench report`. */
import { join } from 'node:path';
import type { RenderOptions, ReportFile } from '../report/renderer.ts';
import { readRawOutput } from '../results/raw-output.ts';
import type { RunStore } from '../results/store.ts';
import type { World } from '../world.ts';

/** How reports look here: colours only on a terminal, and unless NO_COLOR says otherwise. */
export function renderOptions(world: World, delta: RenderOptions['delta']): RenderOptions {
  const { stdout } = world;
  return {
    delta,
    color: stdout.isTerminal && (world.env.NO_COLOR ?? '') === '',
    columns: stdout.columns ?? 80,
  };
}

/** The same, with what the tools of a run printed. */
export async function withRawOutput(
  world: World,
  options: RenderOptions,
  runDirectory: string,
  trials: Parameters<typeof readRawOutput>[2],
): Promise<RenderOptions> {
  return { ...options, raw: await readRawOutput(world, runDirectory, trials) };
}

/** The formats that every run leaves beside its record. */
export function routineFormats<F extends { readonly isRoutine?: boolean }>(formats: readonly F[]): F[] {
  return formats.filter(({ isRoutine }) => isRoutine === true);
}

/** Whether an earlier report left its charts there, which the text then goes on showing. */
export async function hasCharts({ fs }: World, directory: string): Promise<boolean> {
  const names = await fs.readdir(join(directory, 'charts')).catch((): string[] => []);
  return names.some((name) => name.endsWith('.svg'));
}

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
