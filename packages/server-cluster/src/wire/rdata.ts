/**
 * Converts record data between bytes and the objects that the framework's handlers use. We encode domain names in
 * the data ourselves, because the encoder of `dns-packet` knows neither escapes nor limits; it does the rest.
 */

import {
  decodeData as decodeNames,
  encodeName,
  encodeData as encodeParts,
  encodeRecord,
  expandName,
  FLAG,
  HEADER_BYTES,
  typeName as mnemonic,
  namesAt,
  nameText,
  TYPE,
} from '@dinodns-bench/wire';
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

const COMPRESSIBLE: readonly number[] = [TYPE.NS, TYPE.CNAME, TYPE.PTR, TYPE.SOA, TYPE.MX];

const LAYOUTS: ReadonlyMap<number, NameLayout> = new Map(
  [...COMPRESSIBLE, TYPE.RP, TYPE.SRV, TYPE.DNAME].map((type) => [
    type,
    { ...namesAt(type), compressible: COMPRESSIBLE.includes(type) },
  ]),
);

const NO_NAMES: NameLayout = { before: 0, names: 0, compressible: false };

export function layoutOf(type: number): NameLayout {
  return LAYOUTS.get(type) ?? NO_NAMES;
}

/** Types without names that `dns-packet` would encode without checks, or would modify the caller's list of. */
const CHECKED: readonly number[] = [TYPE.A, TYPE.AAAA, TYPE.TXT];

/** Encodes one record's data, uncompressed. Throws if the data does not fit the type. */
export function encodeData(record: SupportedAnswer): Buffer {
  const type = typeNumber(record.type);
  if (LAYOUTS.has(type) || CHECKED.includes(type)) return encodeParts(mnemonic(type), record.data);
  // Encoded with the one-byte root as the owner; type, class, TTL and length are ten more bytes.
  const message = encode({ type: 'response', answers: [{ ...record, name: '.' }] });
  return message.subarray(HEADER_BYTES + 11);
}

/** Decodes uncompressed data to the form that handlers use. */
export function decodeData(type: number, bytes: Buffer): unknown {
  return LAYOUTS.has(type) ? decodeNames(mnemonic(type), bytes) : decodeOther(type, bytes);
}

function decodeOther(type: number, bytes: Buffer): unknown {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(FLAG.response, 2);
  header.writeUInt16BE(1, 6);
  const record = encodeRecord(encodeName('.'), type, 0, bytes);
  const [answer] = decode(Buffer.concat([header, record])).answers ?? [];
  if (answer === undefined || !('data' in answer)) throw new Error(`no data of type ${typeName(type)}`);
  return answer.data;
}

/** Reads `count` records of a message that this program wrote itself, from `start` on; returns them and the offset after them. */
export function readRecords(
  message: Buffer,
  start: number,
  count: number,
): { readonly records: readonly SupportedAnswer[]; readonly end: number } {
  const records: SupportedAnswer[] = [];
  let at = start;
  for (let index = 0; index < count; index++) {
    const owner = expandName(message, at);
    const type = message.readUInt16BE(owner.end);
    const ttl = message.readUInt32BE(owner.end + 4);
    const from = owner.end + 10;
    at = from + message.readUInt16BE(owner.end + 8);
    const data = decodeData(type, expandData(message, type, from, at));
    // The types of `dns-packet` are a union over all record types, which no decoder can tell apart.
    const record = { name: nameText(owner.name, 0), type: typeName(type), class: 'IN', ttl, data };
    records.push(record as SupportedAnswer);
  }
  return { records: Object.freeze(records), end: at };
}

/** Expands compressed data. */
function expandData(message: Buffer, type: number, from: number, to: number): Buffer {
  const { before, names } = layoutOf(type);
  if (names === 0) return Buffer.from(message.subarray(from, to));
  const parts = [message.subarray(from, from + before)];
  let at = from + before;
  for (let index = 0; index < names; index++) {
    const { name, end } = expandName(message, at);
    parts.push(name);
    at = end;
  }
  return Buffer.concat([...parts, message.subarray(at, to)]);
}
