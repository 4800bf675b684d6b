/**
 * What the networks with connections have in common: TCP, TLS and HTTPS. Messages are answered from the answer table if it can, else
 * through the framework.
 */
import { IGNORE, MAX_MESSAGE_BYTES, mappedAddress, QueryReader } from '@dinodns-bench/wire';
import { SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Bypass } from '../framework/bypass.ts';
import type { Cookies } from '../limits/cookies.ts';
import { DROP_REASON } from '../metrics/counters.ts';
import { DROP, type Responder, TO_FRAMEWORK } from '../table/responder.ts';
import { padded } from '../wire/padding.ts';
import { type Client, toFramework } from './framework-path.ts';
import { StreamListener, type StreamNetworkOptions } from './stream-listener.ts';
import { DEFAULT_MAX_BUFFERED_BYTES } from './tcp-limits.ts';
import type { TlsCredentials } from './tls-credentials.ts';

/** `congested`: the framework has too many queries; this one is dropped, and counted. */
type StreamOutcome = 'answered' | 'unanswerable' | 'congested';

export abstract class StreamNetwork extends StreamListener {
  protected readonly maxBufferedBytes: number;
  /** The current message; each is parsed once. */
  protected readonly query = new QueryReader();
  readonly #responder: Responder | undefined;
  readonly #bypass: Bypass | undefined;
  readonly #cookies: Cookies | undefined;
  readonly #isEncrypted: boolean;
  /** The buffer in which the table writes its answers. */
  readonly #scratch: Buffer;

  constructor(networkType: SupportedNetworkType, options: StreamNetworkOptions, headroom: number) {
    super(networkType, options, headroom);
    this.maxBufferedBytes = options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#responder = options.responder;
    this.#bypass = options.bypass;
    this.#cookies = options.cookies;
    this.#isEncrypted = networkType !== SupportedNetworkType.TCP;
    this.#scratch = Buffer.alloc(headroom + MAX_MESSAGE_BYTES);
  }

  /** Shows another certificate to clients that connect from now on. */
  abstract renew(credentials: TlsCredentials): void;

  /**
   * Calls `send` once with the reply, perhaps before this call returns; never, unless the outcome is `answered`.
   */
  protected handle(message: Buffer, client: Client, send: (reply: Buffer) => void): StreamOutcome {
    const start = performance.now();
    const answered = this.#fromTable(message);
    const { headroom } = this;
    const cookies = this.cookiesFor(message, client);
    // Where everybody can read the reply, its length tells nothing more.
    const isPadded = this.#isEncrypted && this.query.hasPadding;
    const finish = isPadded ? (reply: Buffer) => send(padded(reply, headroom)) : send;
    if (answered > 0) {
      const replied = cookies?.append(this.#scratch, headroom, answered, MAX_MESSAGE_BYTES) ?? answered;
      const reply = Buffer.allocUnsafe(headroom + replied);
      this.#scratch.copy(reply, headroom, headroom, headroom + replied);
      this.counters.count('tableHits');
      this.#count(reply, this.query.type, start);
      finish(reply);
      return 'answered';
    }
    return answered === DROP
      ? 'unanswerable'
      : this.#askFramework(message, client, start, cookies?.option(), finish);
  }

  /** With the cookie for this query's reply; undefined if it gets none. */
  protected cookiesFor(message: Buffer, { remoteAddress }: Client): Cookies | undefined {
    const cookies = this.#cookies;
    if (cookies === undefined || this.query.cookieAt === 0) return undefined;
    this.counters.cookie(cookies.read(message, 0, this.query, mappedAddress(remoteAddress), 0));
    return cookies;
  }

  /** The client for which most bytes are buffered, if all together are too many; it is counted, and to be closed. */
  protected tooGreedy<Of>(clients: Iterable<Of>, bytesOf: (client: Of) => number): Of | undefined {
    let [total, most] = [0, 0];
    let greediest: Of | undefined;
    for (const client of clients) {
      const bytes = bytesOf(client);
      total += bytes;
      if (bytes > most) [most, greediest] = [bytes, client];
    }
    if (total <= this.maxBufferedBytes) return undefined;
    this.counters.drop(DROP_REASON.congested);
    return greediest;
  }

  /** The length of the reply in the scratch buffer, or `DROP` or `TO_FRAMEWORK`. */
  #fromTable(message: Buffer): number {
    const { length } = message;
    const { headroom } = this;
    const responder = this.#responder;
    if (this.query.read(message, 0, length) === IGNORE) return DROP;
    if (responder === undefined || this.#bypass?.allows(message, 0, this.query) === false)
      return TO_FRAMEWORK;
    message.copy(this.#scratch, headroom);
    return responder.answer(this.#scratch, headroom, length, MAX_MESSAGE_BYTES, 'stream', this.query);
  }

  #askFramework(
    message: Buffer,
    client: Client,
    start: number,
    cookie: Uint8Array | undefined,
    send: (reply: Buffer) => void,
  ): StreamOutcome {
    const { counters, query } = this;
    const { type } = query;
    counters.count('frameworkQueries');
    const respond = (reply: Buffer) => {
      this.#count(reply, type, start);
      send(reply);
    };
    const outcome = toFramework(this, message, client, query, this.#bypass?.draw, cookie, respond);
    if (outcome === 'congested') counters.drop(DROP_REASON.congested);
    return outcome === 'congested' ? outcome : 'answered';
  }

  #count(reply: Buffer, type: number, start: number): void {
    this.counters.reply(reply, this.headroom, type);
    this.counters.latency((performance.now() - start) / 1000, 1);
  }
}
