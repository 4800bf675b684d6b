/** Zone files on disk, and what they include. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf, whyUnreadable } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';
import { type IncludedFile, type ParseOptions, parseZoneFile, type ZoneRecord } from './parse.ts';
import { TokenError } from './problem.ts';

const CHUNK_BYTES = 64 * 1024;

function unreadable(file: string, error: unknown): ZonesError {
  const problem = `the zone file ${file} ${whyUnreadable(error)}`;
  return new ZonesError(
    'E_UNREADABLE',
    problem,
    'give a file that exists and that this user may read',
    error,
  );
}

/** Opens a regular file, which is sure to have an end. Throws the system's error, or that it is not a regular file. */
function openRegular(path: string): number {
  // A named pipe would otherwise be opened when somebody writes to it, and a server would wait for that.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error('it is not a regular file');
}

/** A file in chunks, all in the same buffer. It is closed at its end, or by `return`. */
class FileChunks implements IterableIterator<Uint8Array> {
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #file: number | undefined;

  constructor(file: number) {
    this.#file = file;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Uint8Array> {
    const bytes = this.#file === undefined ? 0 : readSync(this.#file, this.#buffer);
    return bytes > 0 ? { done: false, value: this.#buffer.subarray(0, bytes) } : this.return();
  }

  return(): IteratorResult<Uint8Array> {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    return { done: true, value: undefined };
  }
}

/** Opens the file that `$INCLUDE` names, relative to the directory of the including file. */
function include(path: string, from: string): IncludedFile {
  const file = resolve(dirname(from), path);
  try {
    return { file, chunks: new FileChunks(openRegular(file)) };
  } catch (error) {
    throw new TokenError(
      `cannot read ${file}: ${messageOf(error)}`,
      'name a file that exists, relative to this file',
    );
  }
}

/**
 * The records of the zone file at `path`; see `parseZoneFile`. `$INCLUDE` paths are relative to the including file.
 * Reads synchronously, 64 KiB at a time, only as records are consumed. Throws a `ZonesError`: `E_UNREADABLE`, or a
 * `ZoneFileError`.
 */
export function* readZoneFile(
  path: string,
  options: Omit<ParseOptions, 'file' | 'include'> = {},
): Generator<ZoneRecord, void, void> {
  let file: number;
  try {
    file = openRegular(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  const chunks = new FileChunks(file);
  try {
    yield* parseZoneFile(chunks, { ...options, file: path, include });
  } finally {
    chunks.return();
  }
}
