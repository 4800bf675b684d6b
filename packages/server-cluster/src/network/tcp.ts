/**
 * DNS over TCP for DinoDNS, following RFC 7766, with limits on connections, time and memory; and over TLS (RFC 7858),
 * which is the same inside an encrypted stream.
 */
import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { messageOf } from '@dinodns-bench/program';
import { CLASS, GOOD } from '@dinodns-bench/wire';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Gate } from '../framework/gate.ts';
import type { Cookies } from '../limits/cookies.ts';
import type { PendingLimit } from '../limits/pending-limit.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { DROP_REASON, TransportCounters } from '../metrics/counters.ts';
import type { ConnectionTotals } from '../metrics/snapshot.ts';
import type { Responder } from '../table/responder.ts';
import { isTransfer, type Transfers } from '../transfer/transfer.ts';
import { Barrier } from './barrier.ts';
import { type ManagedNetwork, type SharingOptions, waitUntil } from './managed-network.ts';
import { packetSerializer } from './serializer.ts';
import { StreamAnswers } from './stream-answers.ts';
import {
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_BUFFERED_BYTES,
  StreamListener,
  shakeHands,
  type TcpLimits,
} from './stream-listener.ts';
import { type ConnectionOwner, TcpConnection } from './tcp-connection.ts';
import type { TlsCredentials } from './tls-credentials.ts';

/** When stopping, clients that have all their answers get this long to close. */
const LINGER_SECONDS = 0.5;
const LENGTH_BYTES = 2;

export interface TcpNetworkOptions extends SharingOptions, TcpLimits {
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  readonly port: number;
  /** DNS over TLS with this certificate. Default: plain TCP. */
  readonly tls?: TlsCredentials;
  /** Answers what it can before the framework is asked. Default: none. */
  readonly responder?: Responder & { readonly gate?: Gate };
  /** Zone transfers. Default: none; the framework then answers those queries too. */
  readonly transfers?: Transfers;
  /** Default: errors and warnings as JSON on standard error. */
  readonly log?: Log;
  readonly counters?: TransportCounters;
  /** Shared with the other networks of the process. Default: one of its own. */
  readonly pending?: PendingLimit;
  /** Answers cookies. Default: none. */
  readonly cookies?: Cookies;
}

export class RobustTcpNetwork implements ManagedNetwork, ConnectionOwner {
  readonly networkType: SupportedNetworkType;
  readonly address: string;
  /** May be changed until the network opens. */
  port: number;
  readonly serializer = packetSerializer;
  readonly counters: TransportCounters;
  readonly barrier: Barrier;
  readonly #idleSeconds: number;
  readonly #maxBufferedBytes: number;
  readonly #transfers: Transfers | undefined;
  readonly #log: Log;
  readonly #events = new EventEmitter();
  readonly #answers: StreamAnswers;
  readonly #listener: StreamListener;
  readonly #tls: TlsServer | undefined;
  readonly #connections = new Set<TcpConnection>();

  constructor(options: TcpNetworkOptions) {
    const { tls } = options;
    this.networkType = tls === undefined ? SupportedNetworkType.TCP : SupportedNetworkType.TLS;
    this.address = options.address;
    this.port = options.port;
    this.counters = options.counters ?? new TransportCounters();
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#transfers = options.transfers;
    this.#log = options.log ?? defaultLog();
    this.barrier = new Barrier(this.#log, this.counters);
    this.#answers = new StreamAnswers({
      responder: options.responder,
      type: this.networkType,
      headroom: LENGTH_BYTES,
      log: this.#log,
      counters: this.counters,
      barrier: this.barrier,
      pending: options.pending,
      cookies: options.cookies,
    });
    this.#tls = tls === undefined ? undefined : this.#createTls(tls);
    this.#listener = new StreamListener({
      ...options,
      barrier: this.barrier,
      onSocket: (socket) => {
        if (this.#tls === undefined) this.#serve(socket);
        else shakeHands(this.#tls, socket);
      },
      onError: (error) => this.#onError(error),
    });
  }

  get handler(): NetworkHandler {
    return this.#answers.handler;
  }

  set handler(handler: NetworkHandler) {
    this.#answers.handler = handler;
  }

  /** The listening socket. */
  get server(): Server {
    return this.#listener.server;
  }

  get totals(): ConnectionTotals {
    return this.#listener.totals;
  }

  async open(): Promise<void> {
    this.port = await this.#listener.open(this.port);
    const over = this.#tls === undefined ? 'TCP' : 'TLS';
    this.#log.info({ address: this.address, port: this.port }, `Listening over ${over}`);
    this.#events.emit('listening');
  }

  /** The framework's interface to open. A failure is emitted as `error`, or logged if nobody listens for it. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => this.#onError(error));
  }

  /** Shows another certificate to clients that connect from now on. */
  renew(credentials: TlsCredentials): void {
    this.#tls?.setSecureContext(credentials);
  }

  async shutdown(seconds: number): Promise<void> {
    this.#listener.stop();
    for (const connection of this.#connections) connection.stop();
    const start = performance.now();
    const isFlushed = ({ pending, socket }: TcpConnection) => pending === 0 && socket.writableLength === 0;
    await waitUntil(() => [...this.#connections].every(isFlushed), seconds);
    // Closing at once could reset the connection and lose answers that the client has not read yet.
    const left = seconds - (performance.now() - start) / 1000;
    await waitUntil(() => this.#connections.size === 0, Math.min(LINGER_SECONDS, left));
    this.close();
  }

  close(): void {
    for (const { socket } of this.#connections) socket.destroy();
    this.#listener.close();
  }

  on(event: string, listener: () => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#events.off(event, listener);
  }

  onQuery(message: Buffer, connection: TcpConnection): void {
    if (this.#transfer(message, connection)) return;
    const outcome = this.#answers.answer(message, connection, (reply) => {
      reply.writeUInt16BE(reply.length - LENGTH_BYTES, 0);
      connection.send(reply);
    });
    if (outcome === 'unanswerable') this.#hangUp(connection);
    // The client asks again (RFC 7766, section 6.2.4: it must be ready for an answer that does not come).
    else if (outcome === 'congested') connection.skip();
  }

  onBacklog(): void {
    let total = 0;
    let largest: TcpConnection | undefined;
    for (const connection of this.#connections) {
      const bytes = connection.bufferedBytes;
      total += bytes;
      if (bytes > (largest?.bufferedBytes ?? 0)) largest = connection;
    }
    if (total <= this.#maxBufferedBytes || largest === undefined) return;
    this.counters.drop(DROP_REASON.congested);
    largest.socket.destroy();
  }

  onClosed(connection: TcpConnection): void {
    this.#connections.delete(connection);
  }

  /** Starts a zone transfer if the query asks for one that this client may have; returns whether it did. */
  #transfer(message: Buffer, connection: TcpConnection): boolean {
    const transfers = this.#transfers;
    if (transfers === undefined) return false;
    const { query } = this.#answers;
    if (query.read(message, 0, message.length) !== GOOD || !isTransfer(query.type)) return false;
    if (query.class !== CLASS.IN || !transfers.allows(connection.remoteAddress)) return false;
    const { type, questionEnd } = query;
    const count = (sent: Buffer) => this.counters.reply(sent, LENGTH_BYTES, type);
    transfers.send(Buffer.from(message), questionEnd, connection, count).catch((error: unknown) => {
      this.#log.error({ error: messageOf(error) }, 'A zone transfer failed');
      connection.socket.destroy();
    });
    return true;
  }

  /** A client that sends this will send nothing that we could answer (RFC 7766, section 8). */
  #hangUp(connection: TcpConnection): void {
    this.counters.drop(DROP_REASON.unanswerable);
    connection.hangUp();
    connection.skip();
  }

  /** Not bound to a port: it shakes hands with the connections that the listener accepts. */
  #createTls(credentials: TlsCredentials): TlsServer {
    const handshakeTimeout = this.#idleSeconds * 1000;
    const options = { ...credentials, ALPNProtocols: ['dot'], handshakeTimeout };
    const server = createTlsServer(options, (socket) => {
      // From here on, as over TCP: a client that has sent its last query may wait for answers.
      socket.allowHalfOpen = true;
      const serve = () => this.#serve(socket);
      this.barrier.around(serve, () => socket.destroy())();
    });
    // Node.js reports a handshake that takes too long, and leaves the connection open.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }

  #serve(socket: Socket): void {
    const admission = this.#listener.admissionOf(socket);
    // Gone, or closed to make room for another one, during the handshake.
    if (admission === undefined) {
      socket.destroy();
      return;
    }
    this.#connections.add(new TcpConnection(socket, admission, this));
  }

  #onError(error: Error): void {
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
    else this.#log.error({ address: this.address, port: this.port, error: error.message }, 'TCP failed');
  }
}
