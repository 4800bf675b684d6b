/**
 * Reads an untrusted query in place, without allocating: every access is within the message, and the cost is one pass
 * over its bytes. A datagram is read once: the router's guard, the rate limiter, the answer table, the framework and
 * the counters all use the same reader.
 */

import * as codes from './codes.ts';
import * as edns from './edns.ts';
import * as header from './header.ts';
import * as names from './names.ts';
import * as types from './types.ts';

// Copied: packages/server-cluster/src/README.md, "Hot code".
const { FORMERR, NOTIMP, BADVERS } = codes.RCODE;
const { dnssecOk: DNSSEC_OK } = edns.EDNS_FLAG;
const { cookie: COOKIE, padding: PADDING } = edns.EDNS_OPTION;
const { HEADER_BYTES, OPCODE_MASK, PLAIN_UDP_BYTES, u8, u16 } = header;
const { response: RESPONSE } = header.FLAG;
const { MAX_LABEL_BYTES, MAX_LABELS, MAX_NAME_BYTES, skipName } = names;
const { OPT } = types.TYPE;

/** The message must not be answered: it is shorter than a header, or itself a response. */
export const IGNORE = -1;
/** The message is a query; anything else that `read` returns is the code of the error reply. */
export const GOOD = 0;

/** `type` and `class` if there is no question. */
export const NO_QUESTION = -1;

/** A client cookie has 8 bytes; a server cookie, if any, 8 to 32 more (RFC 7873, section 4). */
const CLIENT_COOKIE_BYTES = 8;
const SHORTEST_COOKIES_BYTES = 16;
const LONGEST_COOKIES_BYTES = 40;

export class QueryReader {
  /** The last result of `read`. */
  code = IGNORE;
  /** Offsets of the question's labels from the beginning of the message; the last is the root's. */
  readonly labels = new Uint16Array(MAX_LABELS);
  /** Number of labels without the root. */
  labelCount = 0;
  /** Offset after the question; the end of the header if there is no well-formed question. */
  questionEnd = HEADER_BYTES;
  type = NO_QUESTION;
  class = NO_QUESTION;
  /** Offset of the OPT record's type, after its one-byte owner; 0 if there is no OPT record. */
  optAt = 0;
  dnssecOk = false;
  /** Offset of the data of the first COOKIE option, the client's cookie and perhaps a server's; 0 if there is none. */
  cookieAt = 0;
  /** Length of that data: 8, or 16 to 40. Undefined if `cookieAt` is 0. */
  cookieBytes = 0;
  /** Has a PADDING option: the reply is to be padded if nobody else can read it (RFC 7830, section 4). */
  hasPadding = false;
  /** The largest UDP payload that the client accepts, at least 512. */
  udpBytes = PLAIN_UDP_BYTES;

  get hasQuestion(): boolean {
    return this.questionEnd !== HEADER_BYTES;
  }

  get hasEdns(): boolean {
    return this.optAt !== 0;
  }

  /**
   * `GOOD`, `IGNORE`, or NOTIMP (not a query), FORMERR or BADVERS, of which only BADVERS tells that the message is
   * otherwise a good query with EDNS. The fields then describe the message; reads nothing outside of
   * `bytes[start, start + length)`.
   */
  read(bytes: Uint8Array, start: number, length: number): number {
    this.code = this.#read(bytes, start, length);
    return this.code;
  }

  #read(bytes: Uint8Array, start: number, length: number): number {
    this.questionEnd = HEADER_BYTES;
    this.labelCount = 0;
    this.type = NO_QUESTION;
    this.class = NO_QUESTION;
    this.#forgetOpt();
    if (length < HEADER_BYTES) return IGNORE;
    const flags = u16(bytes, start + 2);
    if ((flags & RESPONSE) !== 0) return IGNORE;
    if ((flags & OPCODE_MASK) !== 0) return NOTIMP;
    if (u16(bytes, start + 4) !== 1) return FORMERR;
    if (!this.#readQuestion(bytes, start, length)) return FORMERR;
    // Nearly every query without EDNS ends with its question.
    const others = u16(bytes, start + 6) + u16(bytes, start + 8);
    const additionals = u16(bytes, start + 10);
    if (others + additionals === 0) return GOOD;
    if (!this.#readRecords(bytes, start, length, others, others + additionals)) {
      // An OPT record stays, because the reply to one with malformed options must have one (RFC 6891, section 7).
      this.cookieAt = 0;
      this.hasPadding = false;
      return FORMERR;
    }
    return this.optAt !== 0 && u8(bytes, start + this.optAt + 5) !== 0 ? BADVERS : GOOD;
  }

  #forgetOpt(): void {
    this.optAt = 0;
    this.dnssecOk = false;
    this.cookieAt = 0;
    this.hasPadding = false;
    this.udpBytes = PLAIN_UDP_BYTES;
  }

  #readQuestion(bytes: Uint8Array, start: number, length: number): boolean {
    const { labels } = this;
    let count = 0;
    let at = HEADER_BYTES;
    for (;;) {
      if (at >= length) return false;
      const size = u8(bytes, start + at);
      labels[count] = at;
      // A compression pointer is malformed here: nothing exists yet that it could point to.
      if (size > MAX_LABEL_BYTES) return false;
      at += size + 1;
      if (at > HEADER_BYTES + MAX_NAME_BYTES) return false;
      if (size === 0) break;
      count++;
    }
    if (at + 4 > length) return false;
    this.labelCount = count;
    this.type = u16(bytes, start + at);
    this.class = u16(bytes, start + at + 2);
    this.questionEnd = at + 4;
    return true;
  }

  /** Finds the OPT record among the records after the question. False: malformed. */
  #readRecords(bytes: Uint8Array, start: number, length: number, others: number, total: number): boolean {
    const end = start + length;
    let at = start + this.questionEnd;
    for (let index = 0; index < total; index++) {
      // Nearly always the root, the owner of an OPT record.
      const body = at < end && u8(bytes, at) === 0 ? at + 1 : skipName(bytes, at, end);
      if (body === -1 || body + 10 > end) return false;
      const next = body + 10 + u16(bytes, body + 8);
      if (next > end) return false;
      if (u16(bytes, body) === OPT) {
        // One at most, in the additional section, owned by the root (RFC 6891 §6.1.1).
        if (this.optAt !== 0 || index < others || u8(bytes, at) !== 0) return false;
        this.optAt = body - start;
        this.udpBytes = Math.max(u16(bytes, body + 2), PLAIN_UDP_BYTES);
        this.dnssecOk = (u16(bytes, body + 6) & DNSSEC_OK) !== 0;
        // Other EDNS versions may have something else in place of options (RFC 6891 §6.1.3).
        if (u8(bytes, body + 5) === 0 && !this.#readOptions(bytes, start, body + 10, next)) return false;
      }
      at = next;
    }
    return true;
  }

  /** False: malformed, such as a cookie of a wrong length (RFC 7873, section 5.2.2). */
  #readOptions(bytes: Uint8Array, start: number, first: number, end: number): boolean {
    let at = first;
    while (at < end) {
      if (at + 4 > end) return false;
      const code = u16(bytes, at);
      const length = u16(bytes, at + 2);
      if (code === PADDING) this.hasPadding = true;
      // Only the first counts (RFC 7873, section 5.2).
      if (code === COOKIE && this.cookieAt === 0) {
        const isPossible =
          length === CLIENT_COOKIE_BYTES ||
          (length >= SHORTEST_COOKIES_BYTES && length <= LONGEST_COOKIES_BYTES);
        if (!isPossible) return false;
        this.cookieAt = at + 4 - start;
        this.cookieBytes = length;
      }
      at += 4 + length;
    }
    return at === end;
  }
}
