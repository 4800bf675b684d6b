/** Adds records in wire format to a store, name by name, without an object for each record. */
import { LOWER_CASE, TYPE } from '@dinodns-bench/wire';
import { isWithin } from '@dinodns-bench/zones';
import { NONE } from '../table/arena.ts';
import { SIGNATURES } from '../table/signatures.ts';
import { type StoredSet, withSet } from '../table/stored-set.ts';
import { ensureIn, openZone } from '../table/zone-cuts.ts';
import type { ZoneData } from '../table/zone-data.ts';

/** Names with more records are merged through a map, so that finding duplicates does not take quadratic time. */
const MAX_COMPARED = 32;
const INITIAL_BYTES = 4096;

/** Numbers kept for each record of the current name: its set's key, TTL, and where its data starts and ends. */
const KEY = 0;
const TTL = 1;
const START = 2;
const END = 3;
const FIELDS = 4;
/** The key of a record that has been added, or is the same as another one. */
const DONE = -1;

export class RecordLoader {
  readonly #data: ZoneData;
  #zone: Uint8Array = Uint8Array.of(0);
  #apex = NONE;
  #owner = Buffer.alloc(0);
  #fields = new Int32Array(FIELDS * 16);
  #count = 0;
  /** The data of the current name's records. */
  #bytes = Buffer.alloc(INITIAL_BYTES);
  #filled = 0;

  constructor(data: ZoneData) {
    this.#data = data;
  }

  /** The records that follow belong to this zone; its name is in lower case. */
  openZone(name: Uint8Array): void {
    this.flush();
    this.#zone = name;
    this.#apex = openZone(this.#data, name);
  }

  /**
   * Adds a record: its owner is `bytes[name, name + length)`, its data `bytes[from, to)`. True for the first record of
   * another name than that of the record before.
   */
  add(bytes: Uint8Array, name: number, length: number, type: number, ttl: number, from: number, to: number) {
    const isNew = !this.#isOwner(bytes, name, length);
    if (isNew) {
      this.flush();
      this.#owner = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; at++) this.#owner[at] = LOWER_CASE[bytes[name + at] ?? 0] ?? 0;
    }
    this.#reserve(to - from);
    const at = FIELDS * this.#count++;
    const fields = this.#fields;
    fields[at + KEY] =
      type === TYPE.RRSIG ? SIGNATURES | ((bytes[from] ?? 0) << 8) | (bytes[from + 1] ?? 0) : type;
    fields[at + TTL] = ttl;
    fields[at + START] = this.#filled;
    for (let index = from; index < to; index++) this.#bytes[this.#filled++] = bytes[index] ?? 0;
    fields[at + END] = this.#filled;
    return isNew;
  }

  /** Adds the records of the current name to the store. */
  flush(): void {
    if (this.#count === 0) return;
    const data = this.#data;
    const isIn = this.#apex !== NONE && isWithin(this.#owner, this.#zone);
    const node = isIn ? ensureIn(data, this.#apex, this.#owner) : data.names.ensure(this.#owner);
    if (data.names.shapeOf(node) !== NONE || this.#count > MAX_COMPARED) this.#merge(node);
    else data.fill(node, this.#shape());
    this.#count = 0;
    this.#filled = 0;
    this.#owner = Buffer.alloc(0);
  }

  /** Builds the shape of a name that has only these records. */
  #shape(): number {
    const { sets } = this.#data;
    sets.beginShape(this.#owner);
    this.#addSets(false);
    // Last, because type ANY gets the first set.
    this.#addSets(true);
    return sets.endShape();
  }

  #addSets(areSignatures: boolean): void {
    const fields = this.#fields;
    for (let index = 0; index < this.#count; index++) {
      const key = fields[FIELDS * index + KEY] ?? DONE;
      if (key !== DONE && key >= SIGNATURES === areSignatures) this.#addSet(key, index);
    }
  }

  /** Adds the set of a key; `first` is its first record, whose TTL all have (RFC 2181, section 5.2). */
  #addSet(key: number, first: number): void {
    const { sets } = this.#data;
    const fields = this.#fields;
    const ttl = fields[FIELDS * first + TTL] ?? 0;
    sets.beginSet(key);
    for (let index = first; index < this.#count; index++) {
      const at = FIELDS * index;
      if (fields[at + KEY] !== key) continue;
      const from = fields[at + START] ?? 0;
      const to = fields[at + END] ?? 0;
      sets.addRecord(ttl, this.#bytes, from, to);
      this.#removeDuplicates(key, index, from, to);
      fields[at + KEY] = DONE;
    }
    sets.endSet();
  }

  /** An RRset has no duplicates (RFC 2181, section 5). */
  #removeDuplicates(key: number, index: number, from: number, to: number): void {
    const fields = this.#fields;
    for (let other = index + 1; other < this.#count; other++) {
      const at = FIELDS * other;
      if (fields[at + KEY] !== key) continue;
      const start = fields[at + START] ?? 0;
      if ((fields[at + END] ?? 0) - start !== to - from) continue;
      if (this.#bytes.compare(this.#bytes, start, start + to - from, from, to) === 0) fields[at + KEY] = DONE;
    }
  }

  /** Adds the records to those that the name has. */
  #merge(node: number): void {
    const data = this.#data;
    data.writeNode(node, this.#owner, this.#storedSets().reduce(withSet, data.readNode(node)));
  }

  /** The records as objects. */
  #storedSets(): StoredSet[] {
    const byKey = new Map<number, { ttl: number; data: Buffer }[]>();
    for (let index = 0; index < this.#count; index++) {
      const [key = 0, ttl = 0, from, to] = this.#fields.subarray(FIELDS * index);
      const records = byKey.get(key) ?? [];
      byKey.set(key, records);
      records.push({ ttl: records[0]?.ttl ?? ttl, data: Buffer.from(this.#bytes.subarray(from, to)) });
    }
    return Array.from(byKey, ([key, records]) => ({ type: key < SIGNATURES ? key : TYPE.RRSIG, records }));
  }

  #isOwner(bytes: Uint8Array, name: number, length: number): boolean {
    const owner = this.#owner;
    if (length !== owner.length) return false;
    for (let at = 0; at < length; at++) if (LOWER_CASE[bytes[name + at] ?? 0] !== owner[at]) return false;
    return true;
  }

  #reserve(bytes: number): void {
    if (FIELDS * this.#count === this.#fields.length) {
      const larger = new Int32Array(2 * this.#fields.length);
      larger.set(this.#fields);
      this.#fields = larger;
    }
    if (this.#filled + bytes <= this.#bytes.length) return;
    const larger = Buffer.alloc(2 * (this.#filled + bytes));
    this.#bytes.copy(larger, 0, 0, this.#filled);
    this.#bytes = larger;
  }
}
