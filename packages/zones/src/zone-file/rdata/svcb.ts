/** The parameters of SVCB and HTTPS records (RFC 9460): `alpn=h2,h3 port=443 ipv4hint=192.0.2.1`. */

import { addressText } from '@dinodns-bench/wire';
import { TokenError } from '../problem.ts';
import { DataError, DataReader, type DataWriter } from '../record-data.ts';
import { ipv4Bytes, ipv6Bytes } from './addresses.ts';
import { base64Bytes } from './binary.ts';
import { type FieldKind, type Tokens, unescaped, written, wrongToken } from './field.ts';
import { wholeNumber } from './numbers.ts';
import { quotedText } from './strings.ts';

/** How the value of a key is read and printed. */
interface Parameter {
  /** `text` is the value with its escapes; undefined for a key without `=`. */
  parse(text: Uint8Array | undefined, name: string): Buffer;
  print(value: DataReader): string;
}

const MANDATORY = 0;
const ALPN = 1;
const NO_DEFAULT_ALPN = 2;
const MAX_KEY = 65_535;

function needed(text: Uint8Array | undefined, name: string): Uint8Array {
  if (text !== undefined && text.length > 0) return text;
  throw new TokenError(`the key ${name} has no value`, `write ${name}=…`);
}

/** Values separated by commas. A comma within a value has a backslash before it, which the zone file doubles: `\\,`. */
function listOf(text: Uint8Array, name: string): Buffer[] {
  const items: number[][] = [[]];
  const bytes = unescaped(text);
  for (let index = 0; index < bytes.length; index++) {
    let byte = bytes[index] ?? 0;
    if (byte === 0x2c) {
      items.push([]);
      continue;
    }
    if (byte === 0x5c) byte = bytes[++index] ?? byte;
    items.at(-1)?.push(byte);
  }
  if (items.some((item) => item.length === 0)) {
    throw new TokenError(`the list of ${name} has an empty item`, 'remove the extra comma');
  }
  return items.map((item) => Buffer.from(item));
}

function eachOf(text: Uint8Array | undefined, name: string, bytesOf: (item: string) => Uint8Array): Buffer {
  return Buffer.concat(listOf(needed(text, name), name).map((item) => bytesOf(item.toString('latin1'))));
}

function u16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

const mandatory: Parameter = {
  parse(text, name) {
    const keys = listOf(needed(text, name), name).map((item) => keyOf(item.toString('latin1')));
    keys.sort((a, b) => a - b);
    if (new Set(keys).size < keys.length || keys.includes(MANDATORY)) {
      throw new TokenError(
        'the list of mandatory keys has a key twice, or "mandatory" itself',
        'list each other key once',
      );
    }
    return Buffer.concat(keys.map(u16));
  },
  print: (value) => value.untilEnd(() => keyText(value.u16())).join(','),
};

/** Characters with a special meaning in lists. */
const COMMA_OR_BACKSLASH = /[,\\]/g;

const alpn: Parameter = {
  parse: (text, name) =>
    written((out) => {
      for (const protocol of listOf(needed(text, name), name)) {
        if (protocol.length > 255) throw new TokenError('a protocol has more than 255 bytes', 'shorten it');
        out.u8(protocol.length);
        out.bytes(protocol);
      }
    }),
  print(value) {
    const items = value.untilEnd(() => value.bytes(value.u8()).toString('latin1'));
    return quotedText(
      Buffer.from(items.map((item) => item.replace(COMMA_OR_BACKSLASH, '\\$&')).join(','), 'latin1'),
    );
  },
};

const flag: Parameter = {
  parse(text, name) {
    if (text === undefined || text.length === 0) return Buffer.alloc(0);
    throw new TokenError(`the key ${name} has a value`, `write ${name} alone`);
  },
  print: () => '',
};

const port: Parameter = {
  parse: (text, name) => u16(wholeNumber(Buffer.from(needed(text, name)).toString('latin1'), 65_535)),
  print: (value) => String(value.u16()),
};

const ipv4hint: Parameter = {
  parse: (text, name) => eachOf(text, name, ipv4Bytes),
  print: (value) => value.untilEnd(() => addressText(value.bytes(4))).join(','),
};

const ech: Parameter = {
  parse: (text, name) => base64Bytes(Buffer.from(needed(text, name)).toString('latin1').replaceAll(' ', '')),
  print: (value) => value.rest().toString('base64'),
};

const ipv6hint: Parameter = {
  parse: (text, name) => eachOf(text, name, ipv6Bytes),
  print: (value) => value.untilEnd(() => addressText(value.bytes(16))).join(','),
};

/** By key, as their names. */
const KNOWN: readonly Parameter[] = [mandatory, alpn, flag, port, ipv4hint, ech, ipv6hint];
const NAMES = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint'];
/** The last two are read by name but printed by number, because older programs do not know them (RFC 9461, 9540). */
const READ_BY_NAME = [...NAMES, 'dohpath', 'ohttp'];

function keyOf(name: string): number {
  const known = READ_BY_NAME.indexOf(name);
  if (known !== -1) return known;
  const [, digits] = /^key(0|[1-9]\d{0,4})$/.exec(name) ?? [];
  if (digits !== undefined && Number(digits) <= MAX_KEY) return Number(digits);
  throw wrongToken(name, 'a key', `write ${NAMES.join(', ')}, or keyNNNNN`);
}

function keyText(key: number): string {
  return NAMES[key] ?? `key${key}`;
}

/** A key with its value: the rest of the token, or a quoted token right after it. */
function parseParameter(tokens: Tokens): { key: number; value: Buffer } {
  const token = tokens.nextRaw('a parameter');
  const equals = token.indexOf(0x3d);
  const name = Buffer.from(equals === -1 ? token : token.subarray(0, equals)).toString('latin1');
  let text = equals === -1 ? undefined : token.subarray(equals + 1);
  const isQuoted = text?.length === 0 && tokens.hasMore && tokens.entry.isQuoted(tokens.at);
  if (isQuoted && tokens.entry.isAttached(tokens.at)) text = tokens.nextRaw('a value');
  const key = keyOf(name);
  // `key1` instead of `alpn` takes the value as plain bytes.
  const known = NAMES.includes(name) ? KNOWN[key] : undefined;
  const value = known?.parse(text, name) ?? (text === undefined ? Buffer.alloc(0) : unescaped(text));
  if (known === undefined) checkBytes(key, value);
  return { key, value };
}

function checkBytes(key: number, value: Buffer): void {
  try {
    valueText(key, value);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    throw new TokenError(
      `the value is not valid for ${keyText(key)}: ${error.message}`,
      `write ${keyText(key)}=…`,
    );
  }
}

function check(values: ReadonlyMap<number, Buffer>): void {
  const required = values.get(MANDATORY) ?? Buffer.alloc(0);
  for (let at = 0; at < required.length; at += 2) {
    const key = required.readUInt16BE(at);
    if (values.has(key)) continue;
    throw new TokenError(
      `the mandatory key ${keyText(key)} is missing`,
      'add it, or remove it from the list',
    );
  }
  if (values.has(NO_DEFAULT_ALPN) && !values.has(ALPN)) {
    throw new TokenError('no-default-alpn needs alpn', 'add alpn=…, or remove it (RFC 9460, section 7.1.1)');
  }
}

function parse(tokens: Tokens, out: DataWriter): void {
  const values = new Map<number, Buffer>();
  while (tokens.hasMore) {
    const { key, value } = parseParameter(tokens);
    if (values.has(key)) throw new TokenError(`the key ${keyText(key)} is given twice`, 'give it once');
    values.set(key, value);
  }
  check(values);
  for (const [key, value] of [...values].sort(([a], [b]) => a - b)) {
    out.u16(key);
    out.u16(value.length);
    out.bytes(value);
  }
}

/** The text after the `=` of a key; empty if there is none. */
function valueText(key: number, value: Buffer): string {
  const known = KNOWN[key];
  if (known === undefined) return value.length === 0 ? '' : quotedText(value);
  if (key === NO_DEFAULT_ALPN && value.length === 0) return '';
  const reader = new DataReader(value);
  const text = known.print(reader);
  if (reader.left > 0) throw new DataError('its length is wrong');
  return text;
}

const parameters: FieldKind = {
  parse,
  print(data) {
    const texts: string[] = [];
    while (data.left > 0) {
      const key = data.u16();
      const text = valueText(key, data.bytes(data.u16()));
      texts.push(text === '' ? keyText(key) : `${keyText(key)}=${text}`);
    }
    return texts.join(' ');
  },
};

export const SVCB_KINDS = { parameters } satisfies Record<string, FieldKind>;
