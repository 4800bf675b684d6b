/** Adds records in wire format to a store, name by name, without an object for each record. */
import { LOWER_CASE, TYPE } from '@dinodns-bench/wire';
import { isWithin } from '@dinodns-bench/zones/data';
import { NONE } from './arena.ts';
import { RECORD_HEAD } from './block-layout.ts';
import { hashBytes } from './hash.ts';
import { HashIndex } from './hash-index.ts';
import { SIGNATURES, type StoredSet, withSet } from './stored-set.ts';
import { ensureIn } from './zone-cuts.ts';
import type { ZoneData } from './zone-data.ts';

/** Of a name with more records, each is looked up instead of compared with all others, which takes quadratic time. */
const MAX_COMPARED = 16;
const INITIAL_BYTES = 4096;
const NO_OWNER = Buffer.alloc(0);

/** Numbers kept for each record of the current name: its set's key, TTL, and where its data ends, which is where the next one's starts. */
const KEY = 0;
const TTL = 1;
const END = 2;
const FIELDS = 3;
/** The key of a record that has been added, or is the same as another one. */
const DONE = -1;

export class RecordLoader {
  readonly #data: ZoneData;
  #zone: Uint8Array = Uint8Array.of(0);
  #apex = NONE;
  #owner = NO_OWNER;
  #fields = new Int32Array(FIELDS * 16);
  #count = 0;
  /** The data of the current name's records. */
  #bytes = Buffer.from(new ArrayBuffer(INITIAL_BYTES));
  #filled = 0;

  constructor(data: ZoneData) {
    this.#data = data;
  }

  /** The records that follow belong to the zone of this name (lower case) and apex, or, if that is `NONE`, to no zone of their own. */
  begin(zone: Uint8Array, apex: number): void {
    this.flush();
    this.#zone = zone;
    this.#apex = apex;
  }

  /**
   * Adds a record: its owner is `owner[name, name + length)`, its data `bytes[from, to)`.
   */
  add(
    owner: Uint8Array,
    name: number,
    length: number,
    type: number,
    ttl: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): void {
    if (!this.#isOwner(owner, name, length)) {
      this.flush();
      this.#owner = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; at++) this.#owner[at] = LOWER_CASE[owner[name + at] ?? 0] ?? 0;
    }
    this.#reserve(to - from);
    const at = FIELDS * this.#count++;
    const fields = this.#fields;
    fields[at + KEY] =
      type === TYPE.RRSIG ? SIGNATURES | ((bytes[from] ?? 0) << 8) | (bytes[from + 1] ?? 0) : type;
    fields[at + TTL] = ttl;
    for (let index = from; index < to; index++) this.#bytes[this.#filled++] = bytes[index] ?? 0;
    fields[at + END] = this.#filled;
  }

  /** Adds the records of the current name to the store. */
  flush(): void {
    if (this.#count === 0) return;
    const data = this.#data;
    const isIn = this.#apex !== NONE && isWithin(this.#owner, this.#zone);
    const node = isIn ? ensureIn(data, this.#apex, this.#owner) : data.names.ensure(this.#owner);
    if (data.names.shapeOf(node) === NONE) data.setShape(node, this.#shape());
    else data.writeNode(node, this.#owner, this.#storedSets().reduce(withSet, data.readNode(node)));
    this.#count = 0;
    this.#filled = 0;
    this.#owner = NO_OWNER;
  }

  /** Builds the shape of a name that has only these records. */
  #shape(): number {
    const { sets } = this.#data;
    sets.beginShape(this.#owner, this.#filled + RECORD_HEAD * this.#count);
    this.#dropDuplicates();
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
    sets.encoder.begin(key);
    for (let index = first; index < this.#count; index++) {
      const at = FIELDS * index;
      if (fields[at + KEY] !== key) continue;
      sets.encoder.add(ttl, this.#bytes, this.#startOf(index), fields[at + END] ?? 0);
      fields[at + KEY] = DONE;
    }
    sets.endSet();
  }

  /** An RRset has no duplicates (RFC 2181, section 5). */
  #dropDuplicates(): void {
    const seen = this.#count > MAX_COMPARED ? new HashIndex() : undefined;
    seen?.reserve(this.#count);
    for (let index = 0; index < this.#count; index++) {
      const isKnown = seen === undefined ? this.#isAmong(index) : this.#isSeen(seen, index);
      if (isKnown) this.#fields[FIELDS * index + KEY] = DONE;
    }
    seen?.free();
  }

  #isAmong(index: number): boolean {
    for (let other = 0; other < index; other++) if (this.#isSame(other, index)) return true;
    return false;
  }

  #isSeen(seen: HashIndex, index: number): boolean {
    const at = FIELDS * index;
    const fields = this.#fields;
    const hash = hashBytes(fields[at + KEY] ?? 0, this.#bytes, this.#startOf(index), fields[at + END] ?? 0);
    const { slots, mask } = seen;
    for (let slot = hash & mask; slots[2 * slot + 1] !== NONE; slot = (slot + 1) & mask) {
      // Ids are positive.
      if (slots[2 * slot] === hash && this.#isSame((slots[2 * slot + 1] ?? 0) - 1, index)) return true;
    }
    seen.add(hash, index + 1);
    return false;
  }

  /** Whether two records have the same type and data. */
  #isSame(one: number, other: number): boolean {
    const fields = this.#fields;
    const [first, second] = [FIELDS * one, FIELDS * other];
    if (fields[first + KEY] !== fields[second + KEY]) return false;
    const [from, to] = [this.#startOf(one), fields[first + END] ?? 0];
    const start = this.#startOf(other);
    if ((fields[second + END] ?? 0) - start !== to - from) return false;
    for (let at = from; at < to; at++) if (this.#bytes[at] !== this.#bytes[start + at - from]) return false;
    return true;
  }

  /** The records as objects. */
  #storedSets(): StoredSet[] {
    const byKey = new Map<number, { ttl: number; data: Buffer }[]>();
    for (let index = 0; index < this.#count; index++) {
      const [key = 0, ttl = 0, to] = this.#fields.subarray(FIELDS * index);
      const records = byKey.get(key) ?? [];
      byKey.set(key, records);
      records.push({
        ttl: records[0]?.ttl ?? ttl,
        data: Buffer.from(this.#bytes.subarray(this.#startOf(index), to)),
      });
    }
    return Array.from(byKey, ([key, records]) => ({ type: key < SIGNATURES ? key : TYPE.RRSIG, records }));
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#fields[FIELDS * index - FIELDS + END] ?? 0);
  }

  #isOwner(bytes: Uint8Array, name: number, length: number): boolean {
    const owner = this.#owner;
    if (length !== owner.length) return false;
    for (let at = 0; at < length; at++) if (LOWER_CASE[bytes[name + at] ?? 0] !== owner[at]) return false;
    return true;
  }

  #reserve(bytes: number): void {
    // Unlike copies, this frees the old buffers at once.
    if (FIELDS * this.#count === this.#fields.length)
      this.#fields = new Int32Array(this.#fields.buffer.transfer(2 * this.#fields.byteLength));
    if (this.#filled + bytes <= this.#bytes.length) return;
    this.#bytes = Buffer.from(this.#bytes.buffer.transfer(2 * (this.#filled + bytes)));
  }
}
