/**
 * Writes a set of files completely or not at all. Everything is first written to temporary files next to the targets
 * and synced; only then are they renamed. If a rename fails, the earlier ones are undone.
 */

import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { ZonesError } from './errors.ts';
import type { RenderedFile } from './formats/format.ts';

export interface WrittenFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
}

export interface WriteOptions {
  /** When aborted, the temporary files are removed and `writeFiles` rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** One file being written. */
interface Pending {
  readonly target: string;
  readonly temporary: string;
  /** A second link to the previous file, kept until all files are renamed. */
  backup: string | undefined;
  bytes: number;
  renamed: boolean;
}

/**
 * Writes all files below `directory`, which is created if missing. Existing files are replaced. Rejects with
 * `ZonesError` (`E_WRITE_FAILED`); then every target is as it was before, and no temporary file is left.
 * Memory does not grow with the files' size.
 */
export async function writeFiles(
  directory: string,
  files: Iterable<RenderedFile>,
  { signal }: WriteOptions = {},
): Promise<WrittenFile[]> {
  const pending: Pending[] = [];
  const madeDirectories: string[] = [];
  try {
    for (const file of files) {
      const target = await prepareTarget(directory, file.path, madeDirectories);
      const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
      const entry: Pending = { target, temporary, backup: undefined, bytes: 0, renamed: false };
      pending.push(entry);
      entry.bytes = await atPath(target, () => writeWhole(temporary, file.chunks, signal));
    }
    for (const entry of pending) await atPath(entry.target, () => moveIntoPlace(entry));
    for (const path of new Set(pending.map(({ target }) => dirname(target)))) await syncDirectory(path);
  } catch (error) {
    await takeBack(pending, madeDirectories);
    throw error;
  }
  await Promise.all(
    pending.map(({ backup }) => (backup === undefined ? undefined : rm(backup, { force: true }))),
  );
  return pending.map(({ target, bytes }) => ({ path: target, bytes }));
}

/** Writes one file at any path in the same way. */
export async function writeFileWhole(
  path: string,
  chunks: Iterable<string>,
  options?: WriteOptions,
): Promise<WrittenFile[]> {
  const absolute = resolve(path);
  return writeFiles(dirname(absolute), [{ path: basename(absolute), chunks }], options);
}

/** Fixes for system errors, by code. */
const FIXES: Readonly<Record<string, string>> = {
  ENOSPC: 'free some space on the disk, or write to another one',
  EDQUOT: 'free some of your quota, or write to another disk',
  EACCES: 'choose a writable directory',
  EPERM: 'choose a writable directory',
  EROFS: 'choose a directory on a file system that is not read-only',
  ENOTDIR: 'choose another directory: a part of this path is a file',
  EEXIST: 'choose another directory: a file with that name exists',
  EISDIR: 'choose another name: a directory with that name exists',
  ENAMETOOLONG: 'choose a shorter path',
};

function writeError(path: string, cause: unknown, fix?: string): ZonesError {
  const problem = `cannot write ${path}: ${messageOf(cause)}`;
  return new ZonesError(
    'E_WRITE_FAILED',
    problem,
    fix ?? FIXES[systemErrorCode(cause) ?? ''] ?? 'choose another path',
    cause,
  );
}

/** Runs one step of writing `path` and turns system errors into a `ZonesError`. */
async function atPath<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof Error && 'syscall' in error ? writeError(path, error) : error;
  }
}

/** The absolute path of a target. Creates its directory, and checks that the target is a regular file, a link or missing. */
async function prepareTarget(directory: string, path: string, made: string[]): Promise<string> {
  if (isAbsolute(path) || normalize(path).startsWith('..')) {
    throw new Error(`writeFiles: "${path}" is not a path below the directory`);
  }
  const target = resolve(directory, path);
  await atPath(target, () => makeDirectory(dirname(target), made));
  const existing = await atPath(target, () => statOrNothing(target));
  // A rename would replace a device (/dev/null) or a pipe with a file.
  if (existing !== undefined && !existing.isFile() && !existing.isSymbolicLink()) {
    const kind = existing.isDirectory() ? 'a directory' : 'not a regular file';
    throw writeError(
      target,
      new Error(`it is ${kind}`),
      'choose the name of a file, or write to standard output and redirect it',
    );
  }
  return target;
}

/**
 * Creates a directory and its missing parents, and adds the new ones to `made`. (Node.js's own `recursive` never ends
 * on a file system such as /proc, which reports that the new directory does not exist.)
 */
async function makeDirectory(path: string, made: string[]): Promise<void> {
  try {
    if ((await stat(path)).isDirectory()) return;
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error;
    if (dirname(path) !== path) await makeDirectory(dirname(path), made);
  }
  try {
    await mkdir(path);
    made.push(path);
  } catch (error) {
    // Another process may have made it at the same time.
    if (systemErrorCode(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
}

async function statOrNothing(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the number of bytes. */
async function writeWhole(
  path: string,
  chunks: Iterable<string>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(untilAborted(chunks, signal));
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

function* untilAborted(chunks: Iterable<string>, signal: AbortSignal | undefined): Generator<string> {
  for (const chunk of chunks) {
    signal?.throwIfAborted();
    yield chunk;
  }
}

async function moveIntoPlace(entry: Pending): Promise<void> {
  if ((await statOrNothing(entry.target)) !== undefined) {
    const backup = `${entry.temporary}.old`;
    // Without hard links in the file system, a rename cannot be undone.
    const linked = await link(entry.target, backup).then(
      () => true,
      () => false,
    );
    if (linked) entry.backup = backup;
  }
  await rename(entry.temporary, entry.target);
  entry.renamed = true;
}

/** Restores every target. Never throws: the first error is the one to report. */
async function takeBack(pending: readonly Pending[], madeDirectories: readonly string[]): Promise<void> {
  const steps = pending.flatMap(({ target, temporary, backup, renamed }) => [
    () => rm(temporary, { force: true }),
    async () => {
      if (backup !== undefined && renamed) await rename(backup, target);
      else if (backup !== undefined) await rm(backup, { force: true });
      else if (renamed) await rm(target, { force: true });
    },
  ]);
  steps.push(...madeDirectories.toReversed().map((path) => () => rmdir(path)));
  for (const step of steps) {
    await step().catch(() => {
      // The other steps are still worth trying.
    });
  }
}

/** Syncs the directory, if the file system can, so that the new names survive a power failure. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some file systems cannot sync a directory; the files themselves are safe.
  }
}
