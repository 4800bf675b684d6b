/**
 * Records of zone files in a form that needs no parsing. A reload keeps one such file per valid zone, and workers
 * load them. Each record is the owner with its length, type, TTL, and the data with its length. A record of type 0,
 * which is reserved (RFC 6895, section 3.1), names the zone that the records after it belong to.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { lowerCaseName } from '@dinodns-bench/wire';
import type { ZoneStore } from '../store/zone-store.ts';
import { RecordLoader } from './record-loader.ts';

/** A record of class IN; names are absolute and uncompressed. */
export interface WireRecord {
  readonly name: Uint8Array;
  readonly type: number;
  /** In seconds. */
  readonly ttl: number;
  readonly data: Uint8Array;
}

const CHUNK_BYTES = 1024 * 1024;
/** The longest record: a name of 255 bytes, 65,535 bytes of data, and the fields around them. */
const MAX_RECORD_BYTES = 1 + 255 + 2 + 4 + 2 + 65_535;

const ZONE = 0;

/** Goes before the records of a zone; `name` in wire format. */
export function zoneHeader(name: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(name.length), name, Buffer.alloc(8)]);
}

export class RecordsWriter {
  readonly #file: number;
  readonly #bytes = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  add({ name, type, ttl, data }: WireRecord): void {
    if (this.#filled + MAX_RECORD_BYTES > CHUNK_BYTES) this.#flush();
    const bytes = this.#bytes;
    let at = bytes.writeUInt8(name.length, this.#filled);
    bytes.set(name, at);
    at = bytes.writeUInt16BE(type, at + name.length);
    at = bytes.writeUInt32BE(ttl, at);
    at = bytes.writeUInt16BE(data.length, at);
    bytes.set(data, at);
    this.#filled = at + data.length;
  }

  /** Throws what writing the rest throws, and closes the file nevertheless: one that is open takes space even when it is removed. */
  close(): void {
    try {
      this.#flush();
    } finally {
      closeSync(this.#file);
    }
  }

  #flush(): void {
    // A disk that is nearly full takes a part.
    for (let at = 0; at < this.#filled; ) at += writeSync(this.#file, this.#bytes, at, this.#filled - at);
    this.#filled = 0;
  }
}

/** Where a record's fields are in a chunk of the file. */
export interface RecordPlace {
  /** Offset and length of the owner. */
  readonly name: number;
  readonly nameLength: number;
  readonly type: number;
  readonly ttl: number;
  /** Offsets at which the data starts and ends. */
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the records of a file in order, and calls `onRecord` for each. Place and bytes are valid only during the call.
 * After every `yieldEvery` records for which it returns true, awaits `pause`.
 */
export async function readRecords(
  path: string,
  onRecord: (bytes: Buffer, place: RecordPlace) => boolean,
  yieldEvery: number,
  pause: () => Promise<unknown>,
): Promise<void> {
  const file = await open(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(MAX_RECORD_BYTES + CHUNK_BYTES);
    const place = { name: 0, nameLength: 0, type: 0, ttl: 0, from: 0, to: 0 };
    for (let kept = 0, count = 0; ; ) {
      const { bytesRead } = await file.read(chunk, kept, CHUNK_BYTES);
      if (bytesRead === 0) return;
      const end = kept + bytesRead;
      let at = 0;
      while (locate(chunk, at, end, place)) {
        at = place.to;
        if (onRecord(chunk, place) && ++count % yieldEvery === 0) await pause();
      }
      chunk.copy(chunk, 0, at, end);
      kept = end - at;
    }
  } finally {
    await file.close();
  }
}

/** Finds the fields of the record at an offset; false if it is not complete. */
function locate(
  bytes: Buffer,
  at: number,
  end: number,
  place: { -readonly [Field in keyof RecordPlace]: RecordPlace[Field] },
): boolean {
  const nameLength = bytes[at] ?? 0;
  const head = at + 1 + nameLength;
  if (at >= end || head + 8 > end) return false;
  place.name = at + 1;
  place.nameLength = nameLength;
  place.type = bytes.readUInt16BE(head);
  place.ttl = bytes.readUInt32BE(head + 2);
  place.from = head + 8;
  place.to = place.from + bytes.readUInt16BE(head + 6);
  return place.to <= end;
}

/** The record at a place, which stays valid. */
export function copyOf(bytes: Buffer, { name, nameLength, type, ttl, from, to }: RecordPlace): WireRecord {
  return {
    name: Buffer.from(bytes.subarray(name, name + nameLength)),
    type,
    ttl,
    data: Buffer.from(bytes.subarray(from, to)),
  };
}

/** Zones stored as a file of their records. */
export class RecordsFile {
  readonly path: string;
  readonly #zone: Uint8Array | undefined;

  /** `zone` is the zone of the records before the first that names one, in wire format. */
  constructor(path: string, zone?: Uint8Array) {
    this.path = path;
    this.#zone = zone;
  }

  /** Zones are not available one by one; load them with `addTo`. */
  zones(): Iterable<never> {
    throw new Error(`${this.path} holds records, not zones`);
  }

  /** Adds all records to a store and awaits `pause` after every `yieldEvery` names. */
  async addTo(store: ZoneStore, yieldEvery: number, pause: () => Promise<unknown>): Promise<void> {
    const { size } = await stat(this.path);
    store.data.expect(size);
    const loader = new RecordLoader(store.data);
    if (this.#zone !== undefined) loader.openZone(lowerCaseName(this.#zone));
    const add = (bytes: Buffer, { name, nameLength, type, ttl, from, to }: RecordPlace) => {
      if (type !== ZONE) return loader.add(bytes, name, nameLength, type, ttl, from, to);
      loader.openZone(lowerCaseName(bytes.subarray(name, name + nameLength)));
      return false;
    };
    await readRecords(this.path, add, yieldEvery, pause);
    loader.flush();
  }
}
