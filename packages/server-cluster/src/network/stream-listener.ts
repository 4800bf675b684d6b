/**
 * The socket that connections arrive at, whatever they carry: TCP, TLS or HTTPS. Limits how many there are, in total
 * and from one client, from the first byte on: a TLS handshake that never ends counts too.
 */
import { once } from 'node:events';
import { createServer, isIPv4, type Server, type Socket } from 'node:net';
import { mappedAddress } from '@dinodns-bench/wire';
import { isMapped } from '../limits/networks.ts';
import { type ConnectionTotals, NO_CONNECTIONS } from '../metrics/counters.ts';
import type { ServerOptions } from '../options.ts';
import type { Barrier } from './barrier.ts';

/** A connection that sends no complete query for this long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** A connection lives at most a tenth longer than it may idle. */
const SWEEPS_PER_IDLE_TIME = 10;
/** Connections per process. For a further one, that which has been idle longest is closed. */
export const DEFAULT_MAX_CONNECTIONS = 1024;
/** Connections per client, so that one cannot take them all. */
export const DEFAULT_MAX_CONNECTIONS_PER_CLIENT = 256;
/** A customer gets at least a /64, and may use each of its 2^64 addresses (RFC 6177). */
export const DEFAULT_CLIENT_IPV6_BITS = 64;
/** Queries and answers buffered for all connections of one process together. */
export const DEFAULT_MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Limits of everything that has connections. */
export type TcpLimits = Readonly<NonNullable<ServerOptions['tcp']>>;

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
  readonly #totals = { ...NO_CONNECTIONS };
  /** How many connections each connected client has. */
  readonly #byClient = new Map<string, number>();
  readonly #perClient: number;
  readonly #most: number;
  readonly #idleSeconds: number;
  /** While there are connections: a timer would bound, and make dearer, each wait for datagrams. */
  #sweep: NodeJS.Timeout | undefined;
  /** By both ends of the connection, because TLS hides the socket beneath it. */
  readonly #admissions = new Map<string, Admission>();

  constructor(options: StreamListenerOptions) {
    this.#options = options;
    this.#perClient = options.maxConnectionsPerClient ?? DEFAULT_MAX_CONNECTIONS_PER_CLIENT;
    this.#most = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      const accept = () => this.#accept(socket);
      options.barrier.around(accept, () => socket.destroy())();
    });
  }

  get totals(): ConnectionTotals {
    return { ...this.#totals };
  }

  /** Binds `port`; 0: any. Resolves with the port, or rejects with the system error. */
  async open(port: number): Promise<number> {
    const { address, onError, reusePort } = this.#options;
    // A worker's own socket must share the port with the other workers' sockets.
    const sharing = reusePort ? { reusePort: true, exclusive: true } : {};
    this.server.listen({ host: address, port, ...sharing });
    await once(this.server, 'listening');
    // Accepting can fail later for lack of file descriptors. That passes.
    this.server.on('error', onError);
    const bound = this.server.address();
    return typeof bound === 'object' && bound !== null ? bound.port : port;
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
    const client = remoteAddress === undefined ? '' : clientOf(remoteAddress, this.#options.clientIpv6Bits);
    const others = this.#byClient.get(client) ?? 0;
    // Without an address, it was reset before it was accepted: there is nobody to answer.
    if (remoteAddress === undefined || others >= this.#perClient) {
      this.#totals.refused++;
      socket.destroy();
      return;
    }
    this.#byClient.set(client, others + 1);
    this.#totals.open++;
    this.#totals.accepted++;
    if (this.#admissions.size >= this.#most) this.#displaceIdlest();
    const key = keyOf(socket);
    this.#admissions.set(key, { socket, lastQueryAt: performance.now() });
    this.#sweep ??= setInterval(
      () => this.#closeIdle(),
      (this.#idleSeconds * 1000) / SWEEPS_PER_IDLE_TIME,
    ).unref();
    socket.once('close', () => {
      if (this.#admissions.get(key)?.socket === socket) this.#admissions.delete(key);
      this.#leave(client);
      if (this.#admissions.size === 0) this.#stopSweeping();
    });
    this.#options.onSocket(socket);
  }

  #leave(client: string): void {
    const count = this.#byClient.get(client) ?? 0;
    if (count <= 1) this.#byClient.delete(client);
    else this.#byClient.set(client, count - 1);
    this.#totals.open--;
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
      this.#totals.timedOut++;
      socket.destroy();
    }
  }

  /** Clients that keep asking stay, whoever takes all other connections (RFC 7766, section 6.2.3). */
  #displaceIdlest(): void {
    let idlest: [string, Admission] | undefined;
    for (const entry of this.#admissions)
      if (entry[1].lastQueryAt < (idlest?.[1].lastQueryAt ?? Number.POSITIVE_INFINITY)) idlest = entry;
    if (idlest === undefined) return;
    this.#totals.displaced++;
    this.#admissions.delete(idlest[0]);
    idlest[1].socket.destroy();
  }
}

/** One client, however many addresses of its prefix it uses: an IPv4 address, or a prefix of IPv6 addresses. */
export function clientOf(address: string, ipv6Bits: number = DEFAULT_CLIENT_IPV6_BITS): string {
  if (isIPv4(address)) return address;
  const bytes = mappedAddress(address);
  if (isMapped(bytes)) return bytes.subarray(12).join('.');
  const whole = ipv6Bits >> 3;
  const rest = (bytes[whole] ?? 0) & (0xff00 >> (ipv6Bits & 7));
  return `${Buffer.from(bytes.subarray(0, whole)).toString('hex')}/${rest}`;
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
