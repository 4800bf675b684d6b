/**
 * Records of zone files in a form that needs no parsing. A reload keeps one such file per valid zone, and workers
 * load them. Each record is the owner with its length, type, TTL, and the data with its length. A record of type 0,
 * which is reserved (RFC 6895, section 3.1), names the zone that the records after it belong to.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { LOWER_CASE, lowerCaseName, TYPE } from '@dinodns-bench/wire';
import type { ZoneStore } from '../store/zone-store.ts';
import { NONE } from '../table/arena.ts';
import { SIGNATURES } from '../table/signatures.ts';
import type { StoredRecord } from '../table/stored-set.ts';

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

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    writeSync(this.#file, this.#bytes, 0, this.#filled);
    this.#filled = 0;
  }
}

/** The records of a file in batches of about a megabyte. Each batch is a copy that the caller may keep. */
export async function* recordBatches(path: string): AsyncGenerator<WireRecord[], void, void> {
  const file = await open(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(rest.length + CHUNK_BYTES);
      rest.copy(chunk);
      const { bytesRead } = await file.read(chunk, rest.length, CHUNK_BYTES);
      if (bytesRead === 0) return;
      const filled = chunk.subarray(0, rest.length + bytesRead);
      const records: WireRecord[] = [];
      const end = readRecords(filled, records);
      rest = filled.subarray(end);
      yield records;
    }
  } finally {
    await file.close();
  }
}

/** Appends all complete records; returns the offset after the last one. */
function readRecords(bytes: Buffer, records: WireRecord[]): number {
  let at = 0;
  while (at < bytes.length) {
    const head = at + 1 + (bytes[at] ?? 0);
    if (head + 8 > bytes.length) break;
    const end = head + 8 + bytes.readUInt16BE(head + 6);
    if (end > bytes.length) break;
    const name = bytes.subarray(at + 1, head);
    const data = bytes.subarray(head + 8, end);
    records.push({ name, type: bytes.readUInt16BE(head), ttl: bytes.readUInt32BE(head + 2), data });
    at = end;
  }
  return at;
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
    const adder = new OwnerAdder(store);
    if (this.#zone !== undefined) adder.openZone(this.#zone);
    let names = 0;
    for await (const records of recordBatches(this.path)) {
      for (const record of records) if (adder.add(record) && ++names % yieldEvery === 0) await pause();
    }
    adder.flush();
  }
}

/** Adds the records to a store, one owner name at a time. */
class OwnerAdder {
  readonly #store: ZoneStore;
  #apex = NONE;
  #owner = Buffer.alloc(0);
  #sets = new Map<number, StoredRecord[]>();

  constructor(store: ZoneStore) {
    this.#store = store;
  }

  /** The records that follow belong to this zone. */
  openZone(name: Uint8Array): void {
    this.flush();
    this.#apex = this.#store.openZone(lowerCaseName(name));
  }

  /** True for the first record of another name. */
  add({ name, type, ttl, data }: WireRecord): boolean {
    if (type === ZONE) {
      this.openZone(name);
      return false;
    }
    const isNew = !isSameName(name, this.#owner);
    if (isNew) {
      this.flush();
      this.#owner = lowerCaseName(name);
    }
    const key = type === TYPE.RRSIG ? SIGNATURES | ((data[0] ?? 0) << 8) | (data[1] ?? 0) : type;
    const records = this.#sets.get(key) ?? [];
    if (records.length === 0) this.#sets.set(key, records);
    // An RRset has one TTL (RFC 2181, section 5.2): that of its first record. Signatures over different types are
    // not one RRset in that respect.
    records.push({
      ttl: records[0]?.ttl ?? ttl,
      data: Buffer.from(data.buffer, data.byteOffset, data.length),
    });
    return isNew;
  }

  flush(): void {
    if (this.#sets.size === 0) return;
    this.#store.addSets(
      this.#owner,
      Array.from(this.#sets, ([key, records]) => ({ type: key < SIGNATURES ? key : TYPE.RRSIG, records })),
      this.#apex,
    );
    this.#sets = new Map();
  }
}

function isSameName(name: Uint8Array, owner: Uint8Array): boolean {
  if (name.length !== owner.length) return false;
  for (let at = 0; at < name.length; at++) if (LOWER_CASE[name[at] ?? 0] !== owner[at]) return false;
  return true;
}
