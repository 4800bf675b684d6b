/**
 * The answer table: answers queries in place from a store's records, without the framework. It leaves to the chain
 * whatever it cannot answer exactly as the store's handler would there.
 */
import * as wire from '@dinodns-bench/wire';
import { QueryReader } from '@dinodns-bench/wire';
import type { DefaultStore } from 'dinodns/plugins/storage/index.js';
import { isDefaultStore } from '../recognise.ts';
import type { ZoneStore } from '../store/zone-store.ts';
import { DefaultStoreWriter } from './default-store.ts';
import { Finisher, roomOfOpt } from './finish.ts';
import { ReplyWriter } from './reply-writer.ts';
import type { Responder, Source, Transport } from './responder.ts';
import * as responder from './responder.ts';
import { ZoneWriter } from './write.ts';

// Copied: README.md, "Hot code".
const { EDNS_UDP_BYTES, GOOD, IGNORE, MAX_MESSAGE_BYTES, PLAIN_UDP_BYTES, RCODE } = wire;
const { DROP, FOUND, TO_FRAMEWORK } = responder;

const OUTSIDE_CODES = { refuse: RCODE.REFUSED, nxdomain: RCODE.NXDOMAIN, framework: TO_FRAMEWORK } as const;

export interface AnswerTableOptions {
  /**
   * The largest UDP response and the size that our OPT record advertises, in bytes: 512 to 65,535. Default 1232,
   * which passes any path unfragmented (RFC 9715).
   */
  readonly maxUdpBytes?: number;
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
  const source = isDefaultStore(store) ? new DefaultStoreWriter(store, reply) : new ZoneWriter(store, reply);
  return new AnswerTable(source, reply, options);
}

class AnswerTable implements Responder {
  readonly #source: Source;
  readonly #reply: ReplyWriter;
  readonly #finisher: Finisher;
  /** For callers that have not parsed the message themselves. */
  readonly #own = new QueryReader();
  /** The RCODE for questions outside of the store, or `TO_FRAMEWORK`. */
  readonly #outside: number;

  constructor(source: Source, reply: ReplyWriter, options: AnswerTableOptions) {
    const { maxUdpBytes = EDNS_UDP_BYTES, outside = 'refuse' } = options;
    const isPossible = maxUdpBytes >= PLAIN_UDP_BYTES && maxUdpBytes <= MAX_MESSAGE_BYTES;
    if (!Number.isInteger(maxUdpBytes) || !isPossible) {
      throw new RangeError(`maxUdpBytes ${maxUdpBytes} is not a whole number from 512 to 65535`);
    }
    this.#source = source;
    this.#reply = reply;
    this.#finisher = new Finisher(reply, maxUdpBytes);
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
    const { code } = query;
    if (code === IGNORE) return DROP;
    // Write as much as the slot holds: only at the end is it known whether the client takes it, and with which
    // RCODE.
    this.#reply.begin(bytes, offset, query.questionEnd, capacity - roomOfOpt(query));
    if (code !== GOOD) return this.#finisher.refuse(query, code);
    const found = this.#source.find(bytes, offset, query);
    if (found === FOUND) return this.#finisher.finish(query, this.#source.write(), transport);
    if (found === TO_FRAMEWORK || this.#outside === TO_FRAMEWORK) return TO_FRAMEWORK;
    return this.#finisher.refuse(query, this.#outside);
  }
}
