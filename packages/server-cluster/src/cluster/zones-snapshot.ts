/**
 * The zones that all workers of a cluster serve, as a file of the primary's own: the zones file may change
 * between one worker's reading it and the next one's, and a worker that replaces another must serve what the
 * others serve, not what the file has become since.
 */

import { closeSync, constants, copyFileSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { messageOf, systemErrorCode } from '@dinodns-bench/program';
import { ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';
import type { ZoneInput } from '../store/zone-store.ts';
import { RecordsFile } from '../zone-files/records-file.ts';
import type { ZoneFiles } from '../zone-files/zone-files.ts';

/** Zones written at once: few system calls for a million of them, and little memory. */
const ZONES_PER_CHUNK = 1000;
const LENGTH_BYTES = 4;
/** Files of zones that a program has given, in V8's own format: any record data survives it. */
const SERIALIZED = '.v8';
/** Files of the records of zone files. */
const RECORDS = '.records';

interface PlainZone {
  readonly name: string;
  readonly records: ZoneInput['records'];
}

function chunkOf(zones: readonly PlainZone[]): Buffer {
  const bytes = serialize(zones);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function* readChunks(path: string): Generator<ZoneInput> {
  const file = openSync(path, 'r');
  try {
    const length = Buffer.alloc(LENGTH_BYTES);
    while (readSync(file, length) === LENGTH_BYTES) {
      const bytes = Buffer.alloc(length.readUInt32LE());
      readSync(file, bytes);
      yield* deserialize(bytes) as PlainZone[];
    }
  } finally {
    closeSync(file);
  }
}

/** The zones that `ZonesSnapshot.write` has written; undefined for a file of another kind. */
export function writtenZones(path: string): ZoneSource | undefined {
  if (path.endsWith(RECORDS)) return new RecordsFile(path);
  return path.endsWith(SERIALIZED) ? { zones: () => readChunks(path) } : undefined;
}

/** Removes what a primary has left behind that was killed: this file and all others of its directory. */
export function removeSnapshots(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true });
}

export class ZonesSnapshot {
  #directory: string | undefined;
  #count = 0;
  #current: string | null = null;
  #previous: string | null = null;

  /** The file that workers read; null: what the program loads by itself. */
  get current(): string | null {
    return this.#current;
  }

  /** A copy of the file as it is now. Throws `E_UNREADABLE`. */
  copy(file: string): string {
    const path = this.#newPath('.ndjson');
    try {
      copyFileSync(file, path, constants.COPYFILE_FICLONE);
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      const fix = 'Give a file that exists and that this user can read.';
      throw new ServerError('E_UNREADABLE', `Cannot read the zones: ${messageOf(error)}.`, fix, error);
    }
    return path;
  }

  /** The records of all zone files that are sound. Rejects with `E_ZONES` if none is. */
  async read(files: ZoneFiles): Promise<string> {
    const path = this.#newPath(RECORDS);
    await files.write(path);
    return path;
  }

  /** The zones of a source in a file. */
  async write(source: ZoneSource): Promise<string> {
    const path = this.#newPath(SERIALIZED);
    const file = await open(path, 'w', 0o600);
    try {
      let zones: PlainZone[] = [];
      for (const { name, records } of source.zones()) {
        zones.push({ name, records: [...records] });
        if (zones.length < ZONES_PER_CHUNK) continue;
        await file.write(chunkOf(zones));
        zones = [];
      }
      await file.write(chunkOf(zones));
    } finally {
      await file.close();
    }
    return path;
  }

  /**
   * This file is what workers serve from now on. The one before stays until the next: a worker that has just
   * been started may not have opened it yet.
   */
  keep(path: string | null): void {
    if (this.#previous !== null) this.drop(this.#previous);
    this.#previous = this.#current;
    this.#current = path;
  }

  /** This file is not needed. */
  drop(path: string): void {
    rmSync(path, { force: true });
  }

  /** Removes everything. */
  clear(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
    this.#current = null;
    this.#previous = null;
  }

  #newPath(extension: string): string {
    if (this.#directory === undefined) {
      this.#directory = mkdtempSync(join(tmpdir(), 'dinodns-server-'));
      // Also when a second signal ends the process at once.
      process.once('exit', () => this.clear());
    }
    return join(this.#directory, `zones-${++this.#count}${extension}`);
  }
}
