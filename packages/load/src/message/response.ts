/**
 * Reads a response in place and without allocation: the generator handles hundreds of thousands a second. Nothing
 * is trusted: every offset is checked against the end of the message.
 */
import {
  addressBytes,
  HEADER_BYTES,
  RCODE_MASK,
  rcodeNumber,
  skipName,
  TYPE,
  u16,
} from '@dinodns-bench/wire';
import type { CannonOptions } from '../options.ts';

/** What is expected of answers. */
type Expected = NonNullable<CannonOptions['expect']>;

/** As expected, or the first mismatch. */
export const VERDICT = { asExpected: 0, wrongCode: 1, wrongAddress: 2, malformed: 3, stale: 4 } as const;
export type Verdict = (typeof VERDICT)[keyof typeof VERDICT];

/**
 * Checks the message `bytes[offset, offset + length)`, whose question is known to be the query's and ends at
 * `answersOffset`. Never throws, never reads outside the message, never allocates.
 */
export type Check = (bytes: Uint8Array, offset: number, length: number, answersOffset: number) => Verdict;

/** The offset of the type of the record at `at`, after its name; -1 if its fixed part or its data is cut off. */
function recordAt(bytes: Uint8Array, at: number, end: number): number {
  const fixed = skipName(bytes, at, end);
  if (fixed < 0 || fixed + 10 > end) return -1;
  return fixed + 10 + u16(bytes, fixed + 8) <= end ? fixed : -1;
}

function afterRecord(bytes: Uint8Array, fixed: number): number {
  return fixed + 10 + u16(bytes, fixed + 8);
}

/**
 * The response code of the message in `bytes[start, end)`, 0 to 4095 with the upper bits from its OPT record
 * (RFC 6891 §6.1.3); -1 if a record is cut off. Records begin at `recordsAt`, after the question.
 */
export function responseCode(bytes: Uint8Array, start: number, end: number, recordsAt: number): number {
  if (end - start < HEADER_BYTES) return -1;
  const low = (bytes[start + 3] ?? 0) & RCODE_MASK;
  if (u16(bytes, start + 10) === 0) return low;
  let at = recordsAt;
  const records = u16(bytes, start + 6) + u16(bytes, start + 8) + u16(bytes, start + 10);
  for (let left = records; left > 0; left -= 1) {
    const fixed = recordAt(bytes, at, end);
    if (fixed < 0) return -1;
    if (u16(bytes, fixed) === TYPE.OPT) return low | ((bytes[fixed + 4] ?? 0) << 4);
    at = afterRecord(bytes, fixed);
  }
  return low;
}

/**
 * Where the data of an EDNS option begins, its length in the two bytes before; -1 if the message has none. The data
 * is complete.
 */
export function optionAt(
  bytes: Uint8Array,
  start: number,
  end: number,
  recordsAt: number,
  option: number,
): number {
  let at = recordsAt;
  const records = u16(bytes, start + 6) + u16(bytes, start + 8) + u16(bytes, start + 10);
  for (let left = records; left > 0; left -= 1) {
    const fixed = recordAt(bytes, at, end);
    if (fixed < 0) return -1;
    at = afterRecord(bytes, fixed);
    if (u16(bytes, fixed) !== TYPE.OPT) continue;
    for (let next = fixed + 10; next + 4 <= at; next += 4 + u16(bytes, next + 2)) {
      if (u16(bytes, next) === option) return next + 4 + u16(bytes, next + 2) <= at ? next + 4 : -1;
    }
    return -1;
  }
  return -1;
}

function equalAt(bytes: Uint8Array, at: number, other: Uint8Array): boolean {
  for (let i = 0; i < other.length; i += 1) if (bytes[at + i] !== other[i]) return false;
  return true;
}

function isOneOf(addresses: readonly Uint8Array[], bytes: Uint8Array, at: number, length: number): boolean {
  for (const address of addresses) if (address.length === length && equalAt(bytes, at, address)) return true;
  return false;
}

/** Tenths of a second in 24 bits repeat; what seems to be older than half of that is of a clock that is ahead. */
const STAMPS = 2 ** 24;

/** The age of the first IPv4 address of an answer in seconds, if it is a stamp of `maxAgeSeconds`; else 0. */
function ageOf(bytes: Uint8Array, offset: number, end: number, answersOffset: number): number {
  let at = answersOffset;
  for (let left = u16(bytes, offset + 6); left > 0; left -= 1) {
    const fixed = recordAt(bytes, at, end);
    if (fixed < 0) return 0;
    at = afterRecord(bytes, fixed);
    if (u16(bytes, fixed) !== TYPE.A) continue;
    if (u16(bytes, fixed + 8) !== 4 || bytes[fixed + 10] !== 10) return 0;
    const made = ((bytes[fixed + 11] ?? 0) << 16) | u16(bytes, fixed + 12);
    const age = (Math.floor(Date.now() / 100) - made) & (STAMPS - 1);
    return age < STAMPS / 2 ? age / 10 : 0;
  }
  return 0;
}

/**
 * A check for responses, or null if nothing is expected. If addresses are expected, a NOERROR answer must have one
 * of them in an A or AAAA record of its answer section; other codes have no addresses and are checked alone.
 * @throws RangeError for an invalid address.
 */
export function responseCheck(expected: Expected): Check | null {
  const codes = new Set(expected.codes);
  const addresses = expected.addresses.map(addressBytes);
  const { maxAgeSeconds } = expected;
  if (codes.size === 0 && addresses.length === 0 && maxAgeSeconds === null) return null;
  return (bytes, offset, length, answersOffset) => {
    const end = offset + length;
    const code = responseCode(bytes, offset, end, answersOffset);
    if (code < 0) return VERDICT.malformed;
    if (codes.size > 0 && !codes.has(code)) return VERDICT.wrongCode;
    if (maxAgeSeconds !== null && code === 0 && ageOf(bytes, offset, end, answersOffset) > maxAgeSeconds)
      return VERDICT.stale;
    if (addresses.length === 0 || code !== 0) return VERDICT.asExpected;
    let at = answersOffset;
    for (let left = u16(bytes, offset + 6); left > 0; left -= 1) {
      const fixed = recordAt(bytes, at, end);
      if (fixed < 0) return VERDICT.malformed;
      const type = u16(bytes, fixed);
      const isAddress = type === TYPE.A || type === TYPE.AAAA;
      if (isAddress && isOneOf(addresses, bytes, fixed + 10, u16(bytes, fixed + 8)))
        return VERDICT.asExpected;
      at = afterRecord(bytes, fixed);
    }
    return VERDICT.wrongAddress;
  };
}

/**
 * Parses the value of `--expect`: response codes and addresses, separated by commas or spaces, such as
 * `NOERROR,NXDOMAIN,127.0.0.1`. An address alone means NOERROR with that address.
 */
export function parseExpected(
  text: string,
): { readonly value: Omit<Expected, 'maxAgeSeconds'> } | { readonly problem: string } {
  const codes: number[] = [];
  const addresses: string[] = [];
  for (const part of text.split(/[\s,]+/).filter((item) => item !== '')) {
    const code = rcodeNumber(part);
    if (code !== undefined) codes.push(code);
    else if (isAddress(part)) addresses.push(part);
    else return { problem: `"${part}" is neither a response code, such as NXDOMAIN, nor an IP address` };
  }
  if (codes.length === 0 && addresses.length === 0)
    return { problem: 'nothing is expected: give response codes or addresses, such as NOERROR,127.0.0.1' };
  return { value: { codes: codes.length === 0 ? [0] : codes, addresses } };
}

function isAddress(text: string): boolean {
  try {
    return addressBytes(text).length > 0;
  } catch {
    return false;
  }
}
