/**
 * The three sections after the question, both as the records that the framework's handlers see and as bytes ready
 * to be copied after a question.
 */
import { HEADER_BYTES } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { type Answer, encode, type Packet } from 'dns-packet';
import { encodeData } from './rdata.ts';
import { typeNumber } from './types.ts';

/** Records of a response and their bytes. */
export interface Sections {
  readonly answers: readonly SupportedAnswer[];
  readonly authorities: readonly SupportedAnswer[];
  readonly additionals: readonly SupportedAnswer[];
  readonly wire: Buffer;
  /** The part that a client must get, if not all; the rest is omitted if it does not fit (RFC 2181, section 9). */
  readonly required?: { readonly bytes: number; readonly additionals: number } | undefined;
}

const OWNER_END = HEADER_BYTES + 1;

/**
 * Type, class, TTL, length and data of a record: everything except its owner. Throws if the data does not fit the
 * type.
 */
export function encodeBody(record: Answer): Buffer {
  // Encoded with the one-byte root as the owner.
  if (record.type === 'OPT') return encode({ type: 'response', answers: [record] }).subarray(OWNER_END);
  const { class: recordClass = 'IN', ttl = 0 } = record;
  const opaque = { name: '.', type: 'NULL', class: recordClass, ttl, data: encodeData(record) } as const;
  const body = encode({ type: 'response', answers: [opaque] }).subarray(OWNER_END);
  body.writeUInt16BE(typeNumber(record.type), 0);
  return body;
}

const SECTIONS = Symbol('sections');

interface PreparedPacket extends Packet {
  [SECTIONS]?: Sections;
}

/** Adds prepared sections to a response. A handler may still replace any of them. */
export function prepare(packet: Packet, sections: Sections): void {
  const prepared: PreparedPacket = packet;
  // The sections are frozen on creation; the framework's setters replace arrays, never modify them.
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
