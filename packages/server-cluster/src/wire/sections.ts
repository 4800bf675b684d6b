/**
 * The three sections behind the question, once as the records that the framework's handlers see and once as
 * octets that are ready to be copied behind a question.
 */

import { isIPv4, isIPv6 } from 'node:net';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { type Answer, encode, type Packet } from 'dns-packet';
import { HEADER_OCTETS } from './codes.ts';
import { canonicalName, encodeName } from './names.ts';

export interface Records {
  readonly answers: readonly SupportedAnswer[];
  readonly authorities: readonly SupportedAnswer[];
  readonly additionals: readonly SupportedAnswer[];
}

/** Records of a response together with their octets. */
export interface Sections extends Records {
  readonly wire: Buffer;
}

/** Points to the name of the question, which always starts behind the header (RFC 1035, section 4.1.4). */
const QUESTION_NAME = Buffer.from([0xc0, HEADER_OCTETS]);

/**
 * Type, class, TTL, length and data of a record: everything but its owner. Throws if the data does not fit
 * the type.
 */
export function encodeBody(record: Answer): Buffer {
  if (record.type === 'TXT') checkStrings(record.data);
  // The encoder makes four octets of anything.
  if (record.type === 'A' && !isIPv4(record.data))
    throw new RangeError(`"${record.data}" is no IPv4 address`);
  if (record.type === 'AAAA' && !isIPv6(record.data))
    throw new RangeError(`"${record.data}" is no IPv6 address`);
  // Encoded with the root, one octet, as the owner, because the encoder knows neither escapes nor limits.
  return encode({ type: 'response', answers: [{ ...record, name: '.' }] }).subarray(HEADER_OCTETS + 1);
}

function checkStrings(data: string | Buffer | (string | Buffer)[]): void {
  for (const text of Array.isArray(data) ? data : [data]) {
    const octets = Buffer.byteLength(text);
    // A character string has a length field of one octet (RFC 1035, section 3.3).
    if (octets > 255) throw new RangeError(`A TXT string has ${octets} octets; 255 is the most.`);
  }
}

/**
 * Encodes the sections of a response. `owner` is the canonical name of the question: records of it refer to
 * the question, so that they repeat the client's case, and so that the same octets serve a wildcard.
 */
export function encodeSections(records: Records, owner: string | null): Sections {
  const parts: Buffer[] = [];
  for (const section of [records.answers, records.authorities, records.additionals]) {
    for (const record of section) {
      const name = canonicalName(record.name) === owner ? QUESTION_NAME : encodeName(record.name);
      parts.push(name, encodeBody(record));
    }
  }
  return { ...records, wire: Buffer.concat(parts) };
}

const SECTIONS = Symbol('sections');

interface PreparedPacket extends Packet {
  [SECTIONS]?: Sections;
}

/** Puts prepared sections into a response. A handler may still replace any of them. */
export function prepare(packet: Packet, sections: Sections): void {
  const prepared: PreparedPacket = packet;
  // The sections are frozen when they are made; the framework's setters replace arrays, never change them.
  prepared.answers = sections.answers as Answer[];
  prepared.authorities = sections.authorities as Answer[];
  prepared.additionals = sections.additionals as Answer[];
  prepared[SECTIONS] = sections;
}

/** The prepared sections of a response, unless a handler has replaced one of them since. */
export function preparedSections(packet: Packet): Sections | undefined {
  const sections = (packet as PreparedPacket)[SECTIONS];
  return sections !== undefined &&
    packet.answers === sections.answers &&
    packet.authorities === sections.authorities &&
    packet.additionals === sections.additionals
    ? sections
    : undefined;
}
