/**
 * Record sets in wire form, and shapes: lists of the record sets that a name holds. Both are interned, and neither
 * names its owner: a million zones of the same layout share one shape. Where data repeats the end of the owner's
 * name (`ns1.example7.com` at `example7.com`), a reference replaces the bytes. This makes sets equal, and the
 * reference becomes a compression pointer to the question.
 */
import { TYPE } from '@dinodns-bench/wire';
import { Arena, NONE } from './arena.ts';
import {
  EXPANSION,
  HASH,
  RECORD_HEAD,
  REFERENCES,
  recordEnd,
  SET,
  SHAPE_FLAG,
  SHAPE_WORD,
} from './block-layout.ts';
import { hashWords } from './hash.ts';
import { HashIndex } from './hash-index.ts';
import { labelOffsets } from './name-tree.ts';
import { SetEncoder } from './set-encoder.ts';
import { SIGNATURES, type StoredRecord, type StoredSet } from './stored-set.ts';

export class RecordSets {
  readonly arena = new Arena();
  readonly #setIndex = new HashIndex();
  readonly #shapeIndex = new HashIndex();
  /** Of the set that is being added to the shape: it takes the records of one set after the other. */
  readonly encoder = new SetEncoder();
  /** The words of the shape that is being built. */
  #shape = new Int32Array(SHAPE_WORD.head + 2 * 8);

  /** What has arrays to save and restore. */
  get stores(): readonly (Arena | HashIndex)[] {
    return [this.arena, this.#setIndex, this.#shapeIndex];
  }

  /**
   * The shape of a name that holds these sets, in this order; NONE for no sets. A caller that keeps it calls
   * `retain`. `owner` is the name's bytes in lower case.
   */
  shapeOf(sets: readonly StoredSet[], owner: Uint8Array): number {
    this.beginShape(owner);
    for (const { type, records } of sets) {
      this.encoder.begin(type);
      for (const { ttl, data } of records) this.encoder.add(ttl, data, 0, data.length);
      this.endSet();
    }
    return this.endShape();
  }

  /** The same in steps: sets are added one after the other with `encoder` and `endSet`; all take about so many bytes. */
  beginShape(owner: Uint8Array, bytes = 0): void {
    this.encoder.setOwner(owner);
    this.encoder.reserve(bytes);
    this.#shape.fill(0, 0, SHAPE_WORD.head);
  }

  endSet(): void {
    this.encoder.end();
    const { words, length } = this.encoder;
    const set = this.#intern(this.#setIndex, words, length);
    const type = words[SET.type] ?? 0;
    const at = SHAPE_WORD.head + 2 * (this.#shape[SHAPE_WORD.sets] ?? 0);
    if (at === this.#shape.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#shape);
      this.#shape = larger;
    }
    const shape = this.#shape;
    shape[at] = type;
    shape[at + 1] = set;
    shape[SHAPE_WORD.sets] = (shape[SHAPE_WORD.sets] ?? 0) + 1;
    this.#addFlag(flagOf(type));
    if ((words[SET.records] ?? 0) > 1 && SINGLE_TYPES.has(type)) this.#addFlag(SHAPE_FLAG.unsound);
  }

  endShape(): number {
    const sets = this.#shape[SHAPE_WORD.sets] ?? 0;
    if (sets === 0) return NONE;
    const flags = this.#shape[SHAPE_WORD.flags] ?? 0;
    if ((flags & CONFLICT) === CONFLICT) this.#addFlag(SHAPE_FLAG.unsound);
    const known = this.#shapeIndex.size;
    const shape = this.#intern(this.#shapeIndex, this.#shape, SHAPE_WORD.head + 2 * sets);
    // The shape holds one reference to each set, however often the shape is requested.
    if (this.#shapeIndex.size > known) {
      for (let index = 0; index < sets; index++)
        this.#count(this.#shape[SHAPE_WORD.head + 2 * index + 1] ?? NONE, 1);
    }
    return shape;
  }

  #addFlag(flag: number): void {
    this.#shape[SHAPE_WORD.flags] = (this.#shape[SHAPE_WORD.flags] ?? 0) | flag;
  }

  retain(shape: number): void {
    if (shape !== NONE) this.#count(shape, 1);
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
      const end = recordEnd(stored, at);
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
  #intern(index: HashIndex, candidate: Int32Array, length: number): number {
    const hash = hashWords(candidate, HASH + 1, length);
    const { slots, mask } = index;
    for (let slot = hash & mask; slots[2 * slot + 1] !== NONE; slot = (slot + 1) & mask) {
      const id = slots[2 * slot + 1] ?? NONE;
      if (slots[2 * slot] === hash && this.#equals(id, candidate, length)) return id;
    }
    const id = this.arena.allocate(length);
    const { words } = this.arena;
    for (let at = HASH + 1; at < length; at++) words[id + at] = candidate[at] ?? 0;
    words[id + REFERENCES] = 0;
    words[id + HASH] = hash;
    index.add(hash, id);
    return id;
  }

  #equals(block: number, candidate: Int32Array, length: number): boolean {
    const { words } = this.arena;
    for (let index = HASH + 1; index < length; index++) {
      if (words[block + index] !== candidate[index]) return false;
    }
    return true;
  }

  #free(index: HashIndex, block: number, words: number): void {
    index.remove(this.arena.words[block + HASH] ?? 0, block);
    this.arena.release(block, words);
  }
}

const { notBesideCname } = SHAPE_FLAG;
const CONFLICT = SHAPE_FLAG.cname | notBesideCname;

/** Types of which a name has at most one record, as in `checkZone`. */
const SINGLE_TYPES: ReadonlySet<number> = new Set([TYPE.SOA, TYPE.CNAME, TYPE.DNAME]);

/** The flags of all types that have other flags than `notBesideCname`; beside a CNAME record may be what `checkZone` says. */
const FLAGS: ReadonlyMap<number, number> = new Map([
  [TYPE.SOA, SHAPE_FLAG.soa | notBesideCname],
  [TYPE.NS, SHAPE_FLAG.ns | notBesideCname],
  [TYPE.DNAME, SHAPE_FLAG.dname | notBesideCname],
  [TYPE.NSEC3, SHAPE_FLAG.nsec3 | notBesideCname],
  [TYPE.NSEC, SHAPE_FLAG.nsec],
  [TYPE.CNAME, SHAPE_FLAG.cname],
  [TYPE.SIG, 0],
  [TYPE.KEY, 0],
  [TYPE.NXT, 0],
]);

function flagOf(type: number): number {
  return (type & SIGNATURES) === 0 ? (FLAGS.get(type) ?? notBesideCname) : SHAPE_FLAG.signed;
}
