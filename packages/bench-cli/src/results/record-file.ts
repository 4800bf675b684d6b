/** The file that holds a record: `run.json`, or `run.json.gz`, which published runs have and which any run may be turned into. */
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { systemErrorCode, whyUnreadable } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';

type FileWorld = Pick<World, 'fs'>;

export const RECORD_NAME = 'run.json';
const COMPRESSED = '.gz';
/** The first is the newer one where there are both, because it is what bench writes. */
const RECORD_NAMES = [RECORD_NAME, RECORD_NAME + COMPRESSED] as const;

export const isRecordName = (name: string) => RECORD_NAMES.some((known) => known === name);

export interface FoundFile {
  readonly path: string;
  /** Changes whenever the file does: size and modification time. */
  readonly stamp: string;
}

/** The first of these files in a folder; null if it has none. By default the record. */
export async function fileIn(
  { fs }: FileWorld,
  directory: string,
  others: readonly string[] = [],
): Promise<FoundFile | null> {
  for (const name of [...RECORD_NAMES, ...others]) {
    const path = join(directory, name);
    const stats = await fs.stat(path).catch(() => null);
    if (stats?.isFile()) return { path, stamp: `${stats.size} ${stats.mtimeMs}` };
  }
  return null;
}

/** The path of the record in a folder; null if it has none. */
export async function recordIn(world: FileWorld, directory: string): Promise<string | null> {
  return (await fileIn(world, directory))?.path ?? null;
}

/** The text of a record. Rejects with `E_RECORD_UNREADABLE`. */
export async function readRecordText({ fs }: FileWorld, path: string): Promise<string> {
  try {
    if (!path.endsWith(COMPRESSED)) return await fs.readFile(path, 'utf8');
    return (await promisify(gunzip)(await fs.readFile(path))).toString();
  } catch (cause) {
    const isCut = systemErrorCode(cause) === 'Z_BUF_ERROR';
    const why = isCut ? 'is truncated' : whyUnreadable(cause);
    throw new BenchError('E_RECORD_UNREADABLE', `${path} ${why}`, {
      fix: isCut
        ? 'Restore the file from a copy, or measure again.'
        : 'Give the id or the path of a run that you can read.',
      cause,
    });
  }
}
