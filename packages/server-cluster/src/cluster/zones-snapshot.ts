/**
 * The zones that all workers of a cluster serve, as a file of the primary's own: the zones file may change
 * between one worker's reading it and the next one's, and a worker that replaces another must serve what the
 * others serve, not what the file has become since.
 */
import { constants, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZONES_JSON_FORMAT, ZONES_JSON_VERSION } from '@dinodns-bench/zones';
import { messageOf, ServerError, systemErrorCode } from '../errors.ts';
import type { ZoneSource } from '../options.ts';

/** Written at once: large enough that a million zones take few system calls. */
const CHUNK_CHARACTERS = 256 * 1024;
const HEADER_CHARACTERS = 80;

/** The file's first line, of the same length for any number of zones. */
function header(zones: number): string {
  const line = JSON.stringify({ format: ZONES_JSON_FORMAT, version: ZONES_JSON_VERSION, zones });
  return `${line.padEnd(HEADER_CHARACTERS)}\n`;
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
    const path = this.#newPath();
    try {
      copyFileSync(file, path, constants.COPYFILE_FICLONE);
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      const fix = 'Give a file that exists and that this user may read.';
      throw new ServerError('E_UNREADABLE', `Cannot read the zones: ${messageOf(error)}.`, fix, error);
    }
    return path;
  }

  /** The zones of a source in a file. */
  async write(source: ZoneSource): Promise<string> {
    const path = this.#newPath();
    const file = await open(path, 'w', 0o600);
    try {
      // How many there are is known only in the end, and stands at the beginning.
      await file.write(header(0));
      let zones = 0;
      let text = '';
      for (const { name, records } of source.zones()) {
        zones++;
        text += `${JSON.stringify({ name, records: [...records] })}\n`;
        if (text.length < CHUNK_CHARACTERS) continue;
        await file.write(text);
        text = '';
      }
      await file.write(text);
      await file.write(header(zones), 0);
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

  #newPath(): string {
    this.#directory ??= mkdtempSync(join(tmpdir(), 'dinodns-server-'));
    return join(this.#directory, `zones-${++this.#count}.ndjson`);
  }
}
