/**
 * The socket that connections arrive at, whatever they carry: TCP, TLS or HTTPS. Limits how many there are, in total
 * and from one client, from the first byte on: a TLS handshake that never ends counts too.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { ConnectionTotals } from '../metrics/snapshot.ts';
import type { Barrier } from './barrier.ts';
import { ConnectionCounts, clientOf, DEFAULT_CLIENT_IPV6_BITS } from './connection-counts.ts';

/** A connection that sends no complete query for this long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** A connection lives at most a tenth longer than it may idle. */
const SWEEPS_PER_IDLE_TIME = 10;
/** Connections per process. For a further one, that which has been idle longest is closed. */
export const DEFAULT_MAX_CONNECTIONS = 1024;
/** Connections per client, so that one cannot take them all. */
export const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
/** Queries and answers buffered for all connections of one process together. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Limits of everything that has connections. */
export interface TcpLimits {
  /** Default: 10. */
  readonly idleSeconds?: number | undefined;
  /** Default: 1024. */
  readonly maxConnections?: number | undefined;
  /** Default: 256. */
  readonly maxConnectionsPerClient?: number | undefined;
  /** Leading bits of an IPv6 address that are one client, 1 to 128. Default: 64. */
  readonly clientIpv6Bits?: number | undefined;
  /** Beyond this, the connection that buffers most is closed. Default: 64 MiB. */
  readonly maxBufferedBytes?: number | undefined;
}

/** A connection, from its first byte on. */
export interface Admission {
  readonly socket: Socket;
  /** When it was accepted, or its last complete query arrived, in milliseconds of `performance.now()`. */
  lastQueryAt: number;
}

export interface StreamListenerOptions extends TcpLimits {
  /** As in `NetworkOptions`. */
  readonly reusePort: boolean;
  /** IPv4 or IPv6 address; `::` also accepts IPv4. */
  readonly address: string;
  onSocket(socket: Socket): void;
  readonly barrier: Barrier;
  /** A failure after `open` has resolved. */
  onError(error: Error): void;
}

export class StreamListener {
  readonly server: Server;
  readonly #options: StreamListenerOptions;
  readonly #counts: ConnectionCounts;
  readonly #most: number;
  readonly #idleSeconds: number;
  /** While there are connections: a timer would bound, and make dearer, each wait for datagrams. */
  #sweep: NodeJS.Timeout | undefined;
  /** By both ends of the connection, because TLS hides the socket beneath it. */
  readonly #admissions = new Map<string, Admission>();

  constructor(options: StreamListenerOptions) {
    this.#options = options;
    this.#counts = new ConnectionCounts(
      options.maxConnectionsPerClient ?? DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
    );
    this.#most = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      const accept = () => this.#accept(socket);
      options.barrier.around(accept, () => socket.destroy())();
    });
  }

  get totals(): ConnectionTotals {
    return this.#counts.totals;
  }

  /** Binds `port`; 0: any. Resolves with the port, or rejects with the system error. */
  open(port: number): Promise<number> {
    const { address, onError, reusePort } = this.#options;
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

  /** Accepts no more connections. */
  stop(): void {
    this.server.close();
  }

  /** Ends all connections at once. */
  close(): void {
    this.#stopSweeping();
    this.server.close();
    for (const { socket } of this.#admissions.values()) socket.destroy();
  }

  /** Undefined for a client that is gone. */
  admissionOf(socket: Ends): Admission | undefined {
    return this.#admissions.get(keyOf(socket));
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    const { remoteAddress } = socket;
    // Reset before it was accepted: there is nobody to answer.
    if (remoteAddress === undefined) {
      this.#counts.close('refused');
      socket.destroy();
      return;
    }
    const client = clientOf(remoteAddress, this.#options.clientIpv6Bits ?? DEFAULT_CLIENT_IPV6_BITS);
    if (!this.#counts.add(client)) {
      socket.destroy();
      return;
    }
    if (this.#admissions.size >= this.#most) this.#displaceIdlest();
    const key = keyOf(socket);
    this.#admissions.set(key, { socket, lastQueryAt: performance.now() });
    this.#sweep ??= setInterval(
      () => this.#closeIdle(),
      (this.#idleSeconds * 1000) / SWEEPS_PER_IDLE_TIME,
    ).unref();
    socket.once('close', () => {
      if (this.#admissions.get(key)?.socket === socket) this.#admissions.delete(key);
      this.#counts.remove(client);
      if (this.#admissions.size === 0) this.#stopSweeping();
    });
    this.#options.onSocket(socket);
  }

  #stopSweeping(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Whatever keeps it open: a handshake that does not end, a session without streams, half a query. */
  #closeIdle(): void {
    const oldest = performance.now() - this.#idleSeconds * 1000;
    for (const { socket, lastQueryAt } of this.#admissions.values()) {
      if (lastQueryAt >= oldest) continue;
      this.#counts.close('timedOut');
      socket.destroy();
    }
  }

  /** Clients that keep asking stay, whoever takes all other connections (RFC 7766, section 6.2.3). */
  #displaceIdlest(): void {
    let idlest: [string, Admission] | undefined;
    for (const entry of this.#admissions)
      if (entry[1].lastQueryAt < (idlest?.[1].lastQueryAt ?? Number.POSITIVE_INFINITY)) idlest = entry;
    if (idlest === undefined) return;
    this.#counts.close('displaced');
    this.#admissions.delete(idlest[0]);
    idlest[1].socket.destroy();
  }
}

type Ends = Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>;

/** Hands a connection over for its TLS handshake. A client that closes before the end of it has nothing to wait for. */
export function shakeHands(server: Server, socket: Socket): void {
  socket.allowHalfOpen = false;
  server.emit('connection', socket);
}

/** A client may connect from one port to several addresses of ours. */
function keyOf({ localAddress, remoteAddress, remotePort }: Ends): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
