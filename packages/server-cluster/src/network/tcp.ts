/** DNS over TCP for DinoDNS, following RFC 7766, with limits on connections, time and memory. */

import cluster from 'node:cluster';
import { EventEmitter } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '@dinodns-bench/program';
import { CLASS, GOOD, IGNORE, MAX_MESSAGE_BYTES, QueryReader } from '@dinodns-bench/wire';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { Gate } from '../framework/gate.ts';
import { defaultLog, type Log } from '../log/log.ts';
import { DROP_REASON, TransportCounters } from '../metrics/counters.ts';
import type { ConnectionTotals } from '../metrics/snapshot.ts';
import type { Responder } from '../table/responder.ts';
import { isTransfer, type Transfers } from '../transfer/transfer.ts';
import { ConnectionCounts } from './connection-counts.ts';
import { type FrameworkPath, toFramework } from './framework-path.ts';
import { type ManagedNetwork, type SharingOptions, waitUntil } from './managed-network.ts';
import { canReusePort } from './reuse-port.ts';
import { packetSerializer } from './serializer.ts';
import { type ConnectionOwner, TcpConnection } from './tcp-connection.ts';

/** A connection that sends no complete query for this long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** Connections per process; further ones are closed at once. */
export const DEFAULT_MAX_CONNECTIONS = 1024;
/** Connections per client address, so that one client cannot take them all. */
export const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
/** Queries and answers buffered for all connections of one process together. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** When stopping, clients that have all their answers get this long to close. */
const LINGER_SECONDS = 0.5;
const LENGTH_BYTES = 2;

export interface TcpLimits {
  /** Default: 10. */
  readonly idleSeconds?: number;
  /** Default: 1024. */
  readonly maxConnections?: number;
  /** Default: 256. */
  readonly maxConnectionsPerClient?: number;
  /** Beyond this, the connection that buffers most is closed. Default: 64 MiB. */
  readonly maxBufferedOctets?: number;
}

export interface TcpNetworkOptions extends SharingOptions, TcpLimits {
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  readonly port: number;
  /** Answers what it can before the framework is asked. Default: none. */
  readonly responder?: Responder & { readonly gate?: Gate };
  /** Zone transfers. Default: none; the framework then answers those queries too. */
  readonly transfers?: Transfers;
  /** Default: errors and warnings as JSON on standard error. */
  readonly log?: Log;
  readonly counters?: TransportCounters;
}

export class RobustTcpNetwork implements ManagedNetwork, ConnectionOwner {
  readonly networkType = SupportedNetworkType.TCP;
  readonly address: string;
  /** May be changed until the network opens. */
  port: number;
  readonly serializer = packetSerializer;
  handler?: NetworkHandler;
  readonly server: Server;
  readonly counters: TransportCounters;
  readonly #reusePort: boolean;
  readonly #idleSeconds: number;
  readonly #maxBufferedOctets: number;
  readonly #responder: (Responder & { readonly gate?: Gate }) | undefined;
  readonly #transfers: Transfers | undefined;
  readonly #log: Log;
  readonly #events = new EventEmitter();
  /** The current message; each is parsed once. */
  readonly #query = new QueryReader();
  readonly #connections = new Set<TcpConnection>();
  readonly #counts: ConnectionCounts;
  /** The buffer in which the table writes its answers. */
  readonly #scratch = Buffer.alloc(LENGTH_BYTES + MAX_MESSAGE_BYTES);
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: TcpNetworkOptions) {
    this.address = options.address;
    this.port = options.port;
    this.counters = options.counters ?? new TransportCounters();
    // A worker's own socket must share the port with the other workers' sockets.
    this.#reusePort = options.reusePort ?? (cluster.isWorker && canReusePort());
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.#maxBufferedOctets = options.maxBufferedOctets ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#responder = options.responder;
    this.#transfers = options.transfers;
    this.#log = options.log ?? defaultLog();
    this.#counts = new ConnectionCounts(
      options.maxConnectionsPerClient ?? DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
    );
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.server.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    this.server.on('drop', () => this.#counts.refuse());
  }

  get totals(): ConnectionTotals {
    return this.#counts.totals;
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      const options = {
        host: this.address,
        port: this.port,
        ...(this.#reusePort ? { reusePort: true, exclusive: true } : {}),
      };
      this.server.listen(options, () => {
        this.server.off('error', reject);
        // Accepting can fail later for lack of file descriptors. That passes.
        this.server.on('error', (error) => this.#onError(error));
        this.#sweep = setInterval(() => this.#closeIdle(), (this.#idleSeconds * 1000) / 10);
        this.#sweep.unref();
        const bound = this.server.address();
        if (typeof bound === 'object' && bound !== null) this.port = bound.port;
        this.#log.info({ address: this.address, port: this.port }, 'Listening over TCP');
        this.#events.emit('listening');
        resolve();
      });
    });
  }

  /** The framework's interface to open. A failure is emitted as `error`, or logged if nobody listens for it. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => this.#onError(error));
  }

  async shutdown(seconds: number): Promise<void> {
    this.server.close();
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
    clearInterval(this.#sweep);
    this.server.close();
    for (const { socket } of this.#connections) socket.destroy();
  }

  on(event: string, listener: () => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#events.off(event, listener);
  }

  onQuery(message: Buffer, connection: TcpConnection): void {
    const start = performance.now();
    if (this.#transfer(message, connection)) return;
    const replied = this.#fromTable(message);
    if (replied > 0) {
      const reply = Buffer.allocUnsafe(LENGTH_BYTES + replied);
      this.#scratch.copy(reply, LENGTH_BYTES, LENGTH_BYTES, LENGTH_BYTES + replied);
      this.counters.tableHits(1);
      this.#send(reply, connection, this.#query.type, start);
    } else if (replied < 0 && this.handler !== undefined) {
      this.#askFramework(message, this.handler, connection, start);
    } else {
      this.#hangUp(connection);
    }
  }

  onBacklog(): void {
    let total = 0;
    let largest: TcpConnection | undefined;
    for (const connection of this.#connections) {
      const bytes = connection.bufferedBytes;
      total += bytes;
      if (bytes > (largest?.bufferedBytes ?? 0)) largest = connection;
    }
    if (total <= this.#maxBufferedOctets || largest === undefined) return;
    this.counters.drop(DROP_REASON.congested);
    largest.socket.destroy();
  }

  onClosed(connection: TcpConnection): void {
    if (this.#connections.delete(connection)) this.#counts.remove(connection.remoteAddress);
  }

  /** Starts a zone transfer if the query asks for one that this client may have; returns whether it did. */
  #transfer(message: Buffer, connection: TcpConnection): boolean {
    const transfers = this.#transfers;
    if (transfers === undefined) return false;
    const query = this.#query;
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

  /**
   * The length of the reply after the length field in the scratch buffer, or the table's `DROP` or `TO_FRAMEWORK`.
   */
  #fromTable(message: Buffer): number {
    const { length } = message;
    if (this.#query.read(message, 0, length) === IGNORE) return 0;
    if (this.#responder === undefined) return -1;
    const scratch = this.#scratch;
    message.copy(scratch, LENGTH_BYTES);
    return this.#responder.answer(scratch, LENGTH_BYTES, length, MAX_MESSAGE_BYTES, 'stream', this.#query);
  }

  #askFramework(message: Buffer, handler: NetworkHandler, connection: TcpConnection, start: number): void {
    const path: FrameworkPath = { handler, log: this.#log, headroom: LENGTH_BYTES, transport: 'stream' };
    const { remoteAddress, remotePort } = connection;
    const peer = { remoteAddress, remotePort, type: SupportedNetworkType.TCP };
    const { type } = this.#query;
    this.counters.frameworkQuery();
    const outcome = toFramework(path, message, peer, this.#query, this.#responder?.gate?.draw, (reply) =>
      this.#send(reply, connection, type, start),
    );
    if (outcome === 'unanswerable') this.#hangUp(connection);
  }

  /** A client that sends this will send nothing that we could answer (RFC 7766, section 8). */
  #hangUp(connection: TcpConnection): void {
    this.counters.drop(DROP_REASON.unanswerable);
    connection.skip();
    connection.socket.destroy();
  }

  #send(reply: Buffer, connection: TcpConnection, type: number, start: number): void {
    reply.writeUInt16BE(reply.length - LENGTH_BYTES, 0);
    this.counters.reply(reply, LENGTH_BYTES, type);
    this.counters.latency((performance.now() - start) / 1000, 1);
    connection.send(reply);
  }

  #accept(socket: Socket): void {
    if (!this.#counts.add(socket.remoteAddress ?? '')) {
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.#connections.add(new TcpConnection(socket, this));
  }

  #closeIdle(): void {
    const oldest = performance.now() - this.#idleSeconds * 1000;
    for (const connection of this.#connections) {
      if (connection.lastQueryAt >= oldest) continue;
      this.#counts.timeOut();
      connection.socket.destroy();
    }
  }

  #onError(error: Error): void {
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
    else this.#log.error({ address: this.address, port: this.port, error: error.message }, 'TCP failed');
  }
}
