/**
 * The zones that all workers of a cluster serve, in a file of the primary's own. The zones file may change between
 * two workers' reads, and a replacement worker must serve what the others serve, not the file's newer contents.
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

/** Zones per write: few system calls for a million zones, and little memory. */
const ZONES_PER_CHUNK = 1000;
const LENGTH_BYTES = 4;
/** Files of zones that a program supplied, in V8's own format, which preserves any record data. */
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

/** The zones written by `ZonesSnapshot.write`; undefined for a file of another kind. */
export function writtenZones(path: string): ZoneSource | undefined {
  if (path.endsWith(RECORDS)) return new RecordsFile(path);
  return path.endsWith(SERIALIZED) ? { zones: () => readChunks(path) } : undefined;
}

/** Removes what a killed primary left behind: this file and all others in its directory. */
export function removeSnapshots(path: string): void {
  rmSync(dirname(path), { recursive: true, force: true });
}

export class ZonesSnapshot {
  #directory: string | undefined;
  #count = 0;
  #current: string | null = null;
  #previous: string | null = null;

  /** The file that workers read; null if they load what the program loads. */
  get current(): string | null {
    return this.#current;
  }

  /** Copies the file as it is now. Throws `E_UNREADABLE`. */
  copy(file: string): string {
    const path = this.#newPath('.ndjson');
    try {
      copyFileSync(file, path, constants.COPYFILE_FICLONE);
    } catch (error) {
      this.drop(path);
      if (systemErrorCode(error) === undefined) throw error;
      const fix = 'Give a file that exists and that this user can read.';
      throw new ServerError('E_UNREADABLE', `Cannot read the zones: ${messageOf(error)}.`, fix, error);
    }
    return path;
  }

  /** Writes the records of all valid zone files. Rejects with `E_ZONES` if none is valid. */
  async read(files: ZoneFiles): Promise<string> {
    const path = this.#newPath(RECORDS);
    await this.#whole(path, files.write(path));
    return path;
  }

  /** Writes the zones of a source to a file. */
  async write(source: ZoneSource): Promise<string> {
    const path = this.#newPath(SERIALIZED);
    await this.#whole(path, this.#serialize(path, source));
    return path;
  }

  async #serialize(path: string, source: ZoneSource): Promise<void> {
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
  }

  /** Leaves no half of a file behind, which would take the space of the next one. */
  async #whole(path: string, written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      this.drop(path);
      throw error;
    }
  }

  /**
   * Makes this the file that workers serve. The previous one is kept until the next call: a worker that has just
   * started may not have opened it yet.
   */
  keep(path: string | null): void {
    if (this.#previous !== null) this.drop(this.#previous);
    this.#previous = this.#current;
    this.#current = path;
  }

  /** Removes a file that is not needed. */
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
      // Also when a second signal ends the process immediately.
      process.once('exit', () => this.clear());
    }
    return join(this.#directory, `zones-${++this.#count}${extension}`);
  }
}
