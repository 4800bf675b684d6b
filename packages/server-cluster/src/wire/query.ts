/**
 * A query as the framework's handlers see it: its one question and, if present, the OPT record. The client's own
 * bytes are kept because the question is echoed exactly as it came.
 */
import {
  EDNS_UDP_BYTES,
  FLAG,
  GOOD,
  HEADER_BYTES,
  nameText,
  OPT_BYTES,
  type QueryReader,
} from '@dinodns-bench/wire';
import type { Answer, OptAnswer, Packet } from 'dns-packet';
import { Finisher } from '../table/finish.ts';
import { ReplyWriter } from '../table/reply-writer.ts';
import { className, typeName } from './types.ts';

/** A query's EDNS data, from its OPT record (RFC 6891). */
export interface Edns {
  /** DNSSEC OK, which the response copies (RFC 3225, section 3). */
  readonly dnssecOk: boolean;
  /** The record as the framework's handlers see it. */
  readonly record: OptAnswer;
  /** The COOKIE option for the response. */
  readonly cookie: Uint8Array | undefined;
}

/** A well-formed query with exactly one question. */
export class Query {
  readonly message: Buffer;
  /** Offset after the question, which follows the header. */
  readonly questionEnd: number;
  readonly edns: Edns | null;
  /** The largest UDP response that this client accepts. */
  readonly udpLimit: number;
  /** The query as the framework's handlers see it. */
  readonly packet: Packet;

  constructor(message: Buffer, query: QueryReader, cookie?: Uint8Array) {
    this.message = message;
    this.questionEnd = query.questionEnd;
    const { dnssecOk, optAt } = query;
    this.edns = query.hasEdns ? { dnssecOk, record: optRecord(message, optAt), cookie } : null;
    this.udpLimit = Math.min(query.udpBytes, EDNS_UDP_BYTES);
    const question = {
      name: nameText(message, HEADER_BYTES),
      type: typeName(query.type),
      class: className(query.class),
    };
    this.packet = {
      type: 'query',
      id: message.readUInt16BE(0),
      // Only flags that a response may copy: handlers start from these (RFC 4035, section 3.1.6).
      flags: message.readUInt16BE(2) & FLAG.recursionDesired,
      questions: [question],
      answers: [],
      authorities: [],
      additionals: this.edns === null ? [] : [this.edns.record],
    };
  }
}

/**
 * A query to answer; or a finished reply, because the message is malformed, has another EDNS version or another
 * OPCODE. `query` is a reader that has parsed the message, and has not said `IGNORE`. `cookie` is the COOKIE option for
 * the response.
 */
export function readQuery(message: Buffer, query: QueryReader, cookie?: Uint8Array): Query | Buffer {
  return query.code === GOOD ? new Query(message, query, cookie) : errorReply(message, query);
}

const reply = new ReplyWriter();
const finisher = new Finisher(reply, EDNS_UDP_BYTES);

/** A reply with header, question and OPT record, the latter two if the query had them. */
function errorReply(message: Buffer, query: QueryReader): Buffer {
  const { code, questionEnd } = query;
  const bytes = Buffer.alloc(questionEnd + (query.hasEdns ? OPT_BYTES : 0));
  message.copy(bytes, 0, 0, questionEnd);
  reply.begin(bytes, 0, questionEnd, bytes.length);
  finisher.refuse(query, code);
  return bytes;
}

/** Parses the OPT record whose type is at `body`. */
function optRecord(message: Buffer, body: number): OptAnswer {
  const flags = message.readUInt16BE(body + 6);
  return {
    name: '.',
    type: 'OPT',
    udpPayloadSize: message.readUInt16BE(body + 2),
    extendedRcode: message.readUInt8(body + 4),
    ednsVersion: message.readUInt8(body + 5),
    flags,
    flag_do: (flags & 0x8000) !== 0,
    // Options are hop-by-hop (RFC 6891, section 6.1.2): a client's cookie or subnet must not reach the response
    // through a handler that copies the request.
    options: [],
  };
}

/** Whether a record is an OPT record that a handler added to a response. */
export function isOpt(record: Answer): record is OptAnswer {
  return record.type === 'OPT';
}
