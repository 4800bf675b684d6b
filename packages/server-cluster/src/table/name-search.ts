/** Finds the NSEC or NSEC3 record of a zone for a name in a message. */
import { hash } from 'node:crypto';
import { compareLabels, LOWER_CASE, MAX_LABELS, MAX_NAME_BYTES, u8 } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import type { Denials } from './denial-index.ts';
import type { Lookup } from './find.ts';

const WILDCARD = Uint8Array.of(1, 0x2a);
const SHA1_BYTES = 20;
/** Digits of a hash in base32hex (RFC 5155, section 3.3), after the length byte. */
const HASH_DIGITS = 32;
const DIGITS = Buffer.from('0123456789abcdefghijklmnopqrstuv', 'binary');
/** A salt has a length field of one byte. */
const MAX_SALT = 255;

/** Searches for the names that end like the name of a lookup: its labels from `from` on, after a `*` if `isWildcard` is set. */
export class NameSearch {
  readonly #lookup: Lookup;
  #denials: Denials = { nodes: new Int32Array(0), hashing: null };
  readonly #path = new Int32Array(MAX_LABELS);
  readonly #message = new Uint8Array(MAX_NAME_BYTES + 2 + MAX_SALT);
  readonly #hash = new Uint8Array(HASH_DIGITS + 1);

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  /** Sets the records to search. */
  begin(denials: Denials): void {
    this.#denials = denials;
  }

  /** The owner of the record that matches or covers the name. */
  covering(from: number, isWildcard: boolean): number {
    const { nodes, hashing } = this.#denials;
    if (hashing !== null) this.#hashName(from, isWildcard, hashing.salt, hashing.iterations);
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const node = nodes[middle] ?? NONE;
      const difference =
        hashing === null ? this.#compareName(node, from, isWildcard) : this.#compareHash(node);
      if (difference <= 0) low = middle + 1;
      else high = middle;
    }
    return nodes[low === 0 ? nodes.length - 1 : low - 1] ?? NONE;
  }

  /** The owner of the NSEC3 record that matches the name; NONE if there is none. */
  matching(from: number, isWildcard: boolean): number {
    const node = this.covering(from, isWildcard);
    return this.#compareHash(node) === 0 ? node : NONE;
  }

  #compareHash(node: number): number {
    const { names } = this.#lookup.data;
    return compareLabels(names.arena.bytes, names.labelAt(node), this.#hash, 0);
  }

  /** Compares a node and the name in canonical order. */
  #compareName(node: number, from: number, isWildcard: boolean): number {
    const { data, bytes, start, labels, labelCount } = this.#lookup;
    const { names } = data;
    const path = this.#path;
    let depth = 0;
    for (let at = node; at !== names.root; at = names.parentOf(at)) path[depth++] = names.labelAt(at);
    const plain = labelCount - from;
    const total = plain + (isWildcard ? 1 : 0);
    for (let index = 1; index <= depth && index <= total; index++) {
      const isStar = index > plain;
      const other = isStar ? WILDCARD : bytes;
      const otherAt = isStar ? 0 : start + (labels[labelCount - index] ?? 0);
      const difference = compareLabels(names.arena.bytes, path[depth - index] ?? 0, other, otherAt);
      if (difference !== 0) return difference;
    }
    return depth - total;
  }

  #hashName(from: number, isWildcard: boolean, salt: Uint8Array, iterations: number): void {
    const message = this.#message;
    const { bytes, start, labels, labelCount } = this.#lookup;
    let length = 0;
    if (isWildcard) for (const byte of WILDCARD) message[length++] = byte;
    for (let index = from; index < labelCount; index++) {
      const at = start + (labels[index] ?? 0);
      const end = u8(bytes, at);
      for (let byte = 0; byte <= end; byte++) message[length++] = LOWER_CASE[u8(bytes, at + byte)] ?? 0;
    }
    message[length++] = 0;
    for (let round = 0; round <= iterations; round++) {
      for (let index = 0; index < salt.length; index++) message[length + index] = salt[index] ?? 0;
      // As a string, the hash costs a third of what it does as a buffer.
      const digest = hash('sha1', message.subarray(0, length + salt.length), 'binary');
      for (length = 0; length < SHA1_BYTES; length++) message[length] = digest.charCodeAt(length);
    }
    this.#writeDigits();
  }

  /** Five bits per digit, so eight digits are five bytes. */
  #writeDigits(): void {
    const hash = this.#hash;
    hash[0] = HASH_DIGITS;
    let bits = 0;
    let held = 0;
    let digit = 1;
    for (let index = 0; index < SHA1_BYTES; index++) {
      bits = ((bits << 8) | u8(this.#message, index)) & 0xffff;
      held += 8;
      for (; held >= 5; held -= 5) hash[digit++] = DIGITS[(bits >> (held - 5)) & 0x1f] ?? 0;
    }
  }
}
