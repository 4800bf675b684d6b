/**
 * Atomic file writes: written under another name in the same directory, flushed to disk and then renamed, so that a
 * crash, a full disk or a concurrent reader never leaves or sees a partial file.
 */

import { basename, dirname, join } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { BenchError } from '../errors.ts';
import type { FileSystem } from '../world.ts';
import { makeDirectories } from './make-directories.ts';

const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** The error for a file or directory that cannot be written. Returns anything but a system error unchanged. */
export function writeError(path: string, cause: unknown): unknown {
  const code = systemErrorCode(cause);
  if (cause instanceof BenchError || code === undefined) return cause;
  if (FULL.has(code)) {
    return new BenchError('E_DISK_FULL', `no space left to write ${path}`, {
      fix: 'Free some space, or give another directory with --out.',
      cause,
    });
  }
  return new BenchError('E_WRITE_FAILED', `cannot write ${path}: ${messageOf(cause)}`, {
    fix: 'Give another path with the flag that names it (of a run, --out), or change the permissions of this one.',
    cause,
  });
}

const TEMPORARY = /^\..+\.\d+\.tmp$/;

/** True for the names that `writeWhole` uses until a file is complete. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Makes the rename survive a power failure. Not every file system can; files stay consistent anyway. */
async function flushDirectory(fs: FileSystem, directory: string): Promise<void> {
  const handle = await fs.open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (systemErrorCode(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Replaces `path` with `content` atomically; creates its directory if missing. Rejects with `E_DISK_FULL` or
 * `E_WRITE_FAILED`, and leaves only the old file. `ownPid` separates processes that write to the same directory.
 */
export async function writeWhole(
  fs: FileSystem,
  ownPid: number,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const directory = dirname(path);
  const temporary = join(directory, `.${basename(path)}.${ownPid}.tmp`);
  try {
    await makeDirectories(fs, directory);
    const handle = await fs.open(temporary, 'w');
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await fs.rename(temporary, path);
    await flushDirectory(fs, directory);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => undefined);
    throw writeError(path, error);
  }
}

/**
 * Puts the directory `made` in the place of `target`: readers see the old one or the new one. A target that cannot be moved, such as a
 * mount point, stays as it is.
 */
export async function replaceDirectory(fs: FileSystem, made: string, target: string): Promise<void> {
  const old = `${made}.old`;
  const hadOne = (await fs.stat(target).catch(() => null)) !== null;
  if (hadOne) await fs.rename(target, old);
  await fs.rename(made, target).catch(async (error) => {
    if (hadOne) await fs.rename(old, target);
    throw error;
  });
  await fs.rm(old, { recursive: true, force: true });
}
