/**
 * Encodes one record set as the words of its block (`SET` of block-layout.ts), without allocating. Where data repeats
 * the end of the owner's name, a reference replaces the bytes.
 */
import { CLASS, findNameEnd, TYPE } from '@dinodns-bench/wire';
import { layoutOf } from '../wire/rdata.ts';
import { EXPANSION, RECORD_HEAD, SET } from './block-layout.ts';
import { labelOffsets } from './name-tree.ts';
import { SIGNATURES } from './stored-set.ts';

/** Names in one record's data: SOA, MINFO and RP have two. */
const MAX_NAMES = 2;
const INITIAL_BYTES = 4096;
/** What is not kept for the next set. */
const LARGE_BYTES = 2 ** 20;
const POINTER_TO_QUESTION = 0xc00c;
/** How `commonEnd` says that nothing but the root is common. */
const NOTHING = -1;

export class SetEncoder {
  /** The block's words; those from `length` on are of earlier sets. */
  words = new Int32Array(SET.head);
  length = 0;
  #bytes = Buffer.from(new ArrayBuffer(INITIAL_BYTES));
  #filled = 0;
  #references = new Int32Array(64);
  #referenceCount = 0;
  #records = 0;
  #type = 0;
  #negativeTtl = 0;
  #owner: Uint8Array = Uint8Array.of(0);
  /** Offsets of the owner's labels. */
  #labels: number[] = [];

  /** Sets the owner of the next sets: its bytes in lower case. */
  setOwner(owner: Uint8Array): void {
    this.#owner = owner;
    this.#labels = labelOffsets(owner);
  }

  begin(type: number): void {
    this.#type = type;
    this.#filled = 0;
    this.#referenceCount = 0;
    this.#records = 0;
    this.#negativeTtl = 0;
  }

  /** Adds a record whose data is `source[from, to)`, uncompressed. */
  add(ttl: number, source: Uint8Array, from: number, to: number): void {
    // Only an expansion would be longer than the data, and what it stands for is in the data.
    this.reserve(RECORD_HEAD + to - from + 2 * MAX_NAMES);
    const head = this.#filled;
    const type = (this.#type & SIGNATURES) === 0 ? this.#type : TYPE.RRSIG;
    const bytes = this.#bytes;
    let at = bytes.writeUInt16BE(POINTER_TO_QUESTION, head);
    at = bytes.writeUInt16BE(type, at);
    at = bytes.writeUInt16BE(CLASS.IN, at);
    this.#filled = bytes.writeUInt32BE(ttl, at) + 2;
    this.#addData(source, from, to);
    bytes.writeUInt16BE(this.#filled - head - RECORD_HEAD, head + RECORD_HEAD - 2);
    if (type === TYPE.SOA && this.#records === 0) {
      this.#negativeTtl = Math.min(ttl, bytes.readUInt32BE(this.#filled - 4));
    }
    this.#records++;
  }

  /** Completes `words` and `length`. */
  end(): void {
    const references = this.#referenceCount;
    this.length = SET.head + references + ((this.#filled + 3) >> 2);
    if (this.length > this.words.length) this.words = new Int32Array(2 * this.length);
    const { words } = this;
    words[SET.type] = this.#type;
    words[SET.negativeTtl] = this.#negativeTtl;
    words[SET.records] = this.#records;
    words[SET.length] = this.#filled;
    words[SET.ownerReferences] = references;
    let expansions = 0;
    for (let index = 0; index < references; index++) {
      const reference = this.#references[index] ?? 0;
      words[SET.head + index] = reference;
      if ((reference & EXPANSION) !== 0) expansions++;
    }
    words[SET.expansions] = expansions;
    words[this.length - 1] = 0;
    const target = new Uint8Array(words.buffer, (SET.head + references) * 4, this.#filled);
    for (let index = 0; index < this.#filled; index++) target[index] = this.#bytes[index] ?? 0;
    if (this.#bytes.length > LARGE_BYTES)
      this.#bytes = Buffer.from(this.#bytes.buffer.transfer(INITIAL_BYTES));
  }

  #addData(source: Uint8Array, from: number, to: number): void {
    const { before, names, compressible } = layoutOf(this.#type);
    let at = from;
    if (names > 0) {
      at += before;
      this.#copy(source, from, at);
      for (let index = 0; index < names; index++) {
        const end = findNameEnd(source, at);
        this.#addName(source, at, end, compressible);
        at = end;
      }
    }
    this.#copy(source, at, to);
  }

  /** Replaces the common end of the name and the owner by two bytes, or by none; notes where. */
  #addName(source: Uint8Array, from: number, end: number, compressible: boolean): void {
    let own = from;
    let label = NOTHING;
    for (; source[own] !== 0; own += (source[own] ?? 0) + 1) {
      label = this.#ownerLabel(source, own, end);
      if (label !== NOTHING) break;
    }
    if (label === NOTHING) {
      this.#copy(source, from, end);
      return;
    }
    this.#copy(source, from, own);
    this.#addReference((this.#filled << 8) | (compressible ? 0 : EXPANSION) | label);
    if (compressible) this.#filled += 2;
  }

  /**
   * The owner's label from which on it equals the name in `source[at, end)`; `NOTHING` if there is none. Compares
   * case-sensitively, so that a name is returned as it was given.
   */
  #ownerLabel(source: Uint8Array, at: number, end: number): number {
    const owner = this.#owner;
    const start = owner.length - (end - at);
    const label = start < 0 ? NOTHING : this.#labels.indexOf(start);
    // A wildcard answers under other names, which share only the labels below the star.
    if (label === NOTHING || (label === 0 && owner[0] === 1 && owner[1] === 0x2a)) return NOTHING;
    for (let index = at; index < end; index++) {
      if (source[index] !== owner[start + index - at]) return NOTHING;
    }
    return label;
  }

  #addReference(reference: number): void {
    if (this.#referenceCount === this.#references.length) {
      const larger = new Int32Array(2 * this.#references.length);
      larger.set(this.#references);
      this.#references = larger;
    }
    this.#references[this.#referenceCount++] = reference;
  }

  #copy(source: Uint8Array, from: number, to: number): void {
    const bytes = this.#bytes;
    let at = this.#filled;
    for (let index = from; index < to; index++) bytes[at++] = source[index] ?? 0;
    this.#filled = at;
  }

  /** Makes room for so many more bytes. */
  reserve(bytes: number): void {
    const needed = this.#filled + bytes;
    if (needed <= this.#bytes.length) return;
    // Unlike a copy, this frees the old buffer at once.
    this.#bytes = Buffer.from(this.#bytes.buffer.transfer(Math.max(needed, 2 * this.#bytes.length)));
  }
}
