/** Directories made one by one. */

import { dirname } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import type { FileSystem } from '../world.ts';

/**
 * Creates `path` and its missing parents. Node.js's `recursive` never returns where the system answers ENOENT
 * although the parent exists, as below /proc; this rejects with that error.
 */
export async function makeDirectories(fs: Pick<FileSystem, 'mkdir'>, path: string): Promise<void> {
  try {
    await fs.mkdir(path);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeDirectories(fs, parent);
    await fs.mkdir(path);
  }
}

/** Resolves with whether `path` is there. Rejects where it cannot be written, or made. Leaves nothing. */
export async function tryDirectory(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.mkdir(path);
    await fs.rmdir(path);
    return false;
  } catch (error) {
    const code = systemErrorCode(error);
    const isThere = code === 'EEXIST';
    if (isThere) await fs.access(path, fs.constants.W_OK);
    else if (code !== 'ENOENT' || (await tryDirectory(fs, dirname(path)))) throw error;
    return isThere;
  }
}
