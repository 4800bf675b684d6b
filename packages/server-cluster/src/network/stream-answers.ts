/** Answers messages that arrive over a stream: from the answer table if it can, else through the framework. */
import { IGNORE, MAX_MESSAGE_BYTES, QueryReader } from '@dinodns-bench/wire';
import type { NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Gate } from '../framework/gate.ts';
import type { Cookies } from '../limits/cookies.ts';
import { addressBytes } from '../limits/networks.ts';
import { PendingLimit } from '../limits/pending-limit.ts';
import type { Log } from '../log/log.ts';
import { DROP_REASON, type TransportCounters } from '../metrics/counters.ts';
import { DROP, type Responder, TO_FRAMEWORK } from '../table/responder.ts';
import type { Barrier } from './barrier.ts';
import { NO_HANDLER, toFramework } from './framework-path.ts';

export interface StreamAnswersOptions {
  /** Answers what it can before the framework is asked. */
  readonly responder: (Responder & { readonly gate?: Gate }) | undefined;
  readonly type: SupportedNetworkType;
  /** Bytes before each reply for the caller to fill: the length field over TCP. */
  readonly headroom: number;
  readonly log: Log;
  readonly counters: TransportCounters;
  readonly barrier: Barrier;
  /** Undefined: one of its own. */
  readonly pending: PendingLimit | undefined;
  /** Undefined: replies have no cookies. */
  readonly cookies: Cookies | undefined;
}

/** `congested`: the framework has too many queries; this one is dropped, and counted. */
export type StreamOutcome = 'answered' | 'unanswerable' | 'congested';

/** The client, for handlers. */
export interface StreamPeer {
  readonly remoteAddress: string;
  readonly remotePort: number;
}

export class StreamAnswers {
  handler: NetworkHandler = NO_HANDLER;
  /** The current message; each is parsed once. */
  readonly query = new QueryReader();
  readonly #options: StreamAnswersOptions;
  readonly #pending: PendingLimit;
  /** The buffer in which the table writes its answers. */
  readonly #scratch: Buffer;

  constructor(options: StreamAnswersOptions) {
    this.#options = options;
    this.#pending = options.pending ?? new PendingLimit();
    this.#scratch = Buffer.alloc(options.headroom + MAX_MESSAGE_BYTES);
  }

  /**
   * Calls `send` once with the reply, perhaps before this call returns; never, unless the outcome is `answered`.
   */
  answer(message: Buffer, peer: StreamPeer, send: (reply: Buffer) => void): StreamOutcome {
    const start = performance.now();
    const answered = this.#fromTable(message);
    const { headroom, counters } = this.#options;
    const cookies = this.#cookiesFor(message, peer);
    if (answered > 0) {
      const replied = cookies?.append(this.#scratch, headroom, answered, MAX_MESSAGE_BYTES) ?? answered;
      const reply = Buffer.allocUnsafe(headroom + replied);
      this.#scratch.copy(reply, headroom, headroom, headroom + replied);
      counters.tableHits(1);
      this.#count(reply, this.query.type, start);
      send(reply);
      return 'answered';
    }
    return answered === DROP
      ? 'unanswerable'
      : this.#askFramework(message, peer, start, cookies?.option(), send);
  }

  /** With the cookie for this query's reply; undefined if it gets none. */
  #cookiesFor(message: Buffer, { remoteAddress }: StreamPeer): Cookies | undefined {
    const { cookies, counters } = this.#options;
    if (cookies === undefined || this.query.cookieAt === 0) return undefined;
    counters.cookie(cookies.read(message, 0, this.query, addressBytes(remoteAddress), 0));
    return cookies;
  }

  /** The length of the reply in the scratch buffer, or the table's `DROP` or `TO_FRAMEWORK`. */
  #fromTable(message: Buffer): number {
    const { length } = message;
    const { responder, headroom } = this.#options;
    if (this.query.read(message, 0, length) === IGNORE) return DROP;
    if (responder === undefined) return TO_FRAMEWORK;
    message.copy(this.#scratch, headroom);
    return responder.answer(this.#scratch, headroom, length, MAX_MESSAGE_BYTES, 'stream', this.query);
  }

  #askFramework(
    message: Buffer,
    { remoteAddress, remotePort }: StreamPeer,
    start: number,
    cookie: Uint8Array | undefined,
    send: (reply: Buffer) => void,
  ): StreamOutcome {
    const { log, headroom, type, counters, responder, barrier } = this.#options;
    const pending = this.#pending;
    const path = { handler: this.handler, log, headroom, transport: 'stream', barrier, pending } as const;
    const queried = this.query.type;
    counters.frameworkQuery();
    const respond = (reply: Buffer) => {
      this.#count(reply, queried, start);
      send(reply);
    };
    const peer = { remoteAddress, remotePort, type };
    const outcome = toFramework(path, message, peer, this.query, responder?.gate?.draw, cookie, respond);
    if (outcome === 'congested') counters.drop(DROP_REASON.congested);
    return outcome === 'replied' || outcome === 'pending' ? 'answered' : outcome;
  }

  #count(reply: Buffer, type: number, start: number): void {
    const { counters, headroom } = this.#options;
    counters.reply(reply, headroom, type);
    counters.latency((performance.now() - start) / 1000, 1);
  }
}
