/**
 * Reads a query without trusting it: never throws, never reads beyond the message, costs at most a pass
 * over its octets. What the framework then sees is the one question and, if there was one, the OPT record;
 * the client's own octets stay at hand, because the question is echoed exactly as it came.
 */
import type { Answer, OptAnswer, Packet } from 'dns-packet';
import { EDNS_UDP_OCTETS, FLAG, HEADER_OCTETS, PLAIN_UDP_OCTETS, RCODE, TYPE_OPT } from './codes.ts';
import { findNameEnd, readName, skipName } from './names.ts';
import { className, typeName } from './types.ts';

/** What a query says about itself in its OPT record (RFC 6891). */
export interface Edns {
  readonly udpPayloadSize: number;
  readonly version: number;
  /** DNSSEC OK, which a response repeats (RFC 3225, section 3). */
  readonly dnssecOk: boolean;
  /** The record as the framework's handlers see it. */
  readonly record: OptAnswer;
}

/** A well-formed query with exactly one question. */
export class Query {
  readonly message: Buffer;
  /** Offset behind the question, which starts behind the header. */
  readonly questionEnd: number;
  readonly edns: Edns | null;
  /** The query as the framework's handlers see it. */
  readonly packet: Packet;

  constructor(message: Buffer, questionEnd: number, edns: Edns | null) {
    this.message = message;
    this.questionEnd = questionEnd;
    this.edns = edns;
    const question = {
      name: readName(message, HEADER_OCTETS),
      type: typeName(message.readUInt16BE(questionEnd - 4)),
      class: className(message.readUInt16BE(questionEnd - 2)),
    };
    this.packet = {
      type: 'query',
      id: message.readUInt16BE(0),
      // Only what may be copied into a response: handlers start from these flags (RFC 4035, section 3.1.6).
      flags: message.readUInt16BE(2) & FLAG.recursionDesired,
      questions: [question],
      answers: [],
      authorities: [],
      additionals: edns === null ? [] : [edns.record],
    };
  }

  /** The largest response over UDP that this client takes. */
  get udpLimit(): number {
    if (this.edns === null) return PLAIN_UDP_OCTETS;
    return Math.min(Math.max(this.edns.udpPayloadSize, PLAIN_UDP_OCTETS), EDNS_UDP_OCTETS);
  }
}

/**
 * A query to be answered; or a reply that is ready to be sent, because the message is malformed, of another
 * version or asks for something that is not a query; or null for what must not be answered at all: less
 * than a header, or itself a response (two servers would answer each other for ever).
 */
export function readQuery(message: Buffer): Query | Buffer | null {
  if (message.length < HEADER_OCTETS) return null;
  const flags = message.readUInt16BE(2);
  if ((flags & FLAG.response) !== 0) return null;
  if ((flags & 0x7800) !== 0) return errorReply(message, HEADER_OCTETS, RCODE.NOTIMP);
  if (message.readUInt16BE(4) !== 1) return errorReply(message, HEADER_OCTETS, RCODE.FORMERR);
  const nameEnd = findNameEnd(message, HEADER_OCTETS);
  if (nameEnd === -1 || nameEnd + 4 > message.length) {
    return errorReply(message, HEADER_OCTETS, RCODE.FORMERR);
  }
  const questionEnd = nameEnd + 4;
  // Nearly every query without EDNS ends with its question.
  if (message.readUInt32BE(6) === 0 && message.readUInt16BE(10) === 0) {
    return new Query(message, questionEnd, null);
  }
  const edns = readEdns(message, questionEnd);
  if (edns === 'malformed') return errorReply(message, questionEnd, RCODE.FORMERR);
  if (edns !== null && edns.version !== 0) return badVersionReply(message, questionEnd, edns.dnssecOk);
  return new Query(message, questionEnd, edns);
}

/** A reply of header and question (if `questionEnd` says that there is one) and nothing else. */
function errorReply(message: Buffer, questionEnd: number, rcode: number): Buffer {
  const reply = Buffer.allocUnsafe(questionEnd);
  message.copy(reply, 0, 0, questionEnd);
  // The operation code comes back, and RD if it is a QUERY (RFC 8906, section 8.1.4); everything else is ours.
  const flags = message.readUInt16BE(2);
  const operation = flags & 0x7800;
  const echoed = operation === 0 ? flags & FLAG.recursionDesired : operation;
  reply.writeUInt16BE(FLAG.response | echoed | rcode, 2);
  reply.writeUInt16BE(questionEnd > HEADER_OCTETS ? 1 : 0, 4);
  reply.fill(0, 6, HEADER_OCTETS);
  return reply;
}

function badVersionReply(message: Buffer, questionEnd: number, dnssecOk: boolean): Buffer {
  const reply = errorReply(message, questionEnd, RCODE.BADVERS & 0xf);
  reply.writeUInt16BE(1, 10);
  return Buffer.concat([reply, optRecord(dnssecOk, RCODE.BADVERS >> 4)]);
}

/** Our OPT record without options: 11 octets (RFC 6891, section 6.1.2). */
export function optRecord(dnssecOk: boolean, extendedRcode: number): Buffer {
  const record = Buffer.alloc(11);
  record.writeUInt16BE(TYPE_OPT, 1);
  record.writeUInt16BE(EDNS_UDP_OCTETS, 3);
  record.writeUInt8(extendedRcode, 5);
  record.writeUInt8(dnssecOk ? 0x80 : 0, 7);
  return record;
}

/** The OPT record among everything behind the question. */
function readEdns(message: Buffer, questionEnd: number): Edns | null | 'malformed' {
  const beforeAdditional = message.readUInt16BE(6) + message.readUInt16BE(8);
  const total = beforeAdditional + message.readUInt16BE(10);
  let edns: Edns | null = null;
  let offset = questionEnd;
  for (let index = 0; index < total; index++) {
    const body = skipName(message, offset);
    if (body === -1 || body + 10 > message.length) return 'malformed';
    const end = body + 10 + message.readUInt16BE(body + 8);
    if (end > message.length) return 'malformed';
    if (message.readUInt16BE(body) === TYPE_OPT) {
      // One at most, in the additional section, owned by the root (RFC 6891, section 6.1.1).
      if (edns !== null || index < beforeAdditional || message[offset] !== 0) return 'malformed';
      edns = ednsAt(message, body, end);
      if (edns === null) return 'malformed';
    }
    offset = end;
  }
  return edns;
}

function ednsAt(message: Buffer, body: number, end: number): Edns | null {
  // What another version has in place of options is not for us to judge (RFC 6891, section 6.1.3).
  const optionsEnd = message.readUInt8(body + 5) === 0 ? end : body + 10;
  for (let offset = body + 10; offset < optionsEnd; ) {
    if (offset + 4 > end) return null;
    offset += 4 + message.readUInt16BE(offset + 2);
    if (offset > end) return null;
  }
  const flags = message.readUInt16BE(body + 6);
  const record: OptAnswer = {
    name: '.',
    type: 'OPT',
    udpPayloadSize: message.readUInt16BE(body + 2),
    extendedRcode: message.readUInt8(body + 4),
    ednsVersion: message.readUInt8(body + 5),
    flags,
    flag_do: (flags & 0x8000) !== 0,
    // Options are hop by hop (RFC 6891, section 6.1.2): a cookie or subnet of the client must not reach
    // the response by way of a handler that copies the request.
    options: [],
  };
  return {
    udpPayloadSize: record.udpPayloadSize,
    version: record.ednsVersion,
    dnssecOk: record.flag_do,
    record,
  };
}

/** The OPT record that a handler has put into a response by itself. */
export function isOpt(record: Answer): record is OptAnswer {
  return record.type === 'OPT';
}
