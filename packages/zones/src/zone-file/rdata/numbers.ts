/** Fields that hold a number: plain, as a time, or as a mnemonic of a registry. */
import { typeName, typeNumber } from '@dinodns-bench/wire';
import type { DataReader } from '../record-data.ts';
import { secondsFromText } from '../ttl.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';

const MAXIMA = { u8: 0xff, u16: 0xffff, u32: 0xffff_ffff } as const;
type Width = keyof typeof MAXIMA;

/** A decimal number up to `max`. Throws a `TokenError`. */
export function wholeNumber(text: string, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= max) return value;
  throw wrongToken(text, `a whole number from 0 to ${max}`, 'write decimal digits');
}

function plain(width: Width): FieldKind {
  return {
    parse: (tokens, out) => out[width](wholeNumber(tokens.next('a number'), MAXIMA[width])),
    print: (data) => String(data[width]()),
  };
}

/** SOA timers and the original TTL of signatures: seconds, or `1h30m`. */
const seconds: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('a time in seconds');
    const value = secondsFromText(text);
    if (typeof value !== 'number') {
      throw wrongToken(text, 'a time', 'write seconds, up to 4294967295, or a time such as 1h30m');
    }
    out.u32(value);
  },
  print: (data) => String(data.u32()),
};

/** Numbers by name, from text such as `tcp 6, udp 17`. */
export function numbersByName(text: string): ReadonlyMap<string, number> {
  const entries = text.trim().split(/,\s+/);
  return new Map(entries.map((entry) => entry.split(' ')).map(([name = '', value]) => [name, Number(value)]));
}

/** The number that a name stands for, if `known`, else that of the digits, up to `max`. Throws a `TokenError`. */
export function numberOr(
  known: number | undefined,
  text: string,
  max: number,
  what: string,
  fix: string,
): number {
  if (known !== undefined) return known;
  if (!/^\d+$/.test(text)) throw wrongToken(text, what, fix);
  return wholeNumber(text, max);
}

/** A number or its mnemonic in a registry; `prints` says whether the mnemonic is printed. */
function mnemonic(width: Width, what: string, registry: string, prints: boolean): FieldKind {
  const names = numbersByName(registry);
  const texts = new Map(Array.from(names, ([name, value]) => [value, name]));
  const fix = `write a number, or one of ${[...names.keys()].join(', ')}`;
  return {
    parse(tokens, out) {
      const text = tokens.next(what);
      out[width](numberOr(names.get(text.toUpperCase()), text, MAXIMA[width], what, fix));
    },
    print(data) {
      const value = data[width]();
      return (prints ? texts.get(value) : undefined) ?? String(value);
    },
  };
}

/** IANA registry "DNS Security Algorithm Numbers". */
const ALGORITHMS = `
  RSAMD5 1, DH 2, DSA 3, RSASHA1 5, NSEC3DSA 6, NSEC3RSASHA1 7, RSASHA256 8, RSASHA512 10, ECCGOST 12,
  ECDSAP256SHA256 13, ECDSAP384SHA384 14, ED25519 15, ED448 16, INDIRECT 252, PRIVATEDNS 253, PRIVATEOID 254`;

/** RFC 4398, section 2.1. */
const CERTIFICATE_TYPES =
  'PKIX 1, SPKI 2, PGP 3, IPKIX 4, ISPKI 5, IPGP 6, ACPKIX 7, IACPKIX 8, URI 253, OID 254';

const DIGEST_TYPES = 'SHA-1 1, SHA1 1, SHA-256 2, SHA256 2, GOST 3, SHA-384 4, SHA384 4';

const PROTOCOLS = 'NONE 0, TLS 1, EMAIL 2, DNSSEC 3, IPSEC 4, ALL 255';

/** The 14 digits of a time in UTC, or seconds since 1970 modulo 2^32 (RFC 4034, section 3.2). */
const signatureTime: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('a time');
    const value = /^\d{14}$/.test(text) ? secondsOfDate(text) : wholeNumber(text, MAXIMA.u32);
    if (Number.isNaN(value)) throw wrongToken(text, 'a date', 'write YYYYMMDDHHMMSS, such as 20260131235959');
    out.u32(value % 2 ** 32);
  },
  print: (data) => dateOf(data.u32()),
};

function secondsOfDate(text: string): number {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text) ?? [];
  const leap = second === '60' ? 1 : 0;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${leap === 1 ? '59' : second}Z`;
  const date = new Date(iso);
  const isDay = date.getUTCDate() === Number(day);
  return isDay && Number(year) >= 1970 ? date.getTime() / 1000 + leap : Number.NaN;
}

/** The date that a 32-bit time stands for: the one nearest to now (serial number arithmetic, RFC 1982). */
function dateOf(value: number): string {
  const now = Math.floor(Date.now() / 1000);
  const time = value + Math.round((now - value) / 2 ** 32) * 2 ** 32;
  return new Date(time * 1000).toISOString().replace(/[-:T]|\.\d+Z/g, '');
}

/** Throws a `TokenError`. */
export function nextType(tokens: Tokens): number {
  const text = tokens.next('a record type');
  const type = typeNumber(text);
  if (type === undefined) throw wrongToken(text, 'a record type', 'write a type such as A, or TYPE65280');
  return type;
}

const typeCovered: FieldKind = {
  parse: (tokens, out) => out.u16(nextType(tokens)),
  print: (data: DataReader) => typeName(data.u16()),
};

/** As SIG prints it: RFC 2535 predates the form `TYPE65280`. */
const oldTypeCovered: FieldKind = {
  parse: typeCovered.parse,
  print: (data) => typeName(data.u16()).replace(/^TYPE(?=\d)/, ''),
};

/** RFC 2535, section 3.1.2: flags of KEY records by name, joined by `|`. */
const KEY_FLAGS = numbersByName(`
  NOCONF 0x4000, NOAUTH 0x8000, NOKEY 0xc000, FLAG2 0x2000, EXTEND 0x1000, FLAG4 0x0800, FLAG5 0x0400, USER 0,
  ZONE 0x0100, HOST 0x0200, NTYP3 0x0300, FLAG8 0x0080, FLAG9 0x0040, FLAG10 0x0020, FLAG11 0x0010, KSK 1,
  SIG0 0, SIG1 1, SIG2 2, SIG3 3, SIG4 4, SIG5 5, SIG6 6, SIG7 7, SIG8 8, SIG9 9, SIG10 10, SIG11 11, SIG12 12,
  SIG13 13, SIG14 14, SIG15 15`);

function keyFlag(word: string): number {
  const flag = KEY_FLAGS.get(word.toUpperCase());
  if (flag === undefined) throw wrongToken(word, 'a key flag', 'write a number, such as 257');
  return flag;
}

const keyFlags: FieldKind = {
  parse(tokens, out) {
    const text = tokens.next('the flags');
    if (/^\d/.test(text)) out.u16(wholeNumber(text, MAXIMA.u16));
    else out.u16(text.split('|').reduce((flags, word) => flags | keyFlag(word), 0));
  },
  print: (data) => String(data.u16()),
};

export const NUMBER_KINDS = {
  u8: plain('u8'),
  u16: plain('u16'),
  u32: plain('u32'),
  seconds,
  algorithm: mnemonic('u8', 'an algorithm', ALGORITHMS, false),
  /** CERT prints the mnemonic. */
  algorithmName: mnemonic('u8', 'an algorithm', ALGORITHMS, true),
  certificateType: mnemonic('u16', 'a certificate type', CERTIFICATE_TYPES, true),
  digestType: mnemonic('u8', 'a digest type', DIGEST_TYPES, false),
  protocol: mnemonic('u8', 'a protocol', PROTOCOLS, false),
  signatureTime,
  typeCovered,
  oldTypeCovered,
  keyFlags,
} satisfies Record<string, FieldKind>;
