/**
 * The socket that connections arrive at, whatever they carry: TCP, TLS or HTTPS. Limits how many there are, in total
 * and from one client, from the first byte on: a TLS handshake that never ends counts too.
 */
import cluster from 'node:cluster';
import { createServer, type Server, type Socket } from 'node:net';
import type { ConnectionTotals } from '../metrics/snapshot.ts';
import { ConnectionCounts } from './connection-counts.ts';
import type { SharingOptions } from './managed-network.ts';
import { canReusePort } from './reuse-port.ts';

/** A connection that sends no complete query for this long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** Connections per process; further ones are closed at once. */
export const DEFAULT_MAX_CONNECTIONS = 1024;
/** Connections per client address, so that one client cannot take them all. */
export const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
/** Queries and answers buffered for all connections of one process together. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Limits of everything that has connections. */
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

export interface StreamListenerOptions extends SharingOptions, TcpLimits {
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  onSocket(socket: Socket): void;
  /** A failure after `open` has resolved. */
  onError(error: Error): void;
}

export class StreamListener {
  readonly server: Server;
  readonly #options: StreamListenerOptions;
  readonly #counts: ConnectionCounts;
  readonly #sockets = new Set<Socket>();

  constructor(options: StreamListenerOptions) {
    this.#options = options;
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

  /** Binds `port`; 0: any. Resolves with the port, or rejects with the system error. */
  open(port: number): Promise<number> {
    const { address, onError, reusePort = cluster.isWorker && canReusePort() } = this.#options;
    // A worker's own socket must share the port with the other workers' sockets.
    const sharing = reusePort ? { reusePort: true, exclusive: true } : {};
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host: address, port, ...sharing }, () => {
        this.server.off('error', reject);
        // Accepting can fail later for lack of file descriptors. That passes.
        this.server.on('error', onError);
        const bound = this.server.address();
        resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
      });
    });
  }

  /** Counts a connection that is being closed for being idle. */
  timeOut(): void {
    this.#counts.timeOut();
  }

  /** Accepts no more connections. */
  stop(): void {
    this.server.close();
  }

  /** Ends all connections at once. */
  close(): void {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (!this.#counts.add(address)) {
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#counts.remove(address);
    });
    this.#options.onSocket(socket);
  }
}
