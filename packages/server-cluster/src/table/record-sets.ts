/**
 * Record sets in wire form, and shapes: lists of the record sets that a name holds. Both are interned, and neither
 * names its owner: a million zones of the same layout share one shape. Where data repeats the end of the owner's
 * name (`ns1.example7.com` at `example7.com`), a reference replaces the bytes. This makes sets equal, and the
 * reference becomes a compression pointer to the question.
 */
import { CLASS, findNameEnd, TYPE } from '@dinodns-bench/wire';
import { layoutOf } from '../wire/rdata.ts';
import { Arena, NONE } from './arena.ts';
import { hashWords } from './hash.ts';
import { HashIndex } from './hash-index.ts';
import { labelOffsets } from './name-tree.ts';
import { SIGNATURES } from './signatures.ts';
import type { StoredRecord, StoredSet } from './stored-set.ts';

const REFERENCES = 0;
const HASH = 1;

/** Words of a record set's block. The references to the owner follow, then the bytes. */
export const SET = {
  type: 2,
  /** TTL of a negative answer with this SOA record (RFC 2308, section 3). */
  negativeTtl: 3,
  records: 4,
  length: 5,
  ownerReferences: 6,
  /** How many of the references stand for bytes because the type must not be compressed. */
  expansions: 7,
  head: 8,
} as const;

/** Words of a shape's block. Pairs of type and record set follow. */
export const SHAPE_WORD = { flags: 2, sets: 3, head: 4 } as const;

/** Record types of a shape that determine the name's role in its zone. */
export const SHAPE_FLAG = { soa: 1, ns: 2, cname: 4, dname: 8, signed: 16, nsec: 32, nsec3: 64 } as const;

/** An owner reference is `offset << 8 | expansion << 7 | labels`: `labels` of the owner's labels are omitted. */
export const EXPANSION = 0x80;

/** Bytes of a record before its data: pointer to the owner, type, class, TTL, length. */
export const RECORD_HEAD = 12;

export class RecordSets {
  readonly arena = new Arena();
  readonly #setIndex = new HashIndex();
  readonly #shapeIndex = new HashIndex();

  get byteLength(): number {
    return this.arena.byteLength + this.#setIndex.byteLength + this.#shapeIndex.byteLength;
  }

  /**
   * The shape of a name that holds these sets, in this order; NONE for no sets. A caller that keeps it calls
   * `retain`. `owner` is the name's bytes in lower case.
   */
  shapeOf(sets: readonly StoredSet[], owner: Uint8Array): number {
    if (sets.length === 0) return NONE;
    const candidate = new Int32Array(SHAPE_WORD.head + sets.length * 2);
    candidate[SHAPE_WORD.sets] = sets.length;
    for (const [index, set] of sets.entries()) {
      candidate[SHAPE_WORD.flags] = (candidate[SHAPE_WORD.flags] ?? 0) | flagOf(set.type);
      candidate[SHAPE_WORD.head + index * 2] = set.type;
      candidate[SHAPE_WORD.head + index * 2 + 1] = this.#intern(this.#setIndex, encodeSet(set, owner));
    }
    const known = this.#shapeIndex.size;
    const shape = this.#intern(this.#shapeIndex, candidate);
    // The shape holds one reference to each set, however often the shape is requested.
    if (this.#shapeIndex.size > known) for (const set of this.setsOf(shape)) this.#count(set, 1);
    return shape;
  }

  retain(shape: number, names = 1): void {
    if (shape !== NONE) this.#count(shape, names);
  }

  /** Frees the shape and its sets once no name uses them. */
  release(shape: number): void {
    if (shape === NONE || this.#count(shape, -1) > 0) return;
    const sets = this.setsOf(shape);
    this.#free(this.#shapeIndex, shape, SHAPE_WORD.head + sets.length * 2);
    for (const set of sets) {
      if (this.#count(set, -1) === 0) this.#free(this.#setIndex, set, this.#setWords(set));
    }
  }

  /** The record sets of a shape in the order in which they were added. */
  setsOf(shape: number): number[] {
    if (shape === NONE) return [];
    const { words } = this.arena;
    const count = words[shape + SHAPE_WORD.sets] ?? 0;
    return Array.from(
      { length: count },
      (_, index) => words[shape + SHAPE_WORD.head + index * 2 + 1] ?? NONE,
    );
  }

  typeOf(set: number): number {
    return this.arena.words[set + SET.type] ?? 0;
  }

  /** For a set of SOA records: the TTL of negative answers, in seconds. */
  negativeTtl(set: number): number {
    return this.arena.words[set + SET.negativeTtl] ?? 0;
  }

  /** Offset of a set's bytes in the arena. */
  bytesAt(set: number): number {
    return (set + SET.head + (this.arena.words[set + SET.ownerReferences] ?? 0)) * 4;
  }

  /** The records as they were stored. `owner` as in `shapeOf`. */
  read(set: number, owner: Uint8Array): StoredSet {
    const { words, bytes } = this.arena;
    const stored = Buffer.from(bytes.buffer, this.bytesAt(set), words[set + SET.length] ?? 0);
    const labels = [...labelOffsets(owner), owner.length - 1];
    const records: StoredRecord[] = [];
    let reference = set + SET.head;
    const lastReference = reference + (words[set + SET.ownerReferences] ?? 0);
    for (let at = 0; at < stored.length; ) {
      const ttl = stored.readUInt32BE(at + 6);
      const end = at + RECORD_HEAD + stored.readUInt16BE(at + 10);
      const parts: Uint8Array[] = [];
      let from = at + RECORD_HEAD;
      for (; reference < lastReference && (words[reference] ?? 0) >> 8 <= end; reference++) {
        const word = words[reference] ?? 0;
        parts.push(stored.subarray(from, word >> 8), owner.subarray(labels[word & 0x7f]));
        from = (word >> 8) + ((word & EXPANSION) === 0 ? 2 : 0);
      }
      parts.push(stored.subarray(from, end));
      records.push({ ttl, data: Buffer.concat(parts) });
      at = end;
    }
    return { type: this.typeOf(set), records };
  }

  #setWords(set: number): number {
    const { words } = this.arena;
    const length = words[set + SET.length] ?? 0;
    return SET.head + (words[set + SET.ownerReferences] ?? 0) + ((length + 3) >> 2);
  }

  #count(block: number, change: number): number {
    const count = (this.arena.words[block + REFERENCES] ?? 0) + change;
    this.arena.words[block + REFERENCES] = count;
    return count;
  }

  /** The block with these words, created if there is none. The first two words are not compared. */
  #intern(index: HashIndex, candidate: Int32Array): number {
    const hash = hashWords(candidate, HASH + 1, candidate.length);
    const { slots, mask } = index;
    for (let slot = hash & mask; slots[2 * slot + 1] !== NONE; slot = (slot + 1) & mask) {
      const id = slots[2 * slot + 1] ?? NONE;
      if (slots[2 * slot] === hash && this.#equals(id, candidate)) return id;
    }
    const id = this.arena.allocate(candidate.length);
    this.arena.words.set(candidate, id);
    this.arena.words[id + REFERENCES] = 0;
    this.arena.words[id + HASH] = hash;
    index.add(hash, id);
    return id;
  }

  #equals(block: number, candidate: Int32Array): boolean {
    const { words } = this.arena;
    for (let index = HASH + 1; index < candidate.length; index++) {
      if (words[block + index] !== candidate[index]) return false;
    }
    return true;
  }

  #free(index: HashIndex, block: number, words: number): void {
    index.remove(this.arena.words[block + HASH] ?? 0, block);
    this.arena.release(block, words);
  }
}

function flagOf(type: number): number {
  if (type === TYPE.SOA) return SHAPE_FLAG.soa;
  if (type === TYPE.NS) return SHAPE_FLAG.ns;
  if (type === TYPE.DNAME) return SHAPE_FLAG.dname;
  if (type === TYPE.NSEC) return SHAPE_FLAG.nsec;
  if (type === TYPE.NSEC3) return SHAPE_FLAG.nsec3;
  if ((type & SIGNATURES) !== 0) return SHAPE_FLAG.signed;
  return type === TYPE.CNAME ? SHAPE_FLAG.cname : 0;
}

/** The words of a set's block. */
function encodeSet({ type, records }: StoredSet, owner: Uint8Array): Int32Array {
  const references: number[] = [];
  const parts: Buffer[] = [];
  let at = 0;
  for (const { ttl, data } of records) {
    const head = Buffer.alloc(RECORD_HEAD);
    head.writeUInt16BE(0xc00c, 0);
    head.writeUInt16BE((type & SIGNATURES) === 0 ? type : TYPE.RRSIG, 2);
    head.writeUInt16BE(CLASS.IN, 4);
    head.writeUInt32BE(ttl, 6);
    const body = withoutOwner(type, data, owner, at + RECORD_HEAD, references);
    head.writeUInt16BE(body.length, 10);
    parts.push(head, body);
    at += RECORD_HEAD + body.length;
  }
  const words = new Int32Array(SET.head + references.length + ((at + 3) >> 2));
  words[SET.type] = type;
  words[SET.negativeTtl] = type === TYPE.SOA ? negativeTtl(records[0]) : 0;
  words[SET.records] = records.length;
  words[SET.length] = at;
  words[SET.ownerReferences] = references.length;
  words[SET.expansions] = references.filter((reference) => (reference & EXPANSION) !== 0).length;
  words.set(references, SET.head);
  Buffer.from(words.buffer, (SET.head + references.length) * 4).set(Buffer.concat(parts));
  return words;
}

function negativeTtl(soa: StoredRecord | undefined): number {
  return soa === undefined ? 0 : Math.min(soa.ttl, soa.data.readUInt32BE(soa.data.length - 4));
}

/** Replaces the common end of each name and the owner with two bytes, or with none; records where. */
function withoutOwner(
  type: number,
  data: Buffer,
  owner: Uint8Array,
  start: number,
  references: number[],
): Buffer {
  const { before, names, compressible } = layoutOf(type);
  if (names === 0) return data;
  const parts = [data.subarray(0, before)];
  let at = before;
  let length = before;
  for (let index = 0; index < names; index++) {
    const end = findNameEnd(data, at);
    const name = data.subarray(at, end);
    const { own, left } = commonEnd(name, owner);
    if (left === undefined) {
      parts.push(name);
      length += name.length;
    } else {
      references.push(((start + length + own) << 8) | (compressible ? 0 : EXPANSION) | left);
      parts.push(name.subarray(0, own), Buffer.alloc(compressible ? 2 : 0));
      length += own + (compressible ? 2 : 0);
    }
    at = end;
  }
  parts.push(data.subarray(at));
  return Buffer.concat(parts);
}

/**
 * How many bytes of `name` come before the labels that it shares with the end of `owner`, and how many labels of
 * `owner` come before those; undefined if they share only the root. Compares case-sensitively, so that a name is
 * returned as it was given.
 */
function commonEnd(name: Uint8Array, owner: Uint8Array): { own: number; left: number | undefined } {
  const labels = labelOffsets(name);
  const ownerLabels = labelOffsets(owner);
  // A wildcard answers under other names, which share only the labels below the star.
  const least = owner[0] === 1 && owner[1] === 0x2a ? 1 : 0;
  for (const [index, own] of labels.entries()) {
    const left = ownerLabels.length - (labels.length - index);
    if (left < least) continue;
    if (Buffer.compare(name.subarray(own), owner.subarray(ownerLabels[left])) === 0) return { own, left };
  }
  return { own: name.length, left: undefined };
}
