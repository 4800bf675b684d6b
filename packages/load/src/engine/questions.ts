/** Whether a response's question is the one that was asked: the third matching step, after socket and id. */
import { HEADER_BYTES, LOWER_CASE } from '@dinodns-bench/wire';
import type { QueryArena } from '../workload/workload.ts';

/** QTYPE and QCLASS. */
const AFTER_NAME = 4;

/** Where the question section of each message ends, from the message's start. Messages have one question each. */
export function questionEnds({ bytes, offsets, count }: QueryArena): Uint16Array {
  const ends = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const start = offsets[i] ?? 0;
    let at = start + HEADER_BYTES;
    for (let label = bytes[at] ?? 0; label !== 0; label = bytes[at] ?? 0) at += 1 + label;
    ends[i] = at + 1 + AFTER_NAME - start;
  }
  return ends;
}

/** Whether any message has an additional section, where EDNS lives (RFC 6891). */
export function hasAdditional({ bytes, offsets, count }: QueryArena): boolean {
  for (let i = 0; i < count; i++) {
    const start = offsets[i] ?? 0;
    if (bytes[start + 10] !== 0 || bytes[start + 11] !== 0) return true;
  }
  return false;
}

/**
 * Whether `count` bytes are the same in both places, ignoring the case of letters (RFC 4343). Label lengths and
 * types are not letters, so nothing else can compare equal by mistake: lengths are below 0x40, and types and classes
 * in 0x41–0x5A differ in bit 5 only from unassigned ones.
 */
export function sameQuestion(
  bytes: Uint8Array,
  offset: number,
  asked: Uint8Array,
  askedOffset: number,
  count: number,
): boolean {
  for (let i = 0; i < count; i++) {
    const here = bytes[offset + i] ?? 0;
    const there = asked[askedOffset + i] ?? 0;
    if (here !== there && LOWER_CASE[here] !== LOWER_CASE[there]) return false;
  }
  return true;
}

/** FNV-1a over the question in lower case, for questions that are not stored (random labels). */
export function hashQuestion(bytes: Uint8Array, offset: number, count: number): number {
  let hash = 0x811c_9dc5 | 0;
  for (let i = 0; i < count; i++) {
    hash = Math.imul(hash ^ (LOWER_CASE[bytes[offset + i] ?? 0] ?? 0), 0x0100_0193);
  }
  return hash;
}
