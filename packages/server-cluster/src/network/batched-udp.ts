/**
 * DNS over UDP for DinoDNS, many datagrams at a time. Each batch is answered in place from the answer table; what
 * the table leaves goes through the framework's chain. No input can end the process.
 */

import cluster from 'node:cluster';
import { EventEmitter } from 'node:events';
import { performance as clock } from 'node:perf_hooks';
import {
  type Backend,
  type Batch,
  openUdpSocket,
  type Peer,
  type UdpSocket,
} from '@dinodns-bench/batched-udp';
import { messageOf } from '@dinodns-bench/program';
import { EDNS_UDP_BYTES, HEADER_BYTES, QueryReader } from '@dinodns-bench/wire';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Gate } from '../framework/gate.ts';
import { COOKIE, type CookieState, type Cookies } from '../limits/cookies.ts';
import { PendingLimit } from '../limits/pending-limit.ts';
import { ALLOW, type RateLimit, RateLimiter, SLIP } from '../limits/rate-limiter.ts';
import { writeSlip } from '../limits/slip.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { DROP_REASON, TransportCounters } from '../metrics/counters.ts';
import { addSockets, NO_SOCKETS, type SocketTotals } from '../metrics/snapshot.ts';
import type { Responder } from '../table/responder.ts';
import { Barrier } from './barrier.ts';
import { type FrameworkPath, NO_HANDLER, toFramework } from './framework-path.ts';
import { type ManagedNetwork, type SharingOptions, waitUntil } from './managed-network.ts';
import { canReusePort } from './reuse-port.ts';
import { packetSerializer } from './serializer.ts';
import { MAX_QUERY_BYTES } from './tcp-connection.ts';

/**
 * The receive buffer requested for each socket; the kernel caps it at `net.core.rmem_max`. Linux's default of
 * 212,992 bytes holds about 200 small datagrams, less than one burst of a busy resolver.
 */
export const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** The longest datagram that we read, as over TCP. A question has at most 271 bytes, and padding adds hundreds. */
export const SLOT_BYTES = MAX_QUERY_BYTES;
/** When stopping, after this long without a message we consider everything received as read. */
const DRAIN_QUIET_SECONDS = 0.02;
/** When stopping under constant load, reading ends after this time. */
const DRAIN_LIMIT_SECONDS = 0.25;

export type UdpBackend = Backend | 'auto';

export interface BatchedUdpOptions extends SharingOptions {
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  readonly port: number;
  /**
   * With `reusePort`: spread datagrams at random over this many sockets of the port, instead of by flow. Native
   * backend only. Default: by flow.
   */
  readonly spreadOver?: number;
  /** `auto`: system calls for many datagrams where the machine has them, else `node:dgram`. Default: `auto`. */
  readonly backend?: UdpBackend;
  /** Answers what it can before the framework is asked. Default: none; the framework then answers everything. */
  readonly responder?: Responder & { readonly gate?: Gate };
  /** Under load, wait this long before each further read (see batched-udp). Default: 0. */
  readonly gatherMicroseconds?: number;
  /** Look for datagrams for this long before waiting for them (see batched-udp). Default: 0. */
  readonly busyPollMicroseconds?: number;
  /** Default: no limit. */
  readonly rateLimit?: RateLimit;
  /** Answers cookies, and spares clients with a valid one from the limit. Default: none. */
  readonly cookies?: Cookies;
  /** Default: errors and warnings as JSON on standard error. */
  readonly log?: Log;
  readonly counters?: TransportCounters;
  /** Whether `counters` include latency, which takes two readings of the clock for each batch. Default: true. */
  readonly isTimed?: boolean;
  /** Shared with the other networks of the process. Default: one of its own. */
  readonly pending?: PendingLimit;
}

export class BatchedUdpNetwork implements ManagedNetwork {
  readonly networkType = SupportedNetworkType.UDP;
  readonly address: string;
  /** May be changed until the network opens. */
  port: number;
  readonly serializer = packetSerializer;
  readonly counters: TransportCounters;
  readonly #backend: UdpBackend;
  readonly #reusePort: boolean;
  readonly #spreadOver: number | undefined;
  readonly #gatherMicroseconds: number;
  readonly #busyPollMicroseconds: number;
  readonly #responder: (Responder & { readonly gate?: Gate }) | undefined;
  readonly #limiter: RateLimiter | null;
  readonly #cookies: Cookies | undefined;
  readonly #isTimed: boolean;
  readonly #log: Log;
  readonly #barrier: Barrier;
  readonly #events = new EventEmitter();
  /** The current datagram; each is parsed once. */
  readonly #query = new QueryReader();
  #path: FrameworkPath;
  #socket: UdpSocket | undefined;
  /** Requests that handlers have not answered yet. */
  #pending = 0;
  /** Batches received so far. */
  #batches = 0;
  #isClosed = false;

  constructor(options: BatchedUdpOptions) {
    this.address = options.address;
    this.port = options.port;
    this.counters = options.counters ?? new TransportCounters();
    this.#backend = options.backend ?? 'auto';
    // A worker's own socket must share the port with the other workers' sockets.
    this.#reusePort = options.reusePort ?? (cluster.isWorker && canReusePort());
    this.#spreadOver = this.#reusePort ? options.spreadOver : undefined;
    this.#gatherMicroseconds = options.gatherMicroseconds ?? 0;
    this.#busyPollMicroseconds = options.busyPollMicroseconds ?? 0;
    this.#responder = options.responder;
    this.#limiter = options.rateLimit === undefined ? null : new RateLimiter(options.rateLimit);
    this.#cookies = options.cookies;
    this.#isTimed = options.isTimed ?? true;
    this.#log = options.log ?? defaultLog();
    this.#barrier = new Barrier(this.#log, this.counters);
    const pending = options.pending ?? new PendingLimit();
    const [log, barrier] = [this.#log, this.#barrier];
    this.#path = { handler: NO_HANDLER, log, headroom: 0, transport: 'udp', barrier, pending };
  }

  get handler(): NetworkHandler {
    return this.#path.handler;
  }

  set handler(handler: NetworkHandler) {
    this.#path = { ...this.#path, handler };
  }

  /** The UDP backend, once the network is open. */
  get backend(): Backend | undefined {
    return this.#socket?.backend;
  }

  /** The kernel's receive buffer, in bytes as it reports them; 0 before the network is open. */
  get receiveBufferBytes(): number {
    return this.#socket?.receiveBufferBytes ?? 0;
  }

  get totals(): SocketTotals {
    return this.#socket === undefined ? NO_SOCKETS : addSockets(NO_SOCKETS, this.#socket.counters);
  }

  async open(): Promise<void> {
    this.#socket = await openUdpSocket({
      backend: this.#backend,
      address: this.address,
      port: this.port,
      reusePort: this.#reusePort,
      ...(this.#spreadOver === undefined ? {} : { spreadOver: this.#spreadOver }),
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      // Fragments get lost and can be forged. A response too long for the path goes over TCP (RFC 9715).
      dontFragment: true,
      gatherMicroseconds: this.#gatherMicroseconds,
      busyPollMicroseconds: this.#busyPollMicroseconds,
      slotBytes: SLOT_BYTES,
      onBatch: (batch) => this.#onBatch(batch),
      onError: (error) => this.#onError(error),
    });
    this.port = this.#socket.local.port;
    const { backend, reason, waitsIn } = this.#socket;
    const gatherMicroseconds = this.#gatherMicroseconds;
    this.#log.info(
      { address: this.address, port: this.port, backend, reason, waitsIn, gatherMicroseconds },
      'Listening over UDP',
    );
    if (this.#isClosed) await this.#socket.close();
    else this.#events.emit('listening');
  }

  /** The framework's interface to open. A failure is emitted as `error`, or logged if nobody listens for it. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => this.#onError(error));
  }

  async shutdown(seconds: number): Promise<void> {
    const start = performance.now();
    await waitUntil(this.#untilQuiet(start), Math.min(DRAIN_LIMIT_SECONDS, seconds));
    const left = Math.max(0, seconds - (performance.now() - start) / 1000);
    await waitUntil(() => this.#pending === 0, left);
    await this.#close();
  }

  /** Tells, whenever it is asked, whether no batch has arrived for a while. */
  #untilQuiet(start: number): () => boolean {
    let seen = this.#batches;
    let since = start;
    return () => {
      const now = performance.now();
      if (this.#batches === seen) return now - since > DRAIN_QUIET_SECONDS * 1000;
      seen = this.#batches;
      since = now;
      return false;
    };
  }

  close(): void {
    void this.#close();
  }

  on(event: string, listener: () => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#events.off(event, listener);
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#socket?.close();
    this.#events.emit('close');
  }

  #onError(error: Error): void {
    if (this.#isClosed) return;
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
    else this.#log.error({ address: this.address, port: this.port, error: error.message }, 'UDP failed');
  }

  /** `nothing` is left to the event loop unless the framework has been asked. */
  #onBatch(batch: Batch): 'nothing' | 'some' {
    this.#batches++;
    const start = this.#isTimed || this.#limiter !== null ? clock.now() : 0;
    const { counters } = this;
    const { count, bytes, offsets, lengths, slotBytes } = batch;
    const responder = this.#responder;
    const query = this.#query;
    let hits = 0;
    let isDone = true;
    for (let index = 0; index < count; index++) {
      const offset = offsets[index] ?? 0;
      const length = lengths[index] ?? 0;
      // An unexpected error costs this datagram its answer, and no other.
      try {
        if (!this.#isAdmitted(batch, index, offset, length, start)) continue;
        const replied =
          responder === undefined ? -1 : responder.answer(bytes, offset, length, slotBytes, 'udp', query);
        const cookies = query.cookieAt === 0 ? undefined : this.#cookies;
        if (replied > 0) {
          hits++;
          counters.reply(bytes, offset, query.type);
          batch.reply(index, cookies?.append(bytes, offset, replied, slotBytes) ?? replied);
        } else if (replied < 0) {
          this.#askFramework(batch, index, offset, length, cookies?.option());
          isDone = false;
        } else {
          counters.drop(DROP_REASON.unanswerable);
        }
      } catch (error) {
        this.#barrier.caught(error);
      }
    }
    if (hits > 0) {
      counters.tableHits(hits);
      if (this.#isTimed) counters.latency((clock.now() - start) / 1000, hits);
    }
    return isDone ? 'nothing' : 'some';
  }

  /** Parses the query. False for a datagram that gets no answer or already has one. */
  #isAdmitted(batch: Batch, index: number, offset: number, length: number, now: number): boolean {
    const { bytes, ports } = batch;
    const reason = dropReason(bytes[offset + 2] ?? 0, length, ports[index] ?? 0, batch.truncated[index] ?? 0);
    if (reason !== -1) {
      this.counters.drop(reason);
      return false;
    }
    // The process's clock starts at 0; the limiter's must start above it.
    const decision = this.#limiter?.decide(batch.addresses, index * 16, now / 1000 + 1) ?? ALLOW;
    const query = this.#query;
    if (decision === ALLOW) {
      query.read(bytes, offset, length);
      if (query.cookieAt !== 0) this.#readCookie(batch, index, offset);
      return true;
    }
    // A query that gets no answer is not parsed, unless it could have a cookie: in its additional section.
    const canHaveCookie = this.#cookies !== undefined && bytes[offset + 11] !== 0;
    if (decision === SLIP || canHaveCookie) query.read(bytes, offset, length);
    const cookie = canHaveCookie ? this.#readCookie(batch, index, offset) : 0;
    if (cookie === COOKIE.valid) return true;
    const slip = decision === SLIP ? this.#writeSlip(bytes, offset, batch.slotBytes, cookie !== 0) : 0;
    if (slip === 0) {
      this.counters.drop(DROP_REASON['rate-limit']);
    } else {
      this.counters.slip();
      this.counters.reply(bytes, offset, this.#query.type);
      batch.reply(index, slip);
    }
    return false;
  }

  /** 0 if the query has none, or cookies are not answered. */
  #readCookie(batch: Batch, index: number, offset: number): CookieState | 0 {
    const cookies = this.#cookies;
    if (cookies === undefined || this.#query.cookieAt === 0) return 0;
    const state = cookies.read(batch.bytes, offset, this.#query, batch.addresses, index * 16);
    this.counters.cookie(state);
    return state;
  }

  #writeSlip(bytes: Uint8Array, offset: number, capacity: number, withCookie: boolean): number {
    const length = writeSlip(bytes, offset, this.#query, EDNS_UDP_BYTES, withCookie);
    return withCookie && length > 0
      ? (this.#cookies?.append(bytes, offset, length, capacity) ?? length)
      : length;
  }

  #askFramework(
    batch: Batch,
    index: number,
    offset: number,
    length: number,
    cookie: Uint8Array | undefined,
  ): void {
    const peer = batch.peer(index);
    const message = Buffer.from(batch.bytes.subarray(offset, offset + length));
    const start = performance.now();
    const { type } = this.#query;
    let isCounted = false;
    this.#pending++;
    this.counters.frameworkQuery();
    const connection = {
      remoteAddress: peer.address,
      remotePort: peer.port,
      type: SupportedNetworkType.UDP,
    };
    const send = (reply: Buffer) => {
      this.#pending--;
      isCounted = true;
      this.#send(reply, peer, type, start);
    };
    const outcome = toFramework(
      this.#path,
      message,
      connection,
      this.#query,
      this.#responder?.gate?.draw,
      cookie,
      send,
    );
    if (isCounted || outcome === 'pending') return;
    this.#pending--;
    this.counters.drop(outcome === 'congested' ? DROP_REASON.congested : DROP_REASON.unanswerable);
  }

  #send(reply: Buffer, peer: Peer, type: number, start: number): void {
    const socket = this.#socket;
    if (this.#isClosed || socket === undefined) return;
    let isQueued = false;
    try {
      isQueued = socket.queue(reply, peer);
    } catch (error) {
      this.#log.error({ error: messageOf(error) }, 'A reply could not be queued');
    }
    if (isQueued) {
      this.counters.reply(reply, 0, type);
      this.counters.latency((performance.now() - start) / 1000, 1);
    } else {
      // Memory stays bounded: if the network card is congested, we drop the reply, as UDP allows.
      this.counters.drop(DROP_REASON.congested);
    }
  }
}

/** Why a datagram is dropped unread; -1 if it is not. */
function dropReason(flags: number, length: number, port: number, truncated: number): number {
  if (length < HEADER_BYTES) return DROP_REASON.short;
  // Otherwise two servers could answer each other's responses for ever.
  if ((flags & 0x80) !== 0) return DROP_REASON.response;
  // Nobody can receive there: a datagram from port 0 is forged.
  if (port === 0) return DROP_REASON['port-zero'];
  return truncated === 0 ? -1 : DROP_REASON.oversized;
}
