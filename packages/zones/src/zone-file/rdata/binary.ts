/** Fields that hold binary data as hexadecimal digits or base64, which may be split by blanks. */

import { TokenError } from '../problem.ts';
import type { DataReader, DataWriter } from '../record-data.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';
import { wholeNumber } from './numbers.ts';

/** Characters per word of long data when it is printed, as in BIND's tools. */
const WORD = 56;

function words(text: string): string {
  if (text.length <= WORD) return text;
  return text.match(new RegExp(`.{1,${WORD}}`, 'g'))?.join(' ') ?? text;
}

/** Decodes hexadecimal digits. Throws a `TokenError`. */
export function hexBytes(text: string): Buffer {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) {
    const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw wrongToken(shown, 'hexadecimal data', 'write two digits (0-9, a-f) for each byte');
  }
  return Buffer.from(text, 'hex');
}

export function hexText(bytes: Buffer): string {
  return bytes.toString('hex').toUpperCase();
}

/** Throws a `TokenError`. */
export function base64Bytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text && !/[-_]/.test(text)) return bytes;
  // The last digit may have bits beyond the end of the data.
  if (/^(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i.test(text)) {
    throw wrongToken(end(text), 'base64', 'encode the data again: there are bits after its end');
  }
  throw wrongToken(
    end(text),
    'base64',
    'write groups of four of A-Z, a-z, 0-9, + and /, the last one padded with =',
  );
}

function end(text: string): string {
  return text.length > 40 ? `…${text.slice(-40)}` : text;
}

function rest(tokens: Tokens, what: string): string {
  return tokens.next(what) + tokens.rest();
}

const hex: FieldKind = {
  parse: (tokens, out) => out.bytes(hexBytes(rest(tokens, 'hexadecimal data'))),
  print: (data) => words(hexText(data.rest())),
};

const base64: FieldKind = {
  parse: (tokens, out) => out.bytes(base64Bytes(rest(tokens, 'data in base64'))),
  print: (data) => words(data.rest().toString('base64')),
};

/** RFC 2535, section 3.1.2: the flags say that there is no key. */
const NO_KEY = 0xc0;

/** The key of a record whose data begins with flags. */
const publicKey: FieldKind = {
  parse(tokens, out) {
    const hasKey = (out.at(0) & NO_KEY) !== NO_KEY;
    out.bytes(base64Bytes(hasKey ? rest(tokens, 'a public key in base64') : tokens.rest()));
  },
  print: base64.print,
};

/** Data in base64, or nothing. */
const optionalBase64: FieldKind = {
  parse: (tokens, out) => out.bytes(base64Bytes(tokens.rest())),
  print: base64.print,
};

/** DOA's data: never split when printed, and `-` if it is empty. */
const dashBase64: FieldKind = {
  parse(tokens, out) {
    const text = rest(tokens, 'data in base64, or -');
    if (text !== '-') out.bytes(base64Bytes(text));
  },
  print: (data) => (data.left === 0 ? '-' : data.rest().toString('base64')),
};

function parseSalt(tokens: Tokens, out: DataWriter): void {
  const text = tokens.next('a salt, or -');
  const bytes = text === '-' ? Buffer.alloc(0) : hexBytes(text);
  if (bytes.length > 255) throw new TokenError('the salt has more than 255 bytes', 'shorten it');
  out.u8(bytes.length);
  out.bytes(bytes);
}

const salt: FieldKind = {
  parse: parseSalt,
  print(data) {
    const length = data.u8();
    return length === 0 ? '-' : hexText(data.bytes(length));
  },
};

const DIGITS_32 = '0123456789ABCDEFGHIJKLMNOPQRSTUV';

/** Base32 with the extended hexadecimal alphabet, without padding (RFC 5155, section 3.3). */
const nextHash: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('the next hashed owner');
    const bytes = base32Bytes(text);
    if (bytes === undefined) {
      throw wrongToken(text, 'a hash in base32', 'write the digits 0-9 and A-V, without padding');
    }
    out.u8(bytes.length);
    out.bytes(bytes);
  },
  print: (data) => base32Text(data.bytes(data.u8())),
};

function base32Bytes(text: string): Buffer | undefined {
  if (!/^[0-9a-v]+$/i.test(text) || [1, 3, 6].includes(text.length % 8)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const digit of text.toUpperCase()) {
    value = (value << 5) | DIGITS_32.indexOf(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(value >> bits);
    value &= (1 << bits) - 1;
  }
  return value === 0 && bytes.length <= 255 ? Buffer.from(bytes) : undefined;
}

function base32Text(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += DIGITS_32[value >> bits];
      value &= (1 << bits) - 1;
    }
  }
  return bits === 0 ? text : text + (DIGITS_32[value << (5 - bits)] ?? '');
}

/** A digest, whose length in bytes depends on the type before it; that of a type not in `lengths` is at least `min`. */
function digestOf(lengths: Readonly<Record<number, number>>, min: number): FieldKind {
  return {
    parse(tokens, out) {
      const type = out.at(out.length - 1);
      const bytes = hexBytes(rest(tokens, 'the digest'));
      const wanted = lengths[type];
      if (wanted === undefined ? bytes.length < min : bytes.length !== wanted) {
        const problem = `a digest of type ${type} has ${wanted ?? `at least ${min}`} bytes, not ${bytes.length}`;
        const digits = 2 * (wanted ?? min);
        throw new TokenError(problem, `give ${digits} hexadecimal digits, or correct the digest type`);
      }
      out.bytes(bytes);
    },
    print: hex.print,
  };
}

/** ZONEMD (RFC 8976, section 2.2.3). */
const zoneDigest = digestOf({ 1: 48, 2: 64 }, 12);

/** DS and similar records (RFC 4034, RFC 4509, RFC 6605). */
const digest = digestOf({ 1: 20, 2: 32, 3: 32, 4: 48 }, 0);

/** RFC 3597, section 5: `\# LENGTH HEX`. */
export const GENERIC: FieldKind = {
  parse(tokens, out) {
    const length = wholeNumber(tokens.next('the length'), 65_535);
    const bytes = hexBytes(tokens.rest());
    if (bytes.length !== length) {
      const problem = `the length of the data is ${bytes.length}, not ${length}`;
      throw new TokenError(problem, `write \\# ${bytes.length}, or give all of the data`);
    }
    out.bytes(bytes);
  },
  print(data: DataReader) {
    const { left } = data;
    return left === 0 ? '\\# 0' : `\\# ${left} ${words(hexText(data.rest()))}`;
  },
};

export const BINARY_KINDS = {
  hex,
  base64,
  optionalBase64,
  publicKey,
  dashBase64,
  salt,
  nextHash,
  digest,
  zoneDigest,
} satisfies Record<string, FieldKind>;
