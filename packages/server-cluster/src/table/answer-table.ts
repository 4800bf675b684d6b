/**
 * The answer table: answers queries in place from a store's records, without the framework. What it cannot
 * answer exactly as the store's handler would in the framework's chain, it leaves to that chain.
 */
import {
  EDNS_UDP_BYTES,
  FLAG,
  GOOD,
  HEADER_BYTES,
  IGNORE,
  MAX_MESSAGE_BYTES,
  OPT_BYTES,
  PLAIN_UDP_BYTES,
  QueryReader,
  RCODE,
} from '@dinodns-bench/wire';
import type { DefaultStore } from 'dinodns/plugins/storage/index.js';
import { isDefaultStore } from '../recognise.ts';
import type { ZoneStore } from '../store/zone-store.ts';
import { type Answers, FRAMEWORK } from './answers.ts';
import { DefaultStoreAnswers } from './default-store.ts';
import { ReplyWriter } from './reply-writer.ts';
import { DROP, type Responder, TO_FRAMEWORK, type Transport } from './responder.ts';
import { ZoneAnswers } from './zone-answers.ts';

const OUTSIDE_CODES = { refuse: RCODE.REFUSED, nxdomain: RCODE.NXDOMAIN, framework: -1 } as const;

export interface AnswerTableOptions {
  /**
   * The largest response over UDP, and what our OPT record advertises, in bytes: 512 to 65,535. Default 1232,
   * which passes any path unfragmented (RFC 9715).
   */
  readonly maxUdpOctets?: number;
  /**
   * What to do with a question that the store leaves to the next handler (for a `ZoneStore`: names outside of
   * all zones, zone transfers, and classes other than IN; for a `DefaultStore`: all that it does not have):
   * `refuse` says REFUSED and `nxdomain` NXDOMAIN at once, `framework` lets the chain decide, where other
   * handlers may know. Default `refuse`.
   */
  readonly outside?: 'refuse' | 'nxdomain' | 'framework';
}

/**
 * Makes the table of a store. It reads a `ZoneStore`'s own records, and a copy of a `DefaultStore`'s that follows
 * its `set`, `append` and `delete`: a change is in the next answer. Throws a RangeError for an impossible option.
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
  /** For callers that have not read the message themselves. */
  readonly #own = new QueryReader();
  readonly #maxUdpOctets: number;
  /** The code for what is none of ours; -1 where the framework decides. */
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
    // A caller's mistake must not become a write outside of the slot.
    if (offset < 0 || length > capacity || offset + capacity > bytes.length) return DROP;
    if (read === undefined) this.#own.read(bytes, offset, length);
    const query = read ?? this.#own;
    if (query.code === IGNORE) return DROP;
    // As much as there is room for: whether the client takes it is known in the end, and so is the code.
    this.#reply.begin(bytes, offset, query.questionEnd, capacity - (query.hasEdns ? OPT_BYTES : 0));
    return query.code === GOOD
      ? this.#answer(bytes, offset, query, transport)
      : this.#refuse(query, query.code);
  }

  #answer(bytes: Uint8Array, offset: number, query: QueryReader, transport: Transport): number {
    const { labels, labelCount, type, class: questionClass, dnssecOk } = query;
    const flags = this.#answers.answer(bytes, offset, labels, labelCount, type, questionClass, dnssecOk);
    if (flags >= 0) return this.#finish(query, flags, transport);
    if (flags === FRAMEWORK || this.#outside === -1) return TO_FRAMEWORK;
    return this.#refuse(query, this.#outside);
  }

  /** The answer that has been written; without its records if the client does not take so much. */
  #finish(query: QueryReader, flags: number, transport: Transport): number {
    const { hasEdns, dnssecOk, questionEnd, udpBytes } = query;
    const reply = this.#reply;
    const limit = transport === 'stream' ? MAX_MESSAGE_BYTES : Math.min(udpBytes, this.#maxUdpOctets);
    const room = limit - (hasEdns ? OPT_BYTES : 0);
    reply.fit(room);
    const isTruncated = reply.isFull || reply.at > room;
    if (isTruncated) reply.clear(questionEnd);
    if (hasEdns) reply.writeOpt(this.#maxUdpOctets, dnssecOk, 0);
    return reply.finish(isTruncated ? flags | FLAG.truncated : flags, 1);
  }

  /** A reply without records. */
  #refuse(query: QueryReader, code: number): number {
    const { hasEdns, dnssecOk, questionEnd } = query;
    if (hasEdns) this.#reply.writeOpt(this.#maxUdpOctets, dnssecOk, code >> 4);
    return this.#reply.finish(code & 0xf, questionEnd > HEADER_BYTES ? 1 : 0);
  }
}
