/** 32-bit hashes for keys that clients cannot choose: names and records of the zones themselves. */
import * as wire from '@dinodns-bench/wire';

// Copied: README.md, "Hot code".
const { LOWER_CASE } = wire;

/** The prime of FNV-1a. */
const PRIME = 0x0100_0193;

/** Mixes all bits into the low ones, which select the slot (MurmurHash3's finalizer). */
export function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}

/** Case-insensitive hash of the label at `at` (its length byte first) below `parent`. */
export function hashLabel(parent: number, bytes: Uint8Array, at: number): number {
  const end = at + (bytes[at] ?? 0);
  let hash = Math.imul(parent, 0x9e37_79b1);
  for (let index = at; index <= end; index++) {
    hash = Math.imul(hash ^ (LOWER_CASE[bytes[index] ?? 0] ?? 0), PRIME);
  }
  return finish(hash);
}

/** Hash of `bytes[from, to)`, and of a number. */
export function hashBytes(start: number, bytes: Uint8Array, from: number, to: number): number {
  let hash = Math.imul(start, 0x9e37_79b1);
  for (let index = from; index < to; index++) hash = Math.imul(hash ^ (bytes[index] ?? 0), PRIME);
  return finish(hash);
}

/** Hash of `words[from, to)`. */
export function hashWords(words: Int32Array, from: number, to: number): number {
  let hash = to - from;
  for (let index = from; index < to; index++)
    hash = Math.imul(hash ^ (words[index] ?? 0), PRIME) ^ (hash >>> 15);
  return finish(hash);
}
