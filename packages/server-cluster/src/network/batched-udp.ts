/**
 * DNS over UDP for DinoDNS, many datagrams at a time. Each batch is answered in place from the answer table; what the table leaves goes
 * through the framework's chain. The README of these sources lists the steps of a datagram in order.
 */
import { performance as clock } from 'node:perf_hooks';
import {
  type Backend,
  type Batch,
  openUdpSocket,
  type Peer,
  type UdpSocket,
} from '@dinodns-bench/batched-udp';
import { messageOf } from '@dinodns-bench/program';
import { SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Bypass } from '../framework/bypass.ts';
import type { Cookies } from '../limits/cookies.ts';
import type { RateLimit } from '../limits/rate-limiter.ts';
import { addTotals, DROP_REASON, NO_SOCKETS, type SocketTotals } from '../metrics/counters.ts';
import { type Responder, TO_FRAMEWORK } from '../table/responder.ts';
import { Admission } from './admit.ts';
import { toFramework } from './framework-path.ts';
import { ManagedNetwork, type NetworkOptions, waitUntil } from './managed-network.ts';
import { MAX_QUERY_BYTES } from './tcp-connection.ts';

/**
 * The receive buffer requested for each socket; the kernel caps it at `net.core.rmem_max`. Linux's default of
 * 212,992 bytes holds about 200 small datagrams, less than one burst of a busy resolver.
 */
export const RECEIVE_BUFFER_BYTES = 1024 * 1024;
/** When stopping, after this long without a message we consider everything received as read. */
const DRAIN_QUIET_SECONDS = 0.02;
/** When stopping under constant load, reading ends after this time. */
const DRAIN_LIMIT_SECONDS = 0.25;

export type UdpBackend = Backend | 'auto';

export interface BatchedUdpOptions extends NetworkOptions {
  /**
   * With `reusePort`: spread datagrams at random over this many sockets of the port, instead of by flow. Native
   * backend only. Default: by flow.
   */
  readonly spreadOver?: number | undefined;
  /** `auto`: system calls for many datagrams where the machine has them, else `node:dgram`. Default: `auto`. */
  readonly backend?: UdpBackend | undefined;
  /** Under load, wait this long before each further read (see batched-udp). Default: 0. */
  readonly gatherMicroseconds?: number;
  /** Look for datagrams for this long before waiting for them (see batched-udp). Default: 0. */
  readonly busyPollMicroseconds?: number;
  /** Default: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Whether `counters` include latency, which takes two readings of the clock for each batch. Default: true. */
  readonly isTimed?: boolean;
}

export class BatchedUdpNetwork extends ManagedNetwork {
  readonly #options: BatchedUdpOptions;
  readonly #responder: Responder | undefined;
  readonly #bypass: Bypass | undefined;
  readonly #cookies: Cookies | undefined;
  readonly #isTimed: boolean;
  readonly #admission: Admission;
  #socket: UdpSocket | undefined;
  /** Requests that handlers have not answered yet. */
  #pending = 0;
  /** Batches received so far. */
  #batches = 0;

  constructor(options: BatchedUdpOptions) {
    super(SupportedNetworkType.UDP, options, 0);
    this.#options = options;
    this.#responder = options.responder;
    this.#bypass = options.bypass;
    this.#cookies = options.cookies;
    this.#isTimed = options.isTimed ?? true;
    this.#admission = new Admission(this.counters, options.rateLimit, options.cookies);
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
    return this.#socket === undefined ? NO_SOCKETS : addTotals(NO_SOCKETS, this.#socket.counters);
  }

  protected async bind(): Promise<object> {
    const { address, port, reusePort } = this;
    const { backend = 'auto', spreadOver, gatherMicroseconds = 0, busyPollMicroseconds = 0 } = this.#options;
    const socket = await openUdpSocket({
      backend,
      address,
      port,
      reusePort,
      ...(reusePort && spreadOver !== undefined ? { spreadOver } : {}),
      receiveBufferBytes: RECEIVE_BUFFER_BYTES,
      // Fragments get lost and can be forged. A response too long for the path goes over TCP (RFC 9715).
      dontFragment: true,
      gatherMicroseconds,
      busyPollMicroseconds,
      // The longest datagram that we read, as over TCP.
      slotBytes: MAX_QUERY_BYTES,
      onBatch: (batch) => this.#onBatch(batch),
      onError: (error) => this.fail(error),
    });
    this.#socket = socket;
    this.port = socket.local.port;
    if (this.isClosed) await socket.close();
    return { backend: socket.backend, reason: socket.reason, waitsIn: socket.waitsIn, gatherMicroseconds };
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

  async #close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.#socket?.close();
    this.emit('close');
  }

  #onBatch(batch: Batch): 'nothing' | 'unknown' {
    this.#batches++;
    const admission = this.#admission;
    const start = this.#isTimed || admission.isLimiting ? clock.now() : 0;
    const { counters } = this;
    const { count, bytes, offsets, lengths, slotBytes } = batch;
    const { query } = admission;
    let hits = 0;
    let asked = 0;
    for (let index = 0; index < count; index++) {
      const offset = offsets[index] ?? 0;
      const length = lengths[index] ?? 0;
      // An unexpected error costs this datagram its answer, and no other.
      try {
        if (!admission.admit(batch, index, offset, length, start)) continue;
        const replied = this.#fromTable(bytes, offset, length, slotBytes);
        const cookies = query.cookieAt === 0 ? undefined : this.#cookies;
        if (replied > 0) {
          hits++;
          counters.reply(bytes, offset, query.type);
          batch.reply(index, cookies?.append(bytes, offset, replied, slotBytes) ?? replied);
        } else {
          asked++;
          this.#askFramework(batch, index, offset, length, cookies?.option());
        }
      } catch (error) {
        this.barrier.caught(error);
      }
    }
    if (hits > 0) {
      counters.count('tableHits', hits);
      if (this.#isTimed) counters.latency((clock.now() - start) / 1000, hits);
    }
    // Handlers may have left anything to the event loop.
    return asked === 0 ? 'nothing' : 'unknown';
  }

  #fromTable(bytes: Uint8Array, offset: number, length: number, capacity: number): number {
    const responder = this.#responder;
    const { query } = this.#admission;
    if (responder === undefined || this.#bypass?.allows(bytes, offset, query) === false) return TO_FRAMEWORK;
    return responder.answer(bytes, offset, length, capacity, 'udp', query);
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
    const { query } = this.#admission;
    const { type } = query;
    let isCounted = false;
    this.#pending++;
    this.counters.count('frameworkQueries');
    const client = { remoteAddress: peer.address, remotePort: peer.port };
    const send = (reply: Buffer) => {
      this.#pending--;
      isCounted = true;
      this.#send(reply, peer, type, start);
    };
    const outcome = toFramework(this, message, client, query, this.#bypass?.draw, cookie, send);
    if (isCounted || outcome === 'pending') return;
    this.#pending--;
    this.counters.drop(DROP_REASON.congested);
  }

  #send(reply: Buffer, peer: Peer, type: number, start: number): void {
    const socket = this.#socket;
    if (this.isClosed || socket === undefined) return;
    let isQueued = false;
    try {
      isQueued = socket.queue(reply, peer);
    } catch (error) {
      this.log.error({ error: messageOf(error) }, 'A reply could not be queued');
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
