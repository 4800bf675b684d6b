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

/** Rejects where `path`, or the nearest directory above it that is there, cannot be written. Changes nothing. */
export async function demandWritable(
  fs: Pick<FileSystem, 'access' | 'constants'>,
  path: string,
): Promise<void> {
  try {
    await fs.access(path, fs.constants.W_OK);
  } catch (error) {
    const parent = dirname(path);
    if (systemErrorCode(error) !== 'ENOENT' || parent === path) throw error;
    await demandWritable(fs, parent);
  }
}
