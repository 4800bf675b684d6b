/**
 * The answer table: answers queries in place from a store's records, without the framework. It leaves to the chain
 * whatever it cannot answer exactly as the store's handler would there.
 */
import * as wire from '@dinodns-bench/wire';
import { QueryReader } from '@dinodns-bench/wire';
import type { DefaultStore } from 'dinodns/plugins/storage/index.js';
import { COOKIE_OPTION_BYTES } from '../limits/cookies.ts';
import { isDefaultStore } from '../recognise.ts';
import type { ZoneStore } from '../store/zone-store.ts';
import { type Answers, FRAMEWORK } from './answers.ts';
import { DefaultStoreAnswers } from './default-store.ts';
import { ReplyWriter } from './reply-writer.ts';
import { DROP, type Responder, TO_FRAMEWORK, type Transport } from './responder.ts';
import { ZoneAnswers } from './zone-answers.ts';

// Copies, because V8 compiles a module's own constants into the code and loads imported ones anew at each use.
const {
  EDNS_UDP_BYTES,
  FLAG,
  GOOD,
  HEADER_BYTES,
  IGNORE,
  MAX_MESSAGE_BYTES,
  OPT_BYTES,
  PLAIN_UDP_BYTES,
  RCODE,
} = wire;

const OUTSIDE_CODES = { refuse: RCODE.REFUSED, nxdomain: RCODE.NXDOMAIN, framework: -1 } as const;

export interface AnswerTableOptions {
  /**
   * The largest UDP response and the size that our OPT record advertises, in bytes: 512 to 65,535. Default 1232,
   * which passes any path unfragmented (RFC 9715).
   */
  readonly maxUdpOctets?: number;
  /**
   * What to do with a question that the store leaves to the next handler. For a `ZoneStore`, that means names
   * outside of all zones, zone transfers, and classes other than IN; for a `DefaultStore`, everything that it does
   * not have. `refuse` answers REFUSED and `nxdomain` NXDOMAIN at once; `framework` lets the chain decide, where
   * other handlers may know. Default `refuse`.
   */
  readonly outside?: 'refuse' | 'nxdomain' | 'framework';
}

/**
 * Creates the table of a store. It reads a `ZoneStore`'s own records, or a copy of a `DefaultStore`'s records that
 * follows its `set`, `append` and `delete`: the next answer reflects a change. Throws a RangeError for an invalid
 * option.
 */
export function createAnswerTable(
  store: ZoneStore | DefaultStore,
  options: AnswerTableOptions = {},
): Responder {
  const reply = new ReplyWriter();
  const answers = isDefaultStore(store)
    ? new DefaultStoreAnswers(store, reply)
    : new ZoneAnswers(store, reply);
  return new AnswerTable(answers, reply, options);
}

class AnswerTable implements Responder {
  readonly #answers: Answers;
  readonly #reply: ReplyWriter;
  /** For callers that have not parsed the message themselves. */
  readonly #own = new QueryReader();
  readonly #maxUdpOctets: number;
  /** The RCODE for questions outside of the store; -1 if the framework decides. */
  readonly #outside: number;

  constructor(answers: Answers, reply: ReplyWriter, options: AnswerTableOptions) {
    const { maxUdpOctets = EDNS_UDP_BYTES, outside = 'refuse' } = options;
    const isPossible = maxUdpOctets >= PLAIN_UDP_BYTES && maxUdpOctets <= MAX_MESSAGE_BYTES;
    if (!Number.isInteger(maxUdpOctets) || !isPossible) {
      throw new RangeError(`maxUdpOctets ${maxUdpOctets} is not a whole number from 512 to 65535`);
    }
    this.#answers = answers;
    this.#reply = reply;
    this.#maxUdpOctets = maxUdpOctets;
    this.#outside = OUTSIDE_CODES[outside];
  }

  answer(
    bytes: Uint8Array,
    offset: number,
    length: number,
    capacity: number,
    transport: Transport,
    read?: QueryReader,
  ): number {
    // A caller's mistake must not cause a write outside of the slot.
    if (offset < 0 || length > capacity || offset + capacity > bytes.length) return DROP;
    if (read === undefined) this.#own.read(bytes, offset, length);
    const query = read ?? this.#own;
    if (query.code === IGNORE) return DROP;
    // Write as much as the slot holds: only at the end is it known whether the client takes it, and with which
    // RCODE.
    this.#reply.begin(bytes, offset, query.questionEnd, capacity - roomOfOpt(query));
    return query.code === GOOD
      ? this.#answer(bytes, offset, query, transport)
      : this.#refuse(query, query.code);
  }

  #answer(bytes: Uint8Array, offset: number, query: QueryReader, transport: Transport): number {
    const flags = this.#answers.answer(bytes, offset, query);
    if (flags >= 0) return this.#finish(query, flags, transport);
    if (flags === FRAMEWORK || this.#outside === -1) return TO_FRAMEWORK;
    return this.#refuse(query, this.#outside);
  }

  /** Completes the reply, without its records if they exceed what the client takes. */
  #finish(query: QueryReader, flags: number, transport: Transport): number {
    const { hasEdns, dnssecOk, questionEnd, udpBytes } = query;
    const reply = this.#reply;
    const limit = transport === 'stream' ? MAX_MESSAGE_BYTES : Math.min(udpBytes, this.#maxUdpOctets);
    const room = limit - roomOfOpt(query);
    reply.fit(room);
    const isTruncated = reply.isFull || reply.at > room;
    if (isTruncated) reply.clear(questionEnd);
    if (hasEdns) reply.writeOpt(this.#maxUdpOctets, dnssecOk, 0);
    return reply.finish(isTruncated ? flags | FLAG.truncated : flags, 1);
  }

  /** Writes a reply without records. */
  #refuse(query: QueryReader, code: number): number {
    const { hasEdns, dnssecOk, questionEnd } = query;
    if (hasEdns) this.#reply.writeOpt(this.#maxUdpOctets, dnssecOk, code >> 4);
    return this.#reply.finish(code & 0xf, questionEnd > HEADER_BYTES ? 1 : 0);
  }
}

/** Of our OPT record, and of the cookie that the network adds to it if the client sent one. */
function roomOfOpt({ hasEdns, cookieAt }: QueryReader): number {
  return (hasEdns ? OPT_BYTES : 0) + (cookieAt === 0 ? 0 : COOKIE_OPTION_BYTES);
}
