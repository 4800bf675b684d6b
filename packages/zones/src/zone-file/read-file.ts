/** Zone files on disk, and what they include. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';
import { type IncludedFile, type ParseOptions, parseZoneFile, type ZoneRecord } from './parse.ts';
import { TokenError } from './problem.ts';

const CHUNK_OCTETS = 64 * 1024;

function unreadable(file: string, error: unknown): ZonesError {
  const problem = {
    problem: `cannot read the zone file ${file}: ${messageOf(error)}`,
    fix: 'give a file that exists and that this user may read',
  };
  return new ZonesError('E_UNREADABLE', problem.problem, [problem], error);
}

/** Opens a file that has an end. Throws what the system says, or that it is not such a file. */
function openRegular(path: string): number {
  const file = openSync(path, 'r');
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error('it is not a regular file');
}

/** The octets of a file in chunks; the same buffer each time. It is closed at the end, or by `return`. */
class FileChunks implements IterableIterator<Uint8Array> {
  readonly #buffer = Buffer.allocUnsafe(CHUNK_OCTETS);
  #file: number | undefined;

  constructor(file: number) {
    this.#file = file;
  }

  [Symbol.iterator](): this {
    return this;
  }

  next(): IteratorResult<Uint8Array> {
    const octets = this.#file === undefined ? 0 : readSync(this.#file, this.#buffer);
    return octets > 0 ? { done: false, value: this.#buffer.subarray(0, octets) } : this.return();
  }

  return(): IteratorResult<Uint8Array> {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    return { done: true, value: undefined };
  }
}

/** Opens what `$INCLUDE` names: relative to the directory of the file that says so. */
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
 * The records of the zone file at `path`; see `parseZoneFile`. `$INCLUDE` names files relative to the one it is in.
 * Reads synchronously, 64 KiB at a time, as far as records are asked for. Throws a `ZonesError`: `E_UNREADABLE`, or a
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
