/** How record sets, shapes and the records in them are laid out in the arena of `RecordSets`. */
import { u16 } from '@dinodns-bench/wire';

/** The first words of every block: how often it is used, and its hash. */
export const REFERENCES = 0;
export const HASH = 1;

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

/** Record types of a shape that determine the name's role in its zone, and whether it is wrong by itself. */
export const SHAPE_FLAG = {
  soa: 1,
  ns: 2,
  cname: 4,
  dname: 8,
  signed: 16,
  nsec: 32,
  nsec3: 64,
  /** Something that must not be beside a CNAME record. */
  notBesideCname: 128,
  /** A CNAME record beside such, or two different records of a type of which there may be one. */
  unsound: 256,
} as const;

/** An owner reference is `offset << 8 | expansion << 7 | labels`: `labels` of the owner's labels are omitted. */
export const EXPANSION = 0x80;

/** Bytes of a record before its data: pointer to the owner, type, class, TTL, length. */
export const RECORD_HEAD = 12;

/** The offset after a record whose owner, at this offset, is a pointer. */
export function recordEnd(bytes: Uint8Array, at: number): number {
  return at + RECORD_HEAD + u16(bytes, at + RECORD_HEAD - 2);
}
