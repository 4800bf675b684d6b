/**
 * What this package's networks have in common beyond the framework's `Network`: they report when they are bound or why they cannot
 * be, stop without losing what they have received, and survive whatever arrives.
 */
import cluster from 'node:cluster';
import { EventEmitter } from 'node:events';
import type { Network, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Serializer } from 'dinodns/common/serializer/serializers.js';
import { decode, encode, type Packet } from 'dns-packet';
import type { Bypass } from '../framework/bypass.ts';
import type { Cookies } from '../limits/cookies.ts';
import { PendingLimit } from '../limits/pending-limit.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { TransportCounters } from '../metrics/counters.ts';
import type { Responder } from '../table/responder.ts';
import { Barrier } from './barrier.ts';
import { NO_HANDLER } from './framework-path.ts';

/**
 * Whether the kernel can spread the load over several sockets of one port: these balance over SO_REUSEPORT sockets (Node.js
 * documentation of `reusePort`). Elsewhere the option is an error, and cluster workers share the primary's socket instead.
 */
export const canReusePort = ['linux', 'freebsd', 'sunos', 'aix'].includes(process.platform);

export interface NetworkOptions {
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  readonly port: number;
  /**
   * Bind with SO_REUSEPORT, so that the kernel spreads the load over all sockets of this port; without it, a socket that is opened in
   * a cluster worker belongs to the primary. Default: in cluster workers, where the kernel can.
   */
  readonly reusePort?: boolean;
  /** Answers what it can before the framework is asked. Default: none; the framework then answers everything. */
  readonly responder?: Responder;
  /** Which queries may go to the responder. Default: all. */
  readonly bypass?: Bypass;
  /** Default: errors and warnings as JSON on standard error. */
  readonly log?: Log | undefined;
  readonly counters?: TransportCounters;
  /** Shared with the other networks of the process. Default: one of its own. */
  readonly pending?: PendingLimit;
  /** Answers cookies; over UDP, it also spares clients with a valid one from the rate limit. Default: none. */
  readonly cookies?: Cookies | undefined;
}

/** The framework's interface, for programs that use it directly. Our networks work on bytes. */
const packetSerializer: Serializer<Packet> = {
  encode: (packet) => encode(packet),
  decode: (buffer) => decode(buffer),
};

export abstract class ManagedNetwork implements Network<Packet> {
  readonly networkType: SupportedNetworkType;
  readonly address: string;
  /** May be changed until the network opens. */
  port: number;
  readonly serializer = packetSerializer;
  readonly counters: TransportCounters;
  readonly barrier: Barrier;
  readonly log: Log;
  /** Bytes before each reply for the caller to fill: the length field over TCP. */
  readonly headroom: number;
  readonly pending: PendingLimit;
  handler = NO_HANDLER;
  protected readonly reusePort: boolean;
  protected isClosed = false;
  readonly #events = new EventEmitter();

  constructor(networkType: SupportedNetworkType, options: NetworkOptions, headroom: number) {
    this.networkType = networkType;
    this.address = options.address;
    this.port = options.port;
    this.counters = options.counters ?? new TransportCounters();
    this.log = options.log ?? defaultLog();
    this.barrier = new Barrier(this.log, this.counters);
    this.reusePort = options.reusePort ?? (cluster.isWorker && canReusePort);
    this.headroom = headroom;
    this.pending = options.pending ?? new PendingLimit();
  }

  /** Binds, listens, and sets `port`. Resolves with what else to log; rejects with the system error. */
  protected abstract bind(): Promise<object>;

  /** Answers the queries received so far, then closes. Gives up on the rest after `seconds`. Never rejects. */
  abstract shutdown(seconds: number): Promise<void>;

  abstract close(): void;

  /** Binds and listens. Rejects with the system error if that fails. */
  async open(): Promise<void> {
    const details = await this.bind();
    const { address, port } = this;
    this.log.info({ address, port, ...details }, `Listening over ${this.networkType}`);
    if (!this.isClosed) this.#events.emit('listening');
  }

  /** The framework's interface to open. A failure is emitted as `error`, or logged if nobody listens for it. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => this.fail(error));
  }

  on(event: string, listener: () => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#events.off(event, listener);
  }

  protected emit(event: 'close'): void {
    this.#events.emit(event);
  }

  protected fail(error: Error): void {
    if (this.isClosed) return;
    const { address, port } = this;
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
    else this.log.error({ address, port, error: error.message }, `${this.networkType} failed`);
  }
}

/** Calls `check` every few milliseconds until it is true or `seconds` have passed. */
export async function waitUntil(check: () => boolean, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!check() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
