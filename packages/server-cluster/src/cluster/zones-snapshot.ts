/**
 * The zones that all workers of a cluster serve, in a file of the primary's own. The zones file may change between
 * two workers' reads, and a replacement worker must serve what the others serve, not the file's newer contents. The file
 * holds the arrays of a store as they are, so that workers read it at the speed of the disk.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadStore, type Zones } from '../store/load.ts';
import { ZoneStore } from '../store/zone-store.ts';

/** Read at once, beside the event loop. */
const CHUNK_BYTES = 16 * 1024 * 1024;

/** The zones of a file that `ZonesSnapshot.write` has written. */
export async function readSnapshot(path: string): Promise<ZoneStore> {
  const file = await open(path, 'r');
  try {
    const parts: Int32Array<ArrayBuffer>[] = [];
    const length = new Uint32Array(1);
    while (await readAll(file, new Uint8Array(length.buffer))) {
      const part = new Int32Array(length[0] ?? 0);
      await readAll(file, new Uint8Array(part.buffer));
      parts.push(part);
    }
    const store = new ZoneStore();
    store.data.restore(parts);
    return store;
  } finally {
    await file.close();
  }
}

/** Fills the bytes; false if the file has ended. */
async function readAll(file: FileHandle, bytes: Uint8Array): Promise<boolean> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(bytes.length - at, CHUNK_BYTES));
    if (bytesRead === 0) return false;
    at += bytesRead;
  }
  return true;
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

  /** Loads zones and writes them to a file. Rejects as `loadStore`. */
  async write(zones: Zones): Promise<string> {
    const store = new ZoneStore();
    await loadStore(store, zones);
    const path = join(this.directory(), `zones-${++this.#count}`);
    try {
      const file = await open(path, 'w', 0o600);
      try {
        for (const part of store.data.parts()) {
          await file.writeFile(Uint32Array.of(part.length));
          await file.writeFile(part);
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      // Half of a file would take the space of the next one.
      this.drop(path);
      throw error;
    }
    return path;
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

  /** A directory of this process's own, until `clear`. */
  directory(): string {
    if (this.#directory === undefined) {
      this.#directory = mkdtempSync(join(tmpdir(), 'dinodns-server-'));
      // Also when a second signal ends the process immediately.
      process.once('exit', () => this.clear());
    }
    return this.#directory;
  }
}
