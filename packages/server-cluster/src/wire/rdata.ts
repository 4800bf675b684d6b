/**
 * Converts record data between bytes and the objects that the framework's handlers use. We encode domain names in
 * the data ourselves, because the encoder of `dns-packet` knows neither escapes nor limits; it does the rest.
 */

import {
  CLASS,
  decodeData as decodeNames,
  encodeData as encodeParts,
  HEADER_BYTES,
  typeName as mnemonic,
  namesAt,
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
