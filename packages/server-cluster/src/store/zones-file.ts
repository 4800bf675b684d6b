/**
 * A file of zones (`zones.ndjson` of `dinodns-zones generate --format dinodns-json`), read on demand and never
 * held in memory. Lines that differ from an earlier line only in the zone's name, as most lines of a generated
 * file do, are recognised by their bytes and not parsed.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isExplained, messageOf, systemErrorCode } from '@dinodns-bench/program';
import { checkZonesJsonCount, readZonesJsonHeader, type Zone, zoneLineReader } from '@dinodns-bench/zones';
import { ServerError } from '../errors.ts';
import { BulkLoader } from './bulk.ts';
import { LinePattern, patternOf } from './line-pattern.ts';
import { Lines } from './lines.ts';
import type { ZoneStore } from './zone-store.ts';

/** Zone layouts that are recognised. Files with more layouts load at the speed of parsing. */
const MAX_PATTERNS = 16;

export class ZonesFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The zones one by one, each checked. Throws `E_ZONES` or `E_UNREADABLE`. */
  *zones(): Generator<Zone, void, void> {
    const reader = new ZonesReader();
    try {
      const file = openSync(this.path, 'r');
      try {
        const lines = new Lines();
        for (;;) {
          const count = readSync(file, lines.space());
          lines.fill(count);
          while (lines.next()) {
            const zone = reader.read(lines.text());
            if (zone !== undefined) yield zone;
          }
          if (count === 0) break;
        }
      } finally {
        closeSync(file);
      }
      reader.end();
    } catch (error) {
      throw fileError(this.path, error);
    }
  }

  /**
   * Adds all zones to a store and awaits `pause` after every `yieldEvery` of them. Rejects with `E_ZONES` or
   * `E_UNREADABLE`; the store is then unusable.
   */
  async addTo(store: ZoneStore, yieldEvery: number, pause: () => Promise<unknown>): Promise<void> {
    const filler = new Filler(store);
    try {
      const file = await open(this.path, 'r');
      try {
        const lines = new Lines();
        for (let count = 0; ; ) {
          const { bytesRead } = await file.read(lines.space());
          lines.fill(bytesRead);
          while (lines.next()) {
            filler.add(lines);
            if (++count % yieldEvery === 0) await pause();
          }
          if (bytesRead === 0) break;
        }
      } finally {
        await file.close();
      }
      filler.end();
    } catch (error) {
      throw fileError(this.path, error);
    }
  }
}

/** Reads the lines of a file in order. */
class ZonesReader {
  readonly #readLine = zoneLineReader();
  #announced: number | undefined;
  #number = 0;
  #zones = 0;

  get announced(): number | undefined {
    return this.#announced;
  }

  /** The zone of the next line; undefined for the first line, and for empty ones. */
  read(line: string): Zone | undefined {
    this.#number++;
    if (this.#announced === undefined) {
      this.#announced = readZonesJsonHeader(line);
      return undefined;
    }
    if (line === '') return undefined;
    this.#zones++;
    return this.#readLine(line, this.#number);
  }

  /** Counts a line that was read by other means. */
  skip(): void {
    this.#number++;
    this.#zones++;
  }

  /** Reads a line that is not in the file. */
  readOther(line: string): Zone {
    return this.#readLine(line, this.#number);
  }

  end(): void {
    checkZonesJsonCount(this.#announced, this.#zones);
  }
}

class Filler {
  readonly #store: ZoneStore;
  readonly #loader: BulkLoader;
  readonly #reader = new ZonesReader();
  readonly #patterns: LinePattern[] = [];

  constructor(store: ZoneStore) {
    this.#store = store;
    this.#loader = new BulkLoader(store.data);
  }

  /** Adds the zone of the current line. */
  add(lines: Lines): void {
    if (this.#reader.announced !== undefined) {
      for (const pattern of this.#patterns) if (this.#addAlike(pattern, lines)) return;
    }
    const text = lines.text();
    const zone = this.#reader.read(text);
    if (zone === undefined) return;
    this.#store.addZone(zone);
    if (this.#patterns.length >= MAX_PATTERNS) return;
    const pattern = patternOf(this.#store.data, text, zone, (line) => this.#reader.readOther(line));
    if (pattern !== undefined) this.#patterns.push(pattern);
  }

  end(): void {
    this.#reader.end();
  }

  #addAlike(pattern: LinePattern, { bytes, start, end }: Lines): boolean {
    const nameEnd = pattern.match(bytes, start, end);
    if (nameEnd === -1) return false;
    // The zone already exists, so its records are merged.
    if (!this.#loader.addBytes(pattern.zone, bytes, start + LinePattern.nameAt, nameEnd)) return false;
    this.#reader.skip();
    return true;
  }
}

/** Turns a failure with a file of zones into an error that says what to do. */
export function fileError(file: string, error: unknown): unknown {
  if (isExplained(error)) {
    return new ServerError('E_ZONES', `${file}: ${error.message}`, error.fix, error);
  }
  if (error instanceof RangeError || error instanceof TypeError) {
    return new ServerError('E_ZONES', `${file}: ${error.message}`, 'Correct or omit the record.', error);
  }
  if (systemErrorCode(error) === undefined) return error;
  const fix = 'Give a file that exists and that this user can read.';
  return new ServerError('E_UNREADABLE', `Cannot read the zones: ${messageOf(error)}.`, fix, error);
}
