/** Writes ASN.1 values in DER (X.690): the few kinds that a certificate is made of. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Of a context-specific value: `[n]` around another value, or `[n]` in place of its tag. */
const EXPLICIT = 0xa0;
const IMPLICIT = 0x80;

/** UTCTime has two digits for the year, and certificates use it until 2049 (RFC 5280, section 4.1.2.5). */
const FIRST_YEAR_OF_GENERALIZED_TIME = 2050;

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits = bytes < 0x100 ? [bytes] : [bytes >> 8, bytes & 0xff];
  return Buffer.from([0x80 + digits.length, ...digits]);
}

/** @param contents At most 65,535 bytes in all. */
function value(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export const sequence = (...items: readonly Buffer[]): Buffer => value(TAG.sequence, ...items);
export const set = (...items: readonly Buffer[]): Buffer => value(TAG.set, ...items);
export const octetString = (content: Buffer): Buffer => value(TAG.octetString, content);
export const utf8String = (text: string): Buffer => value(TAG.utf8String, Buffer.from(text));
export const isTrue = (): Buffer => value(TAG.boolean, Buffer.from([0xff]));

/** A positive integer, given by its bytes, the most significant first. */
export function integer(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start === -1 ? Buffer.from([0]) : bytes.subarray(start);
  // A set top bit would make it negative.
  const sign = (digits[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : [];
  return value(TAG.integer, ...sign, digits);
}

/** @param unusedBits At the end of the last byte. */
export function bitString(content: Buffer, unusedBits = 0): Buffer {
  return value(TAG.bitString, Buffer.from([unusedBits]), content);
}

/** An object identifier from its text, `1.2.840.10045.4.3.2`. */
export function objectIdentifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return value(TAG.objectIdentifier, Buffer.from(bytes));
}

/** A moment in UTC, in whole seconds. */
export function time(moment: Date): Buffer {
  const digits = moment.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return moment.getUTCFullYear() < FIRST_YEAR_OF_GENERALIZED_TIME
    ? value(TAG.utcTime, Buffer.from(digits.slice(2)))
    : value(TAG.generalizedTime, Buffer.from(digits));
}

export const explicit = (number: number, content: Buffer): Buffer => value(EXPLICIT + number, content);
export const implicit = (number: number, content: Buffer): Buffer => value(IMPLICIT + number, content);
