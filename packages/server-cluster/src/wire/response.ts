/**
 * Encodes a response of the framework: the client's ID and question byte for byte, an OPT record if and only if
 * the query had one, and nothing longer than the client accepts. The three sections after the question are there as the
 * records that the framework's handlers see and, from our stores, also as bytes ready to be copied.
 */
import {
  EDNS_OPTION,
  EDNS_UDP_BYTES,
  encodeName,
  encodeOpt,
  FLAG,
  HEADER_BYTES,
  OPT_BYTES,
  RCODE,
  TYPE,
} from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { type Answer, encode, type Packet } from 'dns-packet';
import { isOpt, type Query } from './query.ts';
import { encodeData } from './rdata.ts';
import { typeNumber } from './types.ts';

const OPT = encodeOpt();
const OPT_DNSSEC_OK = encodeOpt({ dnssecOk: true });
const NOTHING = Buffer.alloc(0);

/** The header flags that a handler may set; the rest of the header is the network's. */
const HANDLER_FLAGS =
  FLAG.authoritative | FLAG.truncated | FLAG.recursionAvailable | FLAG.authenticData | 0xf;

interface Body extends Pick<Sections, 'wire' | 'required'> {
  readonly answers: readonly unknown[];
  readonly authorities: readonly unknown[];
  readonly additionals: readonly unknown[];
  readonly opt: Buffer;
}

/**
 * The response, after `headroom` bytes for the caller to fill. If it would exceed `limit` bytes, the records are
 * omitted and TC is set (RFC 2181, section 9). Throws if a handler added something to the response that cannot be
 * encoded.
 */
export function encodeResponse(query: Query, packet: Packet, limit: number, headroom = 0): Buffer {
  const { questionEnd } = query;
  const body = fitting(bodyOf(query, packet), limit - questionEnd);
  const full = questionEnd + body.wire.length + body.opt.length;
  const truncated = full > limit;
  const length = truncated ? questionEnd + body.opt.length : full;
  const out = Buffer.allocUnsafe(headroom + length);
  query.message.copy(out, headroom, 0, questionEnd);
  let flags = FLAG.response | ((packet.flags ?? 0) & HANDLER_FLAGS);
  flags |= query.message.readUInt16BE(2) & FLAG.recursionDesired;
  if (truncated) flags |= FLAG.truncated;
  out.writeUInt16BE(flags, headroom + 2);
  out.writeUInt16BE(truncated ? 0 : body.answers.length, headroom + 6);
  out.writeUInt16BE(truncated ? 0 : body.authorities.length, headroom + 8);
  const additionals = (truncated ? 0 : body.additionals.length) + (body.opt.length > 0 ? 1 : 0);
  out.writeUInt16BE(additionals, headroom + 10);
  if (!truncated) body.wire.copy(out, headroom + questionEnd);
  body.opt.copy(out, headroom + length - body.opt.length);
  return out;
}

/** A response without records, for a handler that failed. */
export function serverFailure(query: Query, headroom = 0): Buffer {
  return encodeResponse(query, { type: 'response', flags: RCODE.SERVFAIL }, Infinity, headroom);
}

/** Omits the optional records if the whole exceeds `limit` bytes. */
function fitting(body: Body, limit: number): Body {
  const { required, wire, opt } = body;
  if (required === undefined || wire.length + opt.length <= limit) return body;
  const additionals = body.additionals.slice(0, required.additionals);
  return { ...body, wire: wire.subarray(0, required.bytes), additionals };
}

function bodyOf(query: Query, packet: Packet): Body {
  const prepared = preparedSections(packet);
  if (prepared !== undefined) return { ...prepared, opt: plainOpt(query) };
  const answers = (packet.answers ?? []).filter((record) => !isOpt(record));
  const authorities = (packet.authorities ?? []).filter((record) => !isOpt(record));
  const additionals = (packet.additionals ?? []).filter((record) => !isOpt(record));
  const wire = Buffer.concat([...answers, ...authorities, ...additionals].flatMap(encodeRecord));
  return { wire, answers, authorities, additionals, opt: handlerOpt(query, packet) ?? plainOpt(query) };
}

function encodeRecord(record: Answer): Buffer[] {
  return [encodeName(record.name), encodeBody(record)];
}

function plainOpt(query: Query): Buffer {
  if (query.edns === null) return NOTHING;
  return withCookie(query.edns.dnssecOk ? OPT_DNSSEC_OK : OPT, query.edns.cookie);
}

/** The OPT record that a handler created, with its options and extended RCODE but our size and version. */
function handlerOpt(query: Query, packet: Packet): Buffer | undefined {
  if (query.edns === null) return undefined;
  const own = packet.additionals?.find((record) => isOpt(record) && record !== query.edns?.record);
  if (own === undefined || !isOpt(own)) return undefined;
  const body = encodeBody({
    ...own,
    // Only an encrypted reply has padding, which is added when it leaves.
    options: (own.options ?? []).filter(({ code }) => Number(code) !== EDNS_OPTION.padding),
    udpPayloadSize: EDNS_UDP_BYTES,
    ednsVersion: 0,
    flags: query.edns.dnssecOk ? 0x8000 : 0,
  });
  if (body.readUInt16BE(0) !== TYPE.OPT) return undefined;
  return withCookie(Buffer.concat([Buffer.from([0]), body]), query.edns.cookie);
}

/** The OPT record with the option after its own. */
export function withCookie(opt: Buffer, cookie: Uint8Array | undefined): Buffer {
  if (cookie === undefined) return opt;
  const out = Buffer.concat([opt, cookie]);
  out.writeUInt16BE(out.length - OPT_BYTES, OPT_BYTES - 2);
  return out;
}

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
function encodeBody(record: Answer): Buffer {
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
function preparedSections(packet: Packet): Sections | undefined {
  const sections = (packet as PreparedPacket)[SECTIONS];
  return sections !== undefined &&
    packet.answers === sections.answers &&
    packet.authorities === sections.authorities &&
    packet.additionals === sections.additionals
    ? sections
    : undefined;
}
