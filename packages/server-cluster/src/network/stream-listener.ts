/**
 * The socket that connections arrive at, whatever they carry: TCP, TLS or HTTPS. Limits how many there are, in total
 * and from one client, from the first byte on: a TLS handshake that never ends counts too.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { SupportedNetworkType } from 'dinodns/common/network/net.js';
import { type ConnectionTotals, NO_CONNECTIONS } from '../metrics/counters.ts';
import { ManagedNetwork, type NetworkOptions } from './managed-network.ts';
import {
  clientOf,
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_CLIENT,
  type TcpLimits,
} from './tcp-limits.ts';

/** A connection lives at most a tenth longer than it may idle. */
const SWEEPS_PER_IDLE_TIME = 10;

export type StreamNetworkOptions = NetworkOptions & TcpLimits;

/** A connection, from its first byte on. */
export interface Admission {
  readonly socket: Socket;
  /** When it was accepted, or its last complete query arrived, in milliseconds of `performance.now()`. */
  lastQueryAt: number;
}

export abstract class StreamListener extends ManagedNetwork {
  /** The listening socket. */
  readonly server: Server;
  protected readonly idleSeconds: number;
  readonly #totals = { ...NO_CONNECTIONS };
  /** How many connections each connected client has. */
  readonly #byClient = new Map<string, number>();
  readonly #perClient: number;
  readonly #clientIpv6Bits: number | undefined;
  readonly #most: number;
  /** While there are connections: a timer would bound, and make dearer, each wait for datagrams. */
  #sweep: NodeJS.Timeout | undefined;
  /** By both ends of the connection, because TLS hides the socket beneath it. */
  readonly #admissions = new Map<string, Admission>();

  constructor(networkType: SupportedNetworkType, options: StreamNetworkOptions, headroom: number) {
    super(networkType, options, headroom);
    this.#perClient = options.maxConnectionsPerClient ?? DEFAULT_MAX_CONNECTIONS_PER_CLIENT;
    this.#clientIpv6Bits = options.clientIpv6Bits;
    this.#most = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
    this.idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      const accept = () => this.#accept(socket);
      this.barrier.around(accept, () => socket.destroy())();
    });
  }

  /** A connection that has been accepted. */
  protected abstract onSocket(socket: Socket): void;

  get totals(): ConnectionTotals {
    return { ...this.#totals };
  }

  protected async bind(): Promise<object> {
    const { address, port } = this;
    // A worker's own socket must share the port with the other workers' sockets.
    const sharing = this.reusePort ? { reusePort: true, exclusive: true } : {};
    this.server.listen({ host: address, port, ...sharing });
    await once(this.server, 'listening');
    // Accepting can fail later for lack of file descriptors. That passes.
    this.server.on('error', (error) => this.fail(error));
    const bound = this.server.address();
    if (typeof bound === 'object' && bound !== null) this.port = bound.port;
    return {};
  }

  /** Accepts no more connections, and ends all at once. */
  protected closeListener(): void {
    this.#stopSweeping();
    this.server.close();
    for (const { socket } of this.#admissions.values()) socket.destroy();
  }

  /** Of a connection after its handshake. Ends one that is gone, or was closed to make room for another one, during that. */
  protected admissionOf(socket: Ends, end: () => void): Admission | undefined {
    const admission = this.#admissions.get(keyOf(socket));
    if (admission === undefined) end();
    return admission;
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy());
    const { remoteAddress } = socket;
    const client = remoteAddress === undefined ? '' : clientOf(remoteAddress, this.#clientIpv6Bits);
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
      (this.idleSeconds * 1000) / SWEEPS_PER_IDLE_TIME,
    ).unref();
    socket.once('close', () => {
      if (this.#admissions.get(key)?.socket === socket) this.#admissions.delete(key);
      this.#leave(client);
      if (this.#admissions.size === 0) this.#stopSweeping();
    });
    this.onSocket(socket);
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
    const oldest = performance.now() - this.idleSeconds * 1000;
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
