/** What the tools printed in the trials of a run: the text files in `raw/`, by trial. */
import { join } from 'node:path';
import type { World } from '../world.ts';

/** The folder of a run that they are in. */
export const RAW_NAME = 'raw';

/** What a tool printed in a trial. */
export interface RawFile {
  /** Relative to the run's folder, with forward slashes. */
  readonly path: string;
  /** Null where it is not part of the page: too long, or the total is. */
  readonly text: string | null;
}

/** By the trial's key. */
export type RawOutput = ReadonlyMap<string, readonly RawFile[]>;

/** A page with more than this opens slowly; the rest is only linked. */
const MAX_CHARACTERS = 4_000_000;
/** A tool that prints more than this in one trial logs every query. */
const MAX_CHARACTERS_OF_FILE = 20_000;

type Reader = Pick<World, 'fs'>;

async function textFiles({ fs }: Reader, directory: string, folder: string): Promise<RawFile[]> {
  const names = await fs.readdir(join(directory, RAW_NAME, folder)).catch((): string[] => []);
  const files: RawFile[] = [];
  for (const name of names.sort()) {
    const path = `${RAW_NAME}/${folder}/${name}`;
    const size = (await fs.stat(join(directory, path)).catch(() => null))?.size ?? 0;
    const text =
      size === 0 || size > MAX_CHARACTERS_OF_FILE
        ? null
        : await fs.readFile(join(directory, path), 'utf8').catch(() => null);
    if (size > 0) files.push({ path, text });
  }
  return files;
}

/**
 * Reads the raw output in the run's folder; empty where there is none. Folders are named by the trial's place in the
 * run (`007-…`). Never rejects: a file that cannot be read is omitted.
 */
export async function readRawOutput(
  world: Reader,
  directory: string,
  trials: readonly { readonly key: string; readonly order: number }[],
): Promise<RawOutput> {
  const folders = await world.fs.readdir(join(directory, RAW_NAME)).catch((): string[] => []);
  const byPlace = new Map(folders.map((folder) => [Number.parseInt(folder, 10), folder]));
  const output = new Map<string, readonly RawFile[]>();
  let characters = 0;
  for (const { key, order } of trials) {
    const folder = byPlace.get(order + 1);
    if (folder === undefined) continue;
    const files = (await textFiles(world, directory, folder)).map((file): RawFile => {
      characters += file.text?.length ?? 0;
      return characters > MAX_CHARACTERS ? { path: file.path, text: null } : file;
    });
    if (files.length > 0) output.set(key, files);
  }
  return output;
}
