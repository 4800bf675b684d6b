/**
 * The zones that all workers of a cluster serve, in a file of the primary's own. The zones file may change between
 * two workers' reads, and a replacement worker must serve what the others serve, not the file's newer contents. The file
 * holds the arrays of a store as they are, so that workers read it at the speed of the disk.
 */
import { lstatSync, lutimesSync, mkdtempSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { turns } from '../process/server.ts';
import { loadStore, type Zones } from '../store/load.ts';
import { ZoneStore } from '../store/zone-store.ts';

/** How often files are made new, in seconds: what removes old temporary files often waits for ten days. */
const TOUCH_SECONDS = 24 * 3600;

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

/**
 * Zones in a file. It stays open, so that they are still there for a new worker when another program, which removes what is old in the
 * directory for temporary files, has removed it.
 */
export class SnapshotFile {
  readonly #create: () => Promise<{ path: string; file: FileHandle }>;
  #path: string;
  #file: FileHandle;

  /** `create` creates another, empty one. */
  constructor(path: string, file: FileHandle, create: () => Promise<{ path: string; file: FileHandle }>) {
    this.#path = path;
    this.#file = file;
    this.#create = create;
  }

  /** Where it can be read: if it has been removed, it is written again. One call at a time: several workers may start at once. */
  readonly path = turns()(async () => {
    // By now, the name may be that of somebody else's file.
    if (statOf(this.#path)?.ino === (await this.#file.stat()).ino) return this.#path;
    const { path, file } = await this.#create();
    try {
      await file.writeFile(this.#file.createReadStream({ start: 0, autoClose: false }));
    } catch (error) {
      removeOpen(path, file);
      throw error;
    }
    void this.#file.close();
    this.#path = path;
    this.#file = file;
    return path;
  });

  remove(): void {
    removeOpen(this.#path, this.#file);
  }
}

function removeOpen(path: string, file: FileHandle): void {
  rmSync(path, { force: true });
  void file.close();
}

/** Undefined if nothing is there, or nothing that we may see. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Makes a directory and its files look new. */
function touch(directory: string): void {
  const now = new Date();
  try {
    for (const name of ['', ...readdirSync(directory)]) lutimesSync(join(directory, name), now, now);
  } catch {
    // It, or one of them, has been removed.
  }
}

export class ZonesSnapshot {
  #directory: string | undefined;
  #touching: NodeJS.Timeout | undefined;
  #count = 0;
  /** What workers read, and what they read before; null if they load what the program loads. */
  readonly #kept: (SnapshotFile | null)[] = [];

  /** Loads zones and writes them to a file. Rejects as `loadStore`. */
  async write(zones: Zones): Promise<SnapshotFile> {
    const store = new ZoneStore();
    await loadStore(store, zones);
    const { path, file } = await this.#create();
    try {
      for (const part of store.data.parts()) {
        await file.writeFile(Uint32Array.of(part.length));
        await file.writeFile(part);
      }
    } catch (error) {
      // Half of a file would take the space of the next one.
      removeOpen(path, file);
      throw error;
    }
    return new SnapshotFile(path, file, () => this.#create());
  }

  async #create(): Promise<{ path: string; file: FileHandle }> {
    const path = join(this.directory(), `zones-${++this.#count}`);
    return { path, file: await open(path, 'w+', 0o600) };
  }

  /**
   * Makes this the file that workers serve. The previous one is kept until the next call: a worker that has just
   * started may not have opened it yet.
   */
  keep(file: SnapshotFile | null): void {
    this.#kept.unshift(file);
    for (const older of this.#kept.splice(2)) older?.remove();
  }

  /** Removes everything. */
  clear(): void {
    for (const file of this.#kept.splice(0)) file?.remove();
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    clearInterval(this.#touching);
    this.#directory = undefined;
  }

  /** A directory of this process's own, until `clear`; a new one if it has been removed, as by what removes old temporary files. */
  directory(): string {
    // Also when a second signal ends the process immediately.
    if (this.#directory === undefined) process.once('exit', () => this.clear());
    // Where everybody may write, somebody else may have taken the name.
    else if (statOf(this.#directory)?.uid === process.getuid?.()) return this.#directory;
    const directory = mkdtempSync(join(tmpdir(), 'dinodns-server-'));
    clearInterval(this.#touching);
    this.#touching = setInterval(() => touch(directory), TOUCH_SECONDS * 1000).unref();
    this.#directory = directory;
    return directory;
  }
}
