/**
 * Converts record data between bytes and the objects that the framework's handlers use. We encode domain names in
 * the data ourselves, because the encoder of `dns-packet` knows neither escapes nor limits; it does the rest.
 */

import { isIPv4, isIPv6 } from 'node:net';
import { CLASS, encodeName, findNameEnd, HEADER_BYTES, nameText, TYPE } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { decode, encode } from 'dns-packet';
import { typeName, typeNumber } from './types.ts';

/** Where the names are in a type's data: after `before` bytes come `names` names, then the rest. */
interface NameLayout {
  readonly before: number;
  readonly names: number;
  /** Only the types of RFC 1035 may be compressed (RFC 3597, section 4; RFC 2782 for SRV). */
  readonly compressible: boolean;
}

const LAYOUTS: ReadonlyMap<number, NameLayout> = new Map([
  [TYPE.NS, { before: 0, names: 1, compressible: true }],
  [TYPE.CNAME, { before: 0, names: 1, compressible: true }],
  [TYPE.PTR, { before: 0, names: 1, compressible: true }],
  [TYPE.SOA, { before: 0, names: 2, compressible: true }],
  [TYPE.MX, { before: 2, names: 1, compressible: true }],
  [TYPE.RP, { before: 0, names: 2, compressible: false }],
  [TYPE.SRV, { before: 6, names: 1, compressible: false }],
  [TYPE.DNAME, { before: 0, names: 1, compressible: false }],
]);

const NO_NAMES: NameLayout = { before: 0, names: 0, compressible: false };

export function layoutOf(type: number): NameLayout {
  return LAYOUTS.get(type) ?? NO_NAMES;
}

/** Encodes one record's data, uncompressed. Throws if the data does not fit the type. */
export function encodeData(record: SupportedAnswer): Buffer {
  switch (record.type) {
    case 'NS':
    case 'CNAME':
    case 'PTR':
    case 'DNAME':
      return encodeName(record.data);
    case 'MX':
      return Buffer.concat([u16s(record.data.preference), encodeName(record.data.exchange)]);
    case 'SRV': {
      const { priority, weight, port, target } = record.data;
      return Buffer.concat([u16s(priority, weight, port), encodeName(target)]);
    }
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = record.data;
      const times = u32s(serial, refresh, retry, expire, minimum);
      return Buffer.concat([encodeName(mname), encodeName(rname), times]);
    }
    case 'RP':
      return Buffer.concat([encodeName(record.data.mbox || '.'), encodeName(record.data.txt || '.')]);
    // The encoder would modify the caller's list.
    case 'TXT':
      return encodeStrings(record.data);
    // The encoder turns anything into four bytes.
    case 'A':
      if (!isIPv4(record.data)) throw new RangeError(`"${record.data}" is not an IPv4 address`);
      return Buffer.from(record.data.split('.').map(Number));
    case 'AAAA':
      if (!isIPv6(record.data)) throw new RangeError(`"${record.data}" is not an IPv6 address`);
  }
  typeNumber(record.type);
  // Encoded with the one-byte root as the owner; type, class, TTL and length are ten more bytes.
  const message = encode({ type: 'response', answers: [{ ...record, name: '.' }] });
  return message.subarray(HEADER_BYTES + 11);
}

function u16s(...values: (number | undefined)[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(value ?? 0, 2 * index);
  });
  return bytes;
}

function u32s(...values: (number | undefined)[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value ?? 0, 4 * index);
  });
  return bytes;
}

function encodeStrings(data: string | Buffer | (string | Buffer)[]): Buffer {
  const parts = (Array.isArray(data) ? data : [data]).flatMap((text) => {
    const bytes = Buffer.from(text);
    // A character string has a length field of one byte (RFC 1035, section 3.3).
    if (bytes.length > 255)
      throw new RangeError(`A TXT string has ${bytes.length} bytes; the maximum is 255.`);
    return [Buffer.of(bytes.length), bytes];
  });
  if (parts.length === 0) throw new RangeError('A TXT record has no string.');
  return Buffer.concat(parts);
}

/** Decodes uncompressed data to the form that handlers use. */
export function decodeData(type: number, bytes: Buffer): unknown {
  const { before } = layoutOf(type);
  const name = () => nameText(bytes, before);
  switch (type) {
    case TYPE.NS:
    case TYPE.CNAME:
    case TYPE.PTR:
    case TYPE.DNAME:
      return name();
    case TYPE.MX:
      return { preference: bytes.readUInt16BE(0), exchange: name() };
    case TYPE.SRV: {
      const [priority, weight, port] = [0, 2, 4].map((at) => bytes.readUInt16BE(at));
      return { priority, weight, port, target: name() };
    }
    case TYPE.SOA: {
      const second = findNameEnd(bytes, 0);
      const times = findNameEnd(bytes, second);
      const time = (index: number) => bytes.readUInt32BE(times + index * 4);
      const names = { mname: name(), rname: nameText(bytes, second) };
      return {
        ...names,
        serial: time(0),
        refresh: time(1),
        retry: time(2),
        expire: time(3),
        minimum: time(4),
      };
    }
    case TYPE.RP:
      return { mbox: name(), txt: nameText(bytes, findNameEnd(bytes, 0)) };
    default:
      return decodeOther(type, bytes);
  }
}

function decodeOther(type: number, bytes: Buffer): unknown {
  const message = Buffer.alloc(HEADER_BYTES + 11 + bytes.length);
  message.writeUInt16BE(0x8000, 2);
  message.writeUInt16BE(1, 6);
  message.writeUInt16BE(type, HEADER_BYTES + 1);
  message.writeUInt16BE(CLASS.IN, HEADER_BYTES + 3);
  message.writeUInt16BE(bytes.length, HEADER_BYTES + 9);
  bytes.copy(message, HEADER_BYTES + 11);
  const [answer] = decode(message).answers ?? [];
  if (answer === undefined || !('data' in answer)) throw new Error(`no data of type ${typeName(type)}`);
  return answer.data;
}
