/**
 * Domain names in wire format (RFC 1035 §3.1, §4.1.4). Input is untrusted: no access leaves the message. Except in
 * `expandName`, malformed names are reported by a return value, not thrown.
 */

/** A label (RFC 1035 §2.3.4). Length bytes above it are compression pointers or reserved. */
export const MAX_LABEL_BYTES = 63;
/** A whole name, with its length bytes and the root's (RFC 1035 §2.3.4). */
export const MAX_NAME_BYTES = 255;
/** Labels of the longest name, the root included: 127 of one byte each, and the root. */
export const MAX_LABELS = 128;
/** The two high bits of a compression pointer's first byte. */
export const POINTER_BITS = 0xc0;

/** Every byte in lower case; ASCII letters only (RFC 4343). Length bytes (0 to 63) stay as they are. */
export const LOWER_CASE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/**
 * The offset after the uncompressed name at `start`, or -1 if it runs past the end, is too long, or has a compression
 * pointer.
 */
export function findNameEnd(bytes: Uint8Array, start: number, end: number = bytes.length): number {
  let at = start;
  while (at < end) {
    const length = bytes[at] ?? 0;
    if (length > MAX_LABEL_BYTES) return -1;
    at += length + 1;
    if (at - start > MAX_NAME_BYTES) return -1;
    if (length === 0) return at;
  }
  return -1;
}

/**
 * The offset after the name at `start`, which may end in a compression pointer (not followed); -1 if it runs past
 * `end` or is malformed.
 */
export function skipName(bytes: Uint8Array, start: number, end: number = bytes.length): number {
  let at = start;
  while (at < end) {
    const length = bytes[at] ?? 0;
    if (length >= POINTER_BITS) return at + 2 <= end ? at + 2 : -1;
    if (length > MAX_LABEL_BYTES) return -1;
    at += length + 1;
    if (at - start > MAX_NAME_BYTES) return -1;
    if (length === 0) return at;
  }
  return -1;
}

/** A name without compression, and the offset after its original. */
export interface ExpandedName {
  readonly name: Buffer;
  readonly end: number;
}

/**
 * Follows compression pointers. Throws a RangeError if the name is malformed, has more than 255 bytes, runs out of
 * the message, or has a pointer that does not point backwards (so that a loop ends).
 */
export function expandName(bytes: Uint8Array, start: number): ExpandedName {
  const name = Buffer.allocUnsafe(MAX_NAME_BYTES);
  let size = 0;
  let end = -1;
  let at = start;
  // A pointer must point to before the labels that it ends (RFC 1035 §4.1.4: "a prior occurrence").
  let limit = start;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) throw new RangeError('A name runs out of the message.');
    if (length >= POINTER_BITS) {
      const low = bytes[at + 1];
      if (low === undefined) throw new RangeError('A compression pointer runs out of the message.');
      if (end === -1) end = at + 2;
      at = ((length & ~POINTER_BITS) << 8) | low;
      if (at >= limit) throw new RangeError('A compression pointer does not point backwards.');
      limit = at;
      continue;
    }
    if (length > MAX_LABEL_BYTES) throw new RangeError('A label has a reserved type.');
    if (size + length + 1 > MAX_NAME_BYTES) throw new RangeError('A name has more than 255 bytes.');
    if (at + length >= bytes.length) throw new RangeError('A name runs out of the message.');
    for (let from = at; from <= at + length; from++) name[size++] = bytes[from] ?? 0;
    at += length + 1;
    if (length === 0) return { name: name.subarray(0, size), end: end === -1 ? at : end };
  }
}

/** A name in wire format in lower case. */
export function lowerCaseName(name: Uint8Array): Buffer<ArrayBuffer> {
  const lower = Buffer.from(name);
  for (let at = 0; at < name.length; at++) lower[at] = LOWER_CASE[name[at] ?? 0] ?? 0;
  return lower;
}

/** Compares two labels, whose length bytes are at these offsets, byte by byte in lower case; negative if the first is the smaller one. */
export function compareLabels(one: Uint8Array, oneAt: number, other: Uint8Array, otherAt: number): number {
  const length = one[oneAt] ?? 0;
  const otherLength = other[otherAt] ?? 0;
  for (let index = 1; index <= length && index <= otherLength; index++) {
    const difference =
      (LOWER_CASE[one[oneAt + index] ?? 0] ?? 0) - (LOWER_CASE[other[otherAt + index] ?? 0] ?? 0);
    if (difference !== 0) return difference;
  }
  return length - otherLength;
}

/** `name` below `parent`; undefined if it would be longer than a name may be. */
export function joinNames(name: Uint8Array, parent: Uint8Array): Uint8Array | undefined {
  const length = name.length - 1 + parent.length;
  if (length > MAX_NAME_BYTES) return undefined;
  const joined = new Uint8Array(length);
  joined.set(name.subarray(0, -1));
  joined.set(parent, name.length - 1);
  return joined;
}
