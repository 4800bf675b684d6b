/**
 * The answer table: answers queries in place from a store's records, without the framework. What it cannot
 * answer exactly as the store's handler would in the framework's chain, it leaves to that chain.
 */
import type { ZoneStore } from '../store/zone-store.ts';
import {
  CLASS_IN,
  EDNS_UDP_OCTETS,
  FLAG,
  HEADER_OCTETS,
  MAX_MESSAGE_OCTETS,
  PLAIN_UDP_OCTETS,
  RCODE,
} from '../wire/codes.ts';
import { GOOD, IGNORE, QueryReader } from './query-reader.ts';
import { OPT_OCTETS, ReplyWriter } from './reply-writer.ts';
import { DROP, type Responder, TO_FRAMEWORK, type Transport } from './responder.ts';
import { isMetaType, OUTSIDE, ZoneResponder } from './zone-responder.ts';

const CLASS_ANY = 255;
const OUTSIDE_CODES = { refuse: RCODE.REFUSED, nxdomain: RCODE.NXDOMAIN, framework: -1 } as const;

export interface AnswerTableOptions {
  /**
   * The largest response over UDP, and what our OPT record advertises, in octets: 512 to 65,535. Default 1232,
   * which passes any path unfragmented (RFC 9715).
   */
  readonly maxUdpOctets?: number;
  /**
   * What to do with names outside of all zones, zone transfers, and classes other than IN: `refuse` says
   * REFUSED and `nxdomain` NXDOMAIN at once, `framework` lets the chain decide, where other handlers may know. Default `refuse`.
   */
  readonly outside?: 'refuse' | 'nxdomain' | 'framework';
}

/** Makes the table of a store. It reads the store's own records, so every change is in the next answer. */
export function createAnswerTable(store: ZoneStore, options: AnswerTableOptions = {}): Responder {
  return new AnswerTable(store, options);
}

class AnswerTable implements Responder {
  readonly #store: ZoneStore;
  readonly #maxUdpOctets: number;
  /** The code for what is none of ours; -1 where the framework decides. */
  readonly #outside: number;
  readonly #query = new QueryReader();
  readonly #reply = new ReplyWriter();
  readonly #zones = new ZoneResponder(this.#reply);

  constructor(store: ZoneStore, { maxUdpOctets = EDNS_UDP_OCTETS, outside = 'refuse' }: AnswerTableOptions) {
    if (
      !Number.isInteger(maxUdpOctets) ||
      maxUdpOctets < PLAIN_UDP_OCTETS ||
      maxUdpOctets > MAX_MESSAGE_OCTETS
    ) {
      throw new RangeError(`maxUdpOctets ${maxUdpOctets} is not a whole number from 512 to 65535`);
    }
    this.#store = store;
    this.#maxUdpOctets = maxUdpOctets;
    this.#outside = OUTSIDE_CODES[outside];
  }

  answer(bytes: Uint8Array, offset: number, length: number, capacity: number, transport: Transport): number {
    // A caller's mistake must not become a write outside of the slot.
    if (offset < 0 || length > capacity || offset + capacity > bytes.length) return DROP;
    const query = this.#query;
    const code = query.read(bytes, offset, length);
    if (code === IGNORE) return DROP;
    // As much as there is room for: whether the client takes it is known in the end, and so is the code.
    this.#reply.begin(bytes, offset, query.questionEnd, capacity - (query.hasEdns ? OPT_OCTETS : 0));
    return code === GOOD ? this.#answer(bytes, offset, transport) : this.#refuse(code);
  }

  #answer(bytes: Uint8Array, offset: number, transport: Transport): number {
    const { labels, labelCount, type, class: questionClass } = this.#query;
    const isOurs = (questionClass === CLASS_IN || questionClass === CLASS_ANY) && !isMetaType(type);
    const flags = isOurs
      ? this.#zones.answer(this.#store.data, bytes, offset, labels, labelCount, type)
      : OUTSIDE;
    if (flags === OUTSIDE) return this.#outside === -1 ? TO_FRAMEWORK : this.#refuse(this.#outside);
    // Never authoritative for every class there is (RFC 1035, section 6.2).
    return this.#finish(questionClass === CLASS_ANY ? flags & ~FLAG.authoritative : flags, transport);
  }

  /** The answer that has been written; without its records if the client does not take so much. */
  #finish(flags: number, transport: Transport): number {
    const { hasEdns, dnssecOk, questionEnd, udpOctets } = this.#query;
    const reply = this.#reply;
    const limit = transport === 'stream' ? MAX_MESSAGE_OCTETS : Math.min(udpOctets, this.#maxUdpOctets);
    const isTruncated = reply.isFull || reply.at + (hasEdns ? OPT_OCTETS : 0) > limit;
    if (isTruncated) reply.clear(questionEnd);
    if (hasEdns) reply.writeOpt(this.#maxUdpOctets, dnssecOk, 0);
    return reply.finish(isTruncated ? flags | FLAG.truncated : flags, 1);
  }

  /** A reply without records. */
  #refuse(code: number): number {
    const { hasEdns, dnssecOk, questionEnd } = this.#query;
    if (hasEdns) this.#reply.writeOpt(this.#maxUdpOctets, dnssecOk, code >> 4);
    return this.#reply.finish(code & 0xf, questionEnd > HEADER_OCTETS ? 1 : 0);
  }
}
