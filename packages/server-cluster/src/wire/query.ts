/**
 * A query as the framework's handlers see it: the one question and, if there was one, the OPT record. The client's own
 * bytes stay at hand, because the question is echoed exactly as it came.
 */
import {
  EDNS_UDP_BYTES,
  encodeOpt,
  FLAG,
  GOOD,
  HEADER_BYTES,
  IGNORE,
  nameText,
  OPCODE_MASK,
  QueryReader,
  RCODE_MASK,
} from '@dinodns-bench/wire';
import type { Answer, OptAnswer, Packet } from 'dns-packet';
import { className, typeName } from './types.ts';

/** What a query says about itself in its OPT record (RFC 6891). */
export interface Edns {
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
  /** The largest response over UDP that this client takes. */
  readonly udpLimit: number;
  /** The query as the framework's handlers see it. */
  readonly packet: Packet;

  constructor(message: Buffer, query: QueryReader) {
    this.message = message;
    this.questionEnd = query.questionEnd;
    this.edns = query.hasEdns ? ednsAt(message, query.optAt) : null;
    this.udpLimit = Math.min(query.udpBytes, EDNS_UDP_BYTES);
    const question = {
      name: nameText(message, HEADER_BYTES),
      type: typeName(query.type),
      class: className(query.class),
    };
    this.packet = {
      type: 'query',
      id: message.readUInt16BE(0),
      // Only what may be copied into a response: handlers start from these flags (RFC 4035, section 3.1.6).
      flags: message.readUInt16BE(2) & FLAG.recursionDesired,
      questions: [question],
      answers: [],
      authorities: [],
      additionals: this.edns === null ? [] : [this.edns.record],
    };
  }
}

const reader = new QueryReader();

/**
 * A query to be answered; or a reply that is ready to be sent, because the message is malformed, of another
 * version or asks for something that is not a query; or null for what must not be answered at all: less
 * than a header, or itself a response (two servers would answer each other for ever). `query` is what a reader
 * has read of these bytes; by default they are read here.
 */
export function readQuery(message: Buffer, query: QueryReader = readHere(message)): Query | Buffer | null {
  if (query.code === IGNORE) return null;
  return query.code === GOOD ? new Query(message, query) : errorReply(message, query);
}

function readHere(message: Buffer): QueryReader {
  reader.read(message, 0, message.length);
  return reader;
}

/** A reply of header, question if there is one, and OPT record if there was one. */
function errorReply(
  message: Buffer,
  { code, questionEnd, hasQuestion, hasEdns, dnssecOk }: QueryReader,
): Buffer {
  const opt = hasEdns ? optRecord(dnssecOk, code >> 4) : Buffer.alloc(0);
  const reply = Buffer.concat([message.subarray(0, questionEnd), opt]);
  // The OPCODE comes back, and RD if it is a QUERY (RFC 8906, section 8.1.4); everything else is ours.
  const flags = message.readUInt16BE(2);
  const opcode = flags & OPCODE_MASK;
  const echoed = opcode === 0 ? flags & FLAG.recursionDesired : opcode;
  reply.writeUInt16BE(FLAG.response | echoed | (code & RCODE_MASK), 2);
  reply.writeUInt16BE(hasQuestion ? 1 : 0, 4);
  reply.writeUInt32BE(0, 6);
  reply.writeUInt16BE(hasEdns ? 1 : 0, 10);
  return reply;
}

/** Our OPT record without options (RFC 6891, section 6.1.2). */
export function optRecord(dnssecOk: boolean, extendedRcode: number): Buffer {
  return encodeOpt({ dnssecOk, extendedRcode });
}

/** The OPT record whose type is at `body`. */
function ednsAt(message: Buffer, body: number): Edns {
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
  return { dnssecOk: record.flag_do, record };
}

/** The OPT record that a handler has put into a response by itself. */
export function isOpt(record: Answer): record is OptAnswer {
  return record.type === 'OPT';
}
