/**
 * The records of a zone file in a form that needs no parsing: the owner with its length, type, TTL, and the data with its
 * length. One such file is kept of each zone that is served, so that it stays when its zone file breaks.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { lowerCaseName } from '@dinodns-bench/wire';
import { isWithin, type ZoneRecord } from '@dinodns-bench/zones/data';
import type { Slices } from '../store/slices.ts';
import { RecordLoader } from '../table/record-loader.ts';
import { openZone } from '../table/zone-cuts.ts';
import type { ZoneData } from '../table/zone-data.ts';

const CHUNK_BYTES = 1024 * 1024;
/** The longest record: a name of 255 bytes, 65,535 bytes of data, and the fields around them. */
const MAX_RECORD_BYTES = 1 + 255 + 2 + 4 + 2 + 65_535;

export class RecordsWriter {
  readonly #file: number;
  readonly #bytes = Buffer.allocUnsafe(CHUNK_BYTES);
  #filled = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  add({ name, type, ttl, data }: ZoneRecord): void {
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

/** Adds the records of a file to a zone. Those that are not in it are ignored. */
export async function loadRecords(
  data: ZoneData,
  path: string,
  zone: Uint8Array,
  slices: Slices,
): Promise<void> {
  const loader = new RecordLoader(data);
  const name = lowerCaseName(zone);
  const file = await open(path, 'r');
  try {
    data.expect((await file.stat()).size);
    loader.begin(name, openZone(data, name));
    const chunk = Buffer.allocUnsafe(MAX_RECORD_BYTES + CHUNK_BYTES);
    for (let kept = 0; ; ) {
      const { bytesRead } = await file.read(chunk, kept, CHUNK_BYTES);
      if (bytesRead === 0) break;
      const end = kept + bytesRead;
      let at = 0;
      for (
        let next = addRecord(loader, name, chunk, at, end);
        next !== -1;
        next = addRecord(loader, name, chunk, at, end)
      ) {
        at = next;
        if (slices.isOver) await slices.pause();
      }
      chunk.copy(chunk, 0, at, end);
      kept = end - at;
    }
    loader.flush();
  } finally {
    await file.close();
  }
}

/** Adds the record at an offset, if it is in the zone, and returns where it ends; -1 if it is not complete. */
function addRecord(loader: RecordLoader, zone: Uint8Array, bytes: Buffer, at: number, end: number): number {
  const nameLength = bytes[at] ?? 0;
  const head = at + 1 + nameLength;
  if (at >= end || head + 8 > end) return -1;
  const from = head + 8;
  const to = from + bytes.readUInt16BE(head + 6);
  if (to > end) return -1;
  // A zone file may have others before the SOA record that gives the zone its name.
  if (!isWithin(bytes.subarray(at + 1, head), zone)) return to;
  const type = bytes.readUInt16BE(head);
  loader.add(bytes, at + 1, nameLength, type, bytes.readUInt32BE(head + 2), bytes, from, to);
  return to;
}
