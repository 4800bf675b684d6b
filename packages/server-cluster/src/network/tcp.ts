/**
 * DNS over TCP for DinoDNS, following RFC 7766, with limits on connections, time and memory; and over TLS (RFC 7858),
 * which is the same inside an encrypted stream.
 */
import type { Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { messageOf } from '@dinodns-bench/program';
import { CLASS, encodeOpt, GOOD } from '@dinodns-bench/wire';
import { SupportedNetworkType } from 'dinodns/common/network/net.js';
import { DROP_REASON } from '../metrics/counters.ts';
import { isTransfer, type Transfers } from '../transfer/transfer.ts';
import { withCookie } from '../wire/response.ts';
import { waitUntil } from './managed-network.ts';
import { type StreamNetworkOptions, shakeHands } from './stream-listener.ts';
import { StreamNetwork } from './stream-network.ts';
import { LENGTH_BYTES, TcpConnection } from './tcp-connection.ts';
import type { TlsCredentials } from './tls-credentials.ts';

/** When stopping, clients that have all their answers get this long to close. */
const LINGER_SECONDS = 0.5;

export interface TcpNetworkOptions extends StreamNetworkOptions {
  /** DNS over TLS with this certificate, or `{}` if `renew` is called before it is opened. Default: plain TCP. */
  readonly tls?: TlsCredentials | Readonly<Record<string, never>>;
  /** Zone transfers. Default: none; the framework then answers those queries too. */
  readonly transfers?: Transfers | undefined;
}

export class RobustTcpNetwork extends StreamNetwork {
  readonly #transfers: Transfers | undefined;
  readonly #tls: TlsServer | undefined;
  readonly #connections = new Set<TcpConnection>();

  constructor(options: TcpNetworkOptions) {
    const { tls } = options;
    super(tls === undefined ? SupportedNetworkType.TCP : SupportedNetworkType.TLS, options, LENGTH_BYTES);
    this.#transfers = options.transfers;
    this.#tls = tls === undefined ? undefined : this.#createTls(tls);
  }

  protected onSocket(socket: Socket): void {
    if (this.#tls === undefined) this.#serve(socket);
    else shakeHands(this.#tls, socket);
  }

  renew(credentials: TlsCredentials): void {
    this.#tls?.setSecureContext(credentials);
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
    this.isClosed = true;
    for (const { socket } of this.#connections) socket.destroy();
    this.closeListener();
  }

  /** A complete query: the connection is told of each answer, or that there is none. */
  onQuery(message: Buffer, connection: TcpConnection): void {
    if (this.#transfer(message, connection)) return;
    const outcome = this.handle(message, connection, (reply) => {
      reply.writeUInt16BE(reply.length - LENGTH_BYTES, 0);
      connection.send(reply);
    });
    if (outcome === 'unanswerable') this.#hangUp(connection);
    // The client asks again (RFC 7766, section 6.2.4: it must be ready for an answer that does not come).
    else if (outcome === 'congested') connection.skip();
  }

  /** More output is waiting than a client reads. */
  onBacklog(): void {
    this.tooGreedy(this.#connections, ({ bufferedBytes }) => bufferedBytes)?.socket.destroy();
  }

  onClosed(connection: TcpConnection): void {
    this.#connections.delete(connection);
  }

  /** Starts a zone transfer if the query asks for one that this client may have; returns whether it did. */
  #transfer(message: Buffer, connection: TcpConnection): boolean {
    const transfers = this.#transfers;
    if (transfers === undefined) return false;
    const { query } = this;
    if (query.read(message, 0, message.length) !== GOOD || !isTransfer(query.type)) return false;
    if (query.class !== CLASS.IN || !transfers.allows(connection.remoteAddress)) return false;
    const { type, questionEnd, hasEdns, dnssecOk } = query;
    const cookie = this.cookiesFor(message, connection)?.option();
    const opt = hasEdns ? withCookie(encodeOpt({ dnssecOk }), cookie) : Buffer.alloc(0);
    const onMessage = (sent: Buffer) => this.counters.reply(sent, LENGTH_BYTES, type);
    transfers
      .send({ query: Buffer.from(message), questionEnd, opt, connection, onMessage })
      .catch((error: unknown) => {
        this.log.error({ error: messageOf(error) }, 'A zone transfer failed');
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
  #createTls(credentials: TcpNetworkOptions['tls']): TlsServer {
    const handshakeTimeout = this.idleSeconds * 1000;
    const options = { ...credentials, ALPNProtocols: ['dot'], handshakeTimeout };
    const server = process.getBuiltinModule('node:tls').createServer(options, (socket) => {
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
    const admission = this.admissionOf(socket, () => socket.destroy());
    if (admission !== undefined) this.#connections.add(new TcpConnection(socket, admission, this));
  }
}
