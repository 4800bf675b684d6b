/**
 * What a response says, read in place and without allocation: the generator looks at hundreds of thousands a
 * second. Nothing is believed: every offset is checked against the end of the message.
 */
import { addressBytes } from './addresses.ts';
import { HEADER_BYTES } from './query.ts';
import { responseCodeNumber } from './types.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const TYPE_OPT = 41;

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** Where the name at `at` ends; -1 if it does not end before `end`. Pointers are not followed. */
function skipName(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const length = bytes[next] ?? 0;
    if (length === 0) return next + 1;
    if (length >= 0xc0) return next + 2 <= end ? next + 2 : -1;
    // 0x40 and 0x80 are no labels that anybody uses (RFC 6891 §5).
    if (length > 63) return -1;
    next += 1 + length;
  }
  return -1;
}

/** Where the questions end; -1 if they are cut off. */
function skipQuestions(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < HEADER_BYTES) return -1;
  let at = start + HEADER_BYTES;
  for (let left = word(bytes, start + 4); left > 0; left -= 1) {
    at = skipName(bytes, at, end);
    if (at < 0 || at + 4 > end) return -1;
    at += 4;
  }
  return at;
}

/**
 * The response code of the message in `bytes[start, end)`, 0 to 4095 with the upper bits from its OPT record
 * (RFC 6891 §6.1.3); -1 if a record that has to be passed is cut off.
 */
export function responseCode(bytes: Uint8Array, start: number, end: number): number {
  if (end - start < HEADER_BYTES) return -1;
  const low = (bytes[start + 3] ?? 0) & 15;
  if (word(bytes, start + 10) === 0) return low;
  let at = skipQuestions(bytes, start, end);
  let left = word(bytes, start + 6) + word(bytes, start + 8) + word(bytes, start + 10);
  for (; at >= 0 && left > 0; left -= 1) {
    at = skipName(bytes, at, end);
    if (at < 0 || at + 10 > end) return -1;
    if (word(bytes, at) === TYPE_OPT) return low | ((bytes[at + 4] ?? 0) << 4);
    at += 10 + word(bytes, at + 8);
    if (at > end) return -1;
  }
  return at < 0 ? -1 : low;
}

/** Whether an A or AAAA record of the answer section holds exactly `address` (4 or 16 octets). */
export function answersWith(bytes: Uint8Array, start: number, end: number, address: Uint8Array): boolean {
  const wanted = address.length === 4 ? TYPE_A : TYPE_AAAA;
  let at = skipQuestions(bytes, start, end);
  for (let left = at < 0 ? 0 : word(bytes, start + 6); left > 0; left -= 1) {
    at = skipName(bytes, at, end);
    if (at < 0 || at + 10 > end) return false;
    const length = word(bytes, at + 8);
    const data = at + 10;
    if (data + length > end) return false;
    if (word(bytes, at) === wanted && length === address.length && equalAt(bytes, data, address)) return true;
    at = data + length;
  }
  return false;
}

function equalAt(bytes: Uint8Array, at: number, other: Uint8Array): boolean {
  for (let i = 0; i < other.length; i += 1) if (bytes[at + i] !== other[i]) return false;
  return true;
}

/** Number of records in the answer section, as the header says. */
export function answerCount(bytes: Uint8Array, start: number): number {
  return word(bytes, start + 6);
}

/** One answer that is right; several make up an expectation. */
export interface ExpectedAnswer {
  readonly code: number;
  /** An address that must be among the answers; null for any or none. */
  readonly address: Uint8Array | null;
}

/** Any of these answers is right. */
export type Expectation = readonly ExpectedAnswer[];

/**
 * Reads an expectation: response codes, each with an address that must be in the answer if one is given, and
 * several separated by commas: `NOERROR`, `NOERROR=127.0.0.1,NXDOMAIN`, `127.0.0.1` (NOERROR is meant).
 */
export function parseExpectation(
  text: string,
): { readonly value: Expectation } | { readonly problem: string } {
  const value: ExpectedAnswer[] = [];
  for (const part of text.split(',').map((item) => item.trim())) {
    const [, name = '', given] = /^(?:([A-Za-z]\w*)(?:=|$))?(.+)?$/.exec(part) ?? [];
    const code = name === '' ? 0 : responseCodeNumber(name);
    if (part === '' || code === undefined)
      return { problem: `"${part}" is no response code, such as NOERROR or NXDOMAIN` };
    try {
      value.push({ code, address: given === undefined ? null : addressBytes(given) });
    } catch {
      return { problem: `"${given}" is no IP address: give for example NOERROR=127.0.0.1` };
    }
  }
  return { value };
}

/** Whether the message in `bytes[start, end)` is one of the answers that are expected. */
export function meets(expectation: Expectation, bytes: Uint8Array, start: number, end: number): boolean {
  const code = responseCode(bytes, start, end);
  for (const expected of expectation) {
    if (expected.code !== code) continue;
    if (expected.address === null || answersWith(bytes, start, end, expected.address)) return true;
  }
  return false;
}
