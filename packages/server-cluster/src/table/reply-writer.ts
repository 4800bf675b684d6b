/**
 * Writes a reply over its query. Header and question stay in place, which echoes the ID and the name in the case
 * asked, and records follow. Owners are compression pointers to the question or to names written before.
 */
import * as wire from '@dinodns-bench/wire';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import type { Lookup, Place } from './find.ts';
import type { NameTree } from './name-tree.ts';
import type { ZoneData } from './zone-data.ts';

// Copied: README.md, "Hot code".
const { FLAG, HEADER_BYTES, LOWER_CASE, MAX_LABELS, MAX_NAME_BYTES, OPT_BYTES, TYPE, u8, u16 } = wire;
const { NONE } = arena;
const { EXPANSION, RECORD_HEAD, recordEnd, SET } = layout;

/** Compression pointers have 14 bits (RFC 1035, section 4.1.4). */
const LAST_POINTER = 0x3fff;

/** For `writeSet`: each record keeps its stored TTL. */
export const KEEP_TTL = -1;

export class ReplyWriter {
  /** Offset in the message after what has been written. */
  at = 0;
  answers = 0;
  authorities = 0;
  additionals = 0;
  /** Something did not fit. */
  isFull = false;
  /**
   * End of the records that the client must get; -1 if it must get all. Records after it are omitted if they do
   * not fit.
   */
  requiredEnd = -1;
  /** Records of the additional section before that offset. */
  requiredAdditionals = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #limit = 0;

  /** Starts after the question. `limit` is the maximum length of the message in bytes. */
  begin(bytes: Uint8Array, start: number, questionEnd: number, limit: number): void {
    this.#bytes = bytes;
    this.#start = start;
    this.#limit = limit;
    this.at = questionEnd;
    this.answers = 0;
    this.authorities = 0;
    this.additionals = 0;
    this.isFull = false;
    this.requiredEnd = -1;
  }

  /** Everything from here on may be omitted without TC (RFC 2181, section 9). */
  endRequired(): void {
    this.requiredEnd = this.at;
    this.requiredAdditionals = this.additionals;
  }

  /** Removes the optional records if the message exceeds `limit` bytes. */
  fit(limit: number): void {
    if (this.requiredEnd === -1 || (this.at <= limit && !this.isFull)) return;
    this.at = this.requiredEnd;
    this.additionals = this.requiredAdditionals;
    this.isFull = false;
  }

  /**
   * Writes the records of a set and returns their number; 0 if they do not fit, and for every call after that.
   * A `ttl` other than `KEEP_TTL` applies to all of them.
   */
  writeSet({ data, labels }: Lookup, set: number, { node, label, surplus }: Place, ttl: number): number {
    const { sets } = data;
    const { words, bytes: source } = sets.arena;
    const length = words[set + SET.length] ?? 0;
    if (this.isFull || this.at + length > this.#limit) {
      this.isFull = true;
      return 0;
    }
    const first = this.#start + this.at;
    if (words[set + SET.expansions] !== 0) {
      if (!this.#writeExpanded(data, set, node, labels, label + surplus)) {
        this.isFull = true;
        return 0;
      }
    } else {
      const bytes = this.#bytes;
      const from = sets.bytesAt(set);
      for (let index = 0; index < length; index++) bytes[first + index] = source[from + index] ?? 0;
      const references = words[set + SET.ownerReferences] ?? 0;
      for (let index = 0; index < references; index++) {
        const reference = words[set + SET.head + index] ?? 0;
        this.#point(first + (reference >> 8), labels[label + surplus + (reference & 0x7f)] ?? 0);
      }
      this.at += length;
    }
    const target = labels[label] ?? 0;
    if (target !== HEADER_BYTES || ttl !== KEEP_TTL) this.#patch(first, this.#start + this.at, target, ttl);
    return words[set + SET.records] ?? 0;
  }

  /**
   * Writes the records of a set whose owner is not in the message yet, but below `apex`, whose name is at
   * `origin`. Returns their number; 0 if they do not fit, and for every call after that. Only for types whose data
   * contains no name that ends like the owner.
   */
  writeNamed({ sets, names }: ZoneData, set: number, node: number, apex: number, origin: number): number {
    const { words, bytes: source } = sets.arena;
    const from = sets.bytesAt(set);
    const length = words[set + SET.length] ?? 0;
    for (let at = 0; at < length && !this.isFull; ) {
      const end = recordEnd(source, from + at) - from;
      const isWritten =
        this.#writeOwner(names, node, apex, origin) && this.#copy(source, from + at + 2, end - at - 2);
      if (!isWritten) this.isFull = true;
      at = end;
    }
    return this.isFull ? 0 : (words[set + SET.records] ?? 0);
  }

  /** Writes the labels of a node down to those of `apex`, and a pointer to the apex's name. */
  #writeOwner(names: NameTree, start: number, apex: number, origin: number): boolean {
    for (let node = start; node !== apex; node = names.parentOf(node)) {
      const label = names.labelAt(node);
      if (node === names.root || !this.#copy(names.arena.bytes, label, u8(names.arena.bytes, label) + 1))
        return false;
    }
    if (this.at + 2 > this.#limit) return false;
    this.#point(this.#start + this.at, origin);
    this.at += 2;
    return true;
  }

  /**
   * Stores in `labels` the offsets of the labels of a written name, including the root; returns how many come
   * before the root.
   */
  locate(at: number, labels: Uint16Array): number {
    const bytes = this.#bytes;
    let count = 0;
    let offset = at;
    while (count < MAX_LABELS) {
      const length = u8(bytes, this.#start + offset);
      if (length >= 0xc0) {
        offset = u16(bytes, this.#start + offset) & LAST_POINTER;
        continue;
      }
      labels[count] = offset;
      if (length === 0) break;
      offset += length + 1;
      count++;
    }
    return count;
  }

  /** Whether two names in the message are equal, ignoring case. */
  isSameName(one: number, other: number): boolean {
    const bytes = this.#bytes;
    const start = this.#start;
    for (let left = one, right = other; left !== right; ) {
      const length = u8(bytes, start + left);
      const others = u8(bytes, start + right);
      if (length >= 0xc0) left = u16(bytes, start + left) & LAST_POINTER;
      else if (others >= 0xc0) right = u16(bytes, start + right) & LAST_POINTER;
      else {
        for (let index = 0; index <= length; index++) {
          const byte = LOWER_CASE[u8(bytes, start + left + index)];
          if (byte !== LOWER_CASE[u8(bytes, start + right + index)]) return false;
        }
        if (length === 0) return true;
        left += length + 1;
        right += length + 1;
      }
    }
    return true;
  }

  /**
   * Writes the CNAME record synthesized from the DNAME record at this offset, which was written uncompressed, for
   * the name at `labels[0]` (RFC 6672, section 3.1): its first `count` labels stay, the rest is replaced. Returns
   * the offset of the CNAME's target; 0 if that would exceed 255 bytes or does not fit the message; in the latter
   * case `isFull` is set.
   */
  writeSynthesized(dname: number, labels: Uint16Array, count: number): number {
    const bytes = this.#bytes;
    const start = this.#start;
    const target = dname + RECORD_HEAD;
    let length = 0;
    for (let index = 0; index < count; index++) length += u8(bytes, start + (labels[index] ?? 0)) + 1;
    if (length + u16(bytes, start + target - 2) > MAX_NAME_BYTES) return 0;
    const data = this.at + RECORD_HEAD;
    if (data + length + 2 > this.#limit) {
      this.isFull = true;
      return 0;
    }
    const record = start + this.at;
    this.#point(record, labels[0] ?? 0);
    this.#put(record + 2, TYPE.CNAME);
    for (let at = 4; at < 10; at++) bytes[record + at] = u8(bytes, start + dname + at);
    this.#put(record + 10, length + 2);
    this.at = data;
    for (let index = 0; index < count; index++) {
      const label = start + (labels[index] ?? 0);
      this.#copy(bytes, label, u8(bytes, label) + 1);
    }
    this.#point(start + this.at, target);
    this.at += 2;
    return data;
  }

  /** Removes everything after the record at this offset, whose owner is a pointer. */
  keepFirst(record: number): void {
    this.at = recordEnd(this.#bytes, this.#start + record) - this.#start;
  }

  /** Removes everything except the question. */
  clear(questionEnd: number): void {
    this.at = questionEnd;
    this.answers = 0;
    this.authorities = 0;
    this.additionals = 0;
  }

  /** Whether a pointer to the name at this offset can be a record's owner. */
  canPointTo(at: number): boolean {
    return at <= LAST_POINTER;
  }

  /**
   * Whether pointers reach every label of a name, and the data of a record, that is written before or right after what is
   * there.
   */
  canPointToNext(): boolean {
    return this.canPointTo(this.at + RECORD_HEAD + MAX_NAME_BYTES);
  }

  /** Appends our OPT record, for which `limit` left room. */
  writeOpt(udpBytes: number, dnssecOk: boolean, extendedCode: number): void {
    const bytes = this.#bytes;
    const to = this.#start + this.at;
    bytes[to] = 0;
    bytes[to + 1] = 0;
    bytes[to + 2] = 41;
    bytes[to + 3] = udpBytes >> 8;
    bytes[to + 4] = udpBytes & 0xff;
    bytes[to + 5] = extendedCode;
    bytes[to + 6] = 0;
    bytes[to + 7] = dnssecOk ? 0x80 : 0;
    bytes[to + 8] = 0;
    bytes[to + 9] = 0;
    bytes[to + 10] = 0;
    this.at += OPT_BYTES;
    this.additionals++;
  }

  /**
   * Writes header flags and counts. The reply copies OPCODE from the query, and RD if it is a QUERY. Returns the
   * reply's length.
   */
  writeHeader(flags: number, questions: number): number {
    const bytes = this.#bytes;
    const start = this.#start;
    const query = u16(bytes, start + 2);
    // RD is defined only for QUERY (RFC 8906, section 8.1.4).
    const operation = query & 0x7800;
    const echoed = operation === 0 ? query & FLAG.recursionDesired : operation;
    this.#put(start + 2, FLAG.response | echoed | flags);
    this.#put(start + 4, questions);
    this.#put(start + 6, this.answers);
    this.#put(start + 8, this.authorities);
    this.#put(start + 10, this.additionals);
    return this.at;
  }

  #put(at: number, value: number): void {
    this.#bytes[at] = value >> 8;
    this.#bytes[at + 1] = value & 0xff;
  }

  #point(at: number, target: number): void {
    this.#put(at, 0xc000 | target);
  }

  /** Changes owner and TTL of the records between two offsets. */
  #patch(from: number, to: number, owner: number, ttl: number): void {
    const bytes = this.#bytes;
    for (let at = from; at < to; at = recordEnd(bytes, at)) {
      this.#point(at, owner);
      if (ttl === KEEP_TTL) continue;
      this.#put(at + 6, ttl >>> 16);
      this.#put(at + 8, ttl & 0xffff);
    }
  }

  /** Writes a set whose type must not be compressed: names that end like the owner's are written in full. */
  #writeExpanded(
    { sets, names }: ZoneData,
    set: number,
    node: number,
    labels: Uint16Array,
    base: number,
  ): boolean {
    const { words, bytes: source } = sets.arena;
    const from = sets.bytesAt(set);
    const length = words[set + SET.length] ?? 0;
    const lastReference = set + SET.head + (words[set + SET.ownerReferences] ?? 0);
    let reference = set + SET.head;
    for (let at = 0; at < length; ) {
      const end = recordEnd(source, from + at) - from;
      const record = this.at;
      for (; reference < lastReference && (words[reference] ?? 0) >> 8 <= end; reference++) {
        const word = words[reference] ?? 0;
        if (!this.#copy(source, from + at, (word >> 8) - at)) return false;
        at = word >> 8;
        if ((word & EXPANSION) === 0) {
          if (this.at + 2 > this.#limit) return false;
          this.#point(this.#start + this.at, labels[base + (word & 0x7f)] ?? 0);
          this.at += 2;
          at += 2;
        } else if (!this.#writeName(names, node, word & 0x7f)) return false;
      }
      if (!this.#copy(source, from + at, end - at)) return false;
      this.#put(this.#start + record + 10, this.at - record - RECORD_HEAD);
      at = end;
    }
    return true;
  }

  #copy(source: Uint8Array, from: number, length: number): boolean {
    if (this.at + length > this.#limit) return false;
    const to = this.#start + this.at;
    for (let index = 0; index < length; index++) this.#bytes[to + index] = source[from + index] ?? 0;
    this.at += length;
    return true;
  }

  /** Writes a node's name without its first labels, in the zone's spelling. */
  #writeName(names: NameTree, node: number, without: number): boolean {
    const { bytes } = names.arena;
    let current = node;
    for (let index = 0; index < without; index++) current = names.parentOf(current);
    for (; current !== names.root && current !== NONE; current = names.parentOf(current)) {
      const label = names.labelAt(current);
      if (!this.#copy(bytes, label, u8(bytes, label) + 1)) return false;
    }
    if (this.at >= this.#limit) return false;
    this.#bytes[this.#start + this.at++] = 0;
    return true;
  }
}
