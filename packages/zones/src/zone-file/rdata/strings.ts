/** Fields that hold text: character strings (RFC 1035, section 3.3), and text up to the end of the data. */
import { MAX_STRING_BYTES } from '@dinodns-bench/wire';
import { escapedByte } from '../names.ts';
import { TokenError } from '../problem.ts';
import { DataError, type DataReader, type DataWriter } from '../record-data.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';

/** How each byte of a quoted string is written. */
const BYTE_TEXT = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (character === '"' || character === '\\') return `\\${character}`;
  return byte >= 0x20 && byte < 0x7f ? character : escapedByte(byte);
});

export function quotedText(bytes: Uint8Array): string {
  let text = '"';
  for (const byte of bytes) text += BYTE_TEXT[byte];
  return `${text}"`;
}

function writeString(bytes: Uint8Array, out: DataWriter): void {
  if (bytes.length > MAX_STRING_BYTES) {
    const fix = `split it into strings of at most ${MAX_STRING_BYTES} bytes: "…" "…"`;
    throw new TokenError(`a string has ${bytes.length} bytes`, fix);
  }
  out.u8(bytes.length);
  out.bytes(bytes);
}

function parseString(tokens: Tokens, out: DataWriter): void {
  writeString(tokens.nextBytes('a string'), out);
}

function printString(data: DataReader): string {
  return quotedText(data.bytes(data.u8()));
}

const string: FieldKind = { parse: parseString, print: printString };

const strings: FieldKind = {
  parse(tokens, out) {
    do parseString(tokens, out);
    while (tokens.hasMore);
  },
  print: (data) => data.untilEnd(() => printString(data)).join(' '),
};

/** One string, or none: ISDN's subaddress. */
const optionalString: FieldKind = {
  parse(tokens, out) {
    if (tokens.hasMore) parseString(tokens, out);
  },
  print: (data) => (data.left > 0 ? printString(data) : ''),
};

/** Text without a length, up to the end of the data. */
const text: FieldKind = {
  parse: (tokens, out) => out.bytes(tokens.nextBytes('a string')),
  print: (data) => quotedText(data.rest()),
};

/** Printed without quotes: the tag of CAA records (RFC 8659, section 4.1). */
const tag: FieldKind = {
  parse(tokens, out) {
    const value = tokens.next('a tag');
    if (!/^[a-z0-9]+$/i.test(value)) {
      throw wrongToken(value, 'a tag', 'write letters and digits only, such as issue, issuewild or iodef');
    }
    writeString(Buffer.from(value, 'latin1'), out);
  },
  print(data) {
    const value = data.bytes(data.u8()).toString('latin1');
    if (!/^[a-z0-9]+$/i.test(value))
      throw new DataError('the tag has characters other than letters and digits');
    return value;
  },
};

/** X.121 address of at least four digits (RFC 1183, section 3.1). */
const digits: FieldKind = {
  parse(tokens, out) {
    const value = tokens.nextBytes('a number');
    const digits = value.toString('latin1');
    if (!/^\d{4,}$/.test(digits))
      throw wrongToken(digits, 'a number of at least 4 digits', 'write digits only');
    writeString(value, out);
  },
  print: printString,
};

export const STRING_KINDS = { string, strings, optionalString, text, tag, digits } satisfies Record<
  string,
  FieldKind
>;
