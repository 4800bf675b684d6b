/**
 * The data of records: the fields of each type in order, and data as objects in the shape of the npm package dns-packet. To add
 * a type, add a line to `FIELDS`.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { addressBytes } from './addresses.ts';
import { encodeName, nameText } from './name-text.ts';
import { findNameEnd } from './names.ts';
import { CLASS, type TypeName, typeNumber } from './types.ts';

/** The kinds of each type's fields. Data without fields is written only as `\# LENGTH HEX` (RFC 3597). */
const FIELDS = {
  A: 'ipv4',
  NS: 'name',
  MD: 'name',
  MF: 'name',
  CNAME: 'name',
  SOA: 'name name u32 seconds seconds seconds seconds',
  MB: 'name',
  MG: 'name',
  MR: 'name',
  NULL: '',
  WKS: 'services',
  PTR: 'name',
  HINFO: 'string string',
  MINFO: 'name name',
  MX: 'u16 name',
  TXT: 'strings',
  RP: 'name name',
  AFSDB: 'u16 name',
  X25: 'digits',
  ISDN: 'string optionalString',
  RT: 'u16 name',
  NSAP: 'nsapAddress',
  'NSAP-PTR': 'name',
  SIG: 'oldTypeCovered algorithm u8 seconds signatureTime signatureTime u16 name base64',
  KEY: 'keyFlags protocol algorithm publicKey',
  PX: 'u16 name name',
  GPOS: 'string string string',
  AAAA: 'ipv6',
  LOC: 'location',
  NXT: 'name nxtBitmap',
  EID: 'hex',
  NIMLOC: 'hex',
  SRV: 'u16 u16 u16 name',
  ATMA: 'atmAddress',
  NAPTR: 'u16 u16 string string string name',
  KX: 'u16 name',
  CERT: 'certificateType u16 algorithmName base64',
  A6: 'a6',
  DNAME: 'name',
  SINK: 'u8 u8 u8 optionalBase64',
  APL: 'prefixes',
  DS: 'u16 algorithm digestType digest',
  SSHFP: 'u8 u8 hex',
  IPSECKEY: 'u8 ipsecGateway optionalBase64',
  RRSIG: 'typeCovered algorithm u8 seconds signatureTime signatureTime u16 name base64',
  NSEC: 'name typeBitmap',
  DNSKEY: 'keyFlags protocol algorithm publicKey',
  DHCID: 'base64',
  NSEC3: 'u8 u8 u16 salt nextHash typeBitmap',
  NSEC3PARAM: 'u8 u8 u16 salt',
  TLSA: 'u8 u8 u8 hex',
  SMIMEA: 'u8 u8 u8 hex',
  HIP: 'hostIdentity',
  NINFO: 'strings',
  RKEY: 'keyFlags protocol algorithm publicKey',
  TALINK: 'name name',
  CDS: 'u16 algorithm digestType digest',
  CDNSKEY: 'keyFlags protocol algorithm publicKey',
  OPENPGPKEY: 'base64',
  CSYNC: 'u32 u16 typeBitmap',
  ZONEMD: 'u32 u8 u8 zoneDigest',
  SVCB: 'u16 name parameters',
  HTTPS: 'u16 name parameters',
  DSYNC: 'typeCovered u8 u16 name',
  HHIT: 'base64',
  BRID: 'base64',
  SPF: 'strings',
  UINFO: '',
  UID: '',
  GID: '',
  UNSPEC: '',
  NID: 'u16 locator64',
  L32: 'u16 ipv4',
  L64: 'u16 locator64',
  LP: 'u16 name',
  EUI48: 'eui48',
  EUI64: 'eui64',
  URI: 'u16 u16 text',
  CAA: 'u8 tag text',
  AVC: 'strings',
  DOA: 'u32 u32 u8 string dashBase64',
  AMTRELAY: 'u8 relay',
  RESINFO: 'strings',
  WALLET: 'strings',
  CLA: 'strings',
  IPN: '',
  TA: 'u16 algorithm digestType digest',
  DLV: 'u16 algorithm digestType digest',
} satisfies Partial<Record<TypeName, string>>;

/** The keys of data that is an object. The data of other types is the value of their only field. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  SOA: ['mname', 'rname', 'serial', 'refresh', 'retry', 'expire', 'minimum'],
  MX: ['preference', 'exchange'],
  RP: ['mbox', 'txt'],
  SRV: ['priority', 'weight', 'port', 'target'],
  CAA: ['flags', 'tag', 'value'],
};

/** Sizes in bytes of the fields that can precede a name. */
const SIZES: Readonly<Record<string, number>> = {
  u8: 1,
  u16: 2,
  u32: 4,
  seconds: 4,
  typeCovered: 2,
  oldTypeCovered: 2,
  algorithm: 1,
  signatureTime: 4,
};

/** A character string: its length takes one byte (RFC 1035 §3.3). */
export const MAX_STRING_BYTES = 255;

/** The mnemonics of all types whose fields are known, which are those that a zone file can hold. */
export const DATA_TYPES: readonly string[] = Object.keys(FIELDS);

const NO_FIELDS: readonly string[] = [];

const fields = new Map(
  Object.entries(FIELDS).map(([name, kinds]) => [
    typeNumber(name),
    kinds === '' ? NO_FIELDS : kinds.split(' '),
  ]),
);

/** The kinds of a type's fields; none for an unknown type. */
export function fieldsOf(type: number): readonly string[] {
  return fields.get(type) ?? NO_FIELDS;
}

/** The keys of a type's data if it is an object in the shape of dns-packet; none if it is the value of the only field. */
export function keysOf(type: string): readonly string[] {
  return KEYS[type] ?? NO_FIELDS;
}

/** Where the names of a type's data are: after `before` bytes come `names` names. None if no field of a known size precedes them. */
export function namesAt(type: number): { readonly before: number; readonly names: number } {
  const kinds = fieldsOf(type);
  const first = kinds.indexOf('name');
  const before = kinds
    .slice(0, Math.max(first, 0))
    .reduce((sum, kind) => sum + (SIZES[kind] ?? Number.NaN), 0);
  if (first === -1 || Number.isNaN(before)) return { before: 0, names: 0 };
  const after = kinds.findIndex((kind, index) => index > first && kind !== 'name');
  return { before, names: (after === -1 ? kinds.length : after) - first };
}

/** Start and end of each name in uncompressed data; of those after a field of unknown size, none. */
export function* namesIn(
  type: number,
  data: Uint8Array,
): Generator<[start: number, end: number], void, void> {
  let at = 0;
  for (const kind of fieldsOf(type)) {
    const start = at;
    if (kind === 'name') at = findNameEnd(data, start);
    else if (kind === 'string') at += 1 + (data[at] ?? 0);
    else at += SIZES[kind] ?? Number.NaN;
    if (!(at > 0)) return;
    if (kind === 'name') yield [start, at];
  }
}

/** A field of a record's data: its kind, its value, and its key in data that is an object. */
export interface DataPart {
  readonly kind: string;
  readonly key: string | undefined;
  readonly value: unknown;
}

/**
 * The fields of data in the shape of dns-packet. Only for types whose data is an object with `keysOf` it, or the value of
 * the only field.
 */
export function partsOf(type: string, data: unknown): DataPart[] {
  const keys = keysOf(type);
  return fieldsOf(typeNumber(type) ?? 0).map((kind, index) => {
    const key = keys[index];
    return { kind, key, value: key === undefined ? data : Reflect.get(Object(data), key) };
  });
}

/** The data that consists of these fields. */
export function joinParts(parts: readonly DataPart[]): unknown {
  const [first] = parts;
  if (first?.key === undefined) return first?.value;
  return Object.fromEntries(parts.map(({ key, value }) => [key, value]));
}

/** A field in wire format. Throws if the value does not fit. */
export function encodePart({ kind, value }: Pick<DataPart, 'kind' | 'value'>): Uint8Array {
  switch (kind) {
    case 'name':
      return encodeName(value as string);
    case 'ipv4':
      if (!isIPv4(String(value))) throw new RangeError(`"${value}" is not an IPv4 address`);
      return addressBytes(String(value));
    case 'ipv6':
      if (!isIPv6(String(value))) throw new RangeError(`"${value}" is not an IPv6 address`);
      return addressBytes(String(value));
    case 'tag':
      return encodeStrings([value as string]);
    case 'strings':
      return encodeStrings(Array.isArray(value) ? value : [value]);
    case 'text':
      return Buffer.from(value as string);
  }
  const size = SIZES[kind];
  if (size === undefined) throw new RangeError(`Fields of the kind ${kind} cannot be encoded.`);
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(Number(value ?? 0), 0, size);
  return bytes;
}

function encodeStrings(strings: readonly (string | Uint8Array)[]): Buffer {
  if (strings.length === 0) throw new RangeError('A TXT record has no string.');
  return Buffer.concat(
    strings.flatMap((text) => {
      const bytes = Buffer.from(text as string);
      if (bytes.length > MAX_STRING_BYTES)
        throw new RangeError(`A TXT string has ${bytes.length} bytes; the maximum is ${MAX_STRING_BYTES}.`);
      return [Buffer.of(bytes.length), bytes];
    }),
  );
}

/** Data in wire format, without compression; the types are those of `partsOf`. Throws if the data does not fit its type. */
export function encodeData(type: string, data: unknown): Buffer {
  return Buffer.concat(
    partsOf(type, data).map(({ kind, key, value }) => {
      // RP may have none of its names, which is written as the root (RFC 1183, section 2.2).
      const whole = type === 'RP' ? value || '.' : value;
      if (kind === 'name' && typeof whole !== 'string')
        throw new RangeError(`The data of a ${type} record has no ${key ?? 'name'}.`);
      return encodePart({ kind, value: whole });
    }),
  );
}

/** The reverse, for data that has only names and numbers; it must be valid and uncompressed. */
export function decodeData(type: string, bytes: Buffer): unknown {
  let at = 0;
  const parts = partsOf(type, undefined).map(({ kind, key }) => {
    const start = at;
    const size = SIZES[kind];
    at = size === undefined ? findNameEnd(bytes, start) : start + size;
    return { kind, key, value: size === undefined ? nameText(bytes, start) : bytes.readUIntBE(start, size) };
  });
  return joinParts(parts);
}

/** A record of class IN, after its owner in wire format. */
export function encodeRecord(owner: Uint8Array, type: number, ttl: number, data: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(owner.length + 10 + data.length);
  record.set(owner);
  let at = record.writeUInt16BE(type, owner.length);
  at = record.writeUInt16BE(CLASS.IN, at);
  at = record.writeUInt32BE(ttl, at);
  record.set(data, record.writeUInt16BE(data.length, at));
  return record;
}
