/** Directories made one by one. */

import { dirname } from 'node:path';
import { systemErrorCode } from '@dinodns-bench/program';
import type { FileSystem } from '../world.ts';

/**
 * Makes `path` and whatever is missing above it. Node.js's own `recursive` never ends where the system answers
 * ENOENT although the parent exists, as below /proc; this rejects with that error.
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
