/**
 * Reads a query in place, without trust and without allocating: every access is within the message, and the
 * cost is a pass over its octets. Says the same about every message as `readQuery`, which serves the
 * framework.
 */
import { FLAG, HEADER_OCTETS, PLAIN_UDP_OCTETS, RCODE, TYPE_OPT } from '../wire/codes.ts';
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS } from '../wire/names.ts';

/** A name of 255 octets has at most 127 labels; the root, which ends it, is counted here too. */
export const MAX_LABELS = 128;

/** The message must not be answered. */
export const IGNORE = -1;
/** The message is a query; anything else that `read` returns is the code of the error reply. */
export const GOOD = 0;

export class QueryReader {
  /** Offsets of the question's labels from the beginning of the message; the last is the root's. */
  readonly labels = new Uint16Array(MAX_LABELS);
  /** Labels without the root. */
  labelCount = 0;
  /** Offset behind the question; that of the header's end if there is no well-formed question. */
  questionEnd = HEADER_OCTETS;
  type = 0;
  class = 0;
  hasEdns = false;
  dnssecOk = false;
  /** The largest UDP payload that the client takes, at least 512. */
  udpOctets = PLAIN_UDP_OCTETS;
  #version = 0;

  /** `GOOD`, `IGNORE` or a response code; of BADVERS, which has eight bits more, only `hasEdns` tells. */
  read(bytes: Uint8Array, start: number, length: number): number {
    this.questionEnd = HEADER_OCTETS;
    this.hasEdns = false;
    this.dnssecOk = false;
    this.udpOctets = PLAIN_UDP_OCTETS;
    if (length < HEADER_OCTETS) return IGNORE;
    const flags = u16(bytes, start + 2);
    if ((flags & FLAG.response) !== 0) return IGNORE;
    if ((flags & 0x7800) !== 0) return RCODE.NOTIMP;
    if (u16(bytes, start + 4) !== 1) return RCODE.FORMERR;
    if (!this.#readQuestion(bytes, start, length)) return RCODE.FORMERR;
    // Nearly every query without EDNS ends with its question.
    const others = u16(bytes, start + 6) + u16(bytes, start + 8);
    const additionals = u16(bytes, start + 10);
    if (others + additionals === 0) return GOOD;
    if (!this.#readRecords(bytes, start, start + length, others, others + additionals)) {
      this.hasEdns = false;
      return RCODE.FORMERR;
    }
    return this.hasEdns && this.#version !== 0 ? RCODE.BADVERS : GOOD;
  }

  #readQuestion(bytes: Uint8Array, start: number, length: number): boolean {
    const { labels } = this;
    let count = 0;
    let at = HEADER_OCTETS;
    for (;;) {
      if (at >= length) return false;
      const octets = u8(bytes, start + at);
      labels[count] = at;
      // A compression pointer is malformed here: nothing exists yet that it could point to.
      if (octets > MAX_LABEL_OCTETS) return false;
      at += octets + 1;
      if (at > HEADER_OCTETS + MAX_NAME_OCTETS) return false;
      if (octets === 0) break;
      count++;
    }
    if (at + 4 > length) return false;
    this.labelCount = count;
    this.type = u16(bytes, start + at);
    this.class = u16(bytes, start + at + 2);
    this.questionEnd = at + 4;
    return true;
  }

  /** The OPT record among everything behind the question. False: malformed. */
  #readRecords(bytes: Uint8Array, start: number, end: number, others: number, total: number): boolean {
    let at = start + this.questionEnd;
    for (let index = 0; index < total; index++) {
      const body = skipName(bytes, at, end);
      if (body === -1 || body + 10 > end) return false;
      const next = body + 10 + u16(bytes, body + 8);
      if (next > end) return false;
      if (u16(bytes, body) === TYPE_OPT) {
        // One at most, in the additional section, owned by the root (RFC 6891, section 6.1.1).
        if (this.hasEdns || index < others || u8(bytes, at) !== 0) return false;
        this.#version = u8(bytes, body + 5);
        // What another version has in place of options is not for us to judge (section 6.1.3).
        if (this.#version === 0 && !areOptions(bytes, body + 10, next)) return false;
        this.hasEdns = true;
        this.udpOctets = Math.max(u16(bytes, body + 2), PLAIN_UDP_OCTETS);
        this.dnssecOk = (u8(bytes, body + 6) & 0x80) !== 0;
      }
      at = next;
    }
    return true;
  }
}

export function u8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

export function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Offset behind a name that may end in a compression pointer, which is not followed; -1 if malformed. */
function skipName(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  for (;;) {
    if (at >= end) return -1;
    const octets = u8(bytes, at);
    if (octets >= 0xc0) return at + 2 <= end ? at + 2 : -1;
    if (octets > MAX_LABEL_OCTETS) return -1;
    at += octets + 1;
    if (at - start > MAX_NAME_OCTETS) return -1;
    if (octets === 0) return at;
  }
}

function areOptions(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if (at + 4 > end) return false;
    at += 4 + u16(bytes, at + 2);
  }
  return at === end;
}
