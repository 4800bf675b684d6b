/** DNS over TCP for DinoDNS, as RFC 7766 has it, with limits on connections, time and memory. */
import { createServer, type Server, type Socket } from 'node:net';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { DNSResponse } from 'dinodns/types/server.js';
import { Request } from '../framework/request.ts';
import { MAX_MESSAGE_OCTETS } from '../wire/codes.ts';
import { readQuery } from '../wire/query.ts';
import { encodeResponse, serverFailure } from '../wire/response.ts';
import { type ManagedNetwork, type SharingOptions, waitUntil } from './managed-network.ts';
import { packetSerializer } from './serializer.ts';
import { type ConnectionOwner, TcpConnection } from './tcp-connection.ts';

/** A connection without a complete query for so long is closed (RFC 7766, section 6.2.3: a few seconds). */
export const DEFAULT_IDLE_SECONDS = 10;
/** Connections of one process; what comes beyond is closed at once. */
export const DEFAULT_MAX_CONNECTIONS = 1024;

/** On stopping, clients that have got all their answers may take so long to close. */
const LINGER_SECONDS = 0.5;

export interface TcpNetworkOptions extends SharingOptions {
  /** IPv4 or IPv6 address; `::` takes IPv4 as well. */
  readonly address: string;
  readonly port: number;
  /** Default: 10. */
  readonly idleSeconds?: number;
  /** Default: 1024. */
  readonly maxConnections?: number;
}

export class RobustTcpNetwork implements ManagedNetwork, ConnectionOwner {
  readonly networkType = SupportedNetworkType.TCP;
  readonly address: string;
  /** May be changed until the network is opened. */
  port: number;
  readonly serializer = packetSerializer;
  handler?: NetworkHandler;
  readonly server: Server;
  readonly #reusePort: boolean;
  readonly #idleSeconds: number;
  readonly #connections = new Set<TcpConnection>();
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: TcpNetworkOptions) {
    this.address = options.address;
    this.port = options.port;
    this.#reusePort = options.reusePort ?? false;
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.server.maxConnections = options.maxConnections ?? DEFAULT_MAX_CONNECTIONS;
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
        // Accepting can fail later, for want of file descriptors; that passes.
        this.server.on('error', (error) => console.error(`TCP ${this.address}: ${error.message}`));
        this.#sweep = setInterval(() => this.#closeIdle(), (this.#idleSeconds * 1000) / 10);
        this.#sweep.unref();
        resolve();
      });
    });
  }

  /** The framework's way to open; failures are logged. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => console.error(error.message));
  }

  async shutdown(seconds: number): Promise<void> {
    this.server.close();
    for (const connection of this.#connections) connection.stop();
    const start = performance.now();
    const isFlushed = ({ pending, socket }: TcpConnection) => pending === 0 && socket.writableLength === 0;
    await waitUntil(() => [...this.#connections].every(isFlushed), seconds);
    // To close at once could reset the connection, and with it answers that the client has not read yet.
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
    this.server.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.server.off(event, listener);
  }

  onQuery(message: Buffer, connection: TcpConnection): void {
    const query = readQuery(message);
    if (query === null || this.handler === undefined) {
      // Nothing that could be answered follows from a client that sends this (RFC 7766, section 8).
      connection.skip();
      connection.socket.destroy();
      return;
    }
    if (query instanceof Uint8Array) {
      connection.send(framed(Buffer.concat([LENGTH_FIELD, query])));
      return;
    }
    const request = new Request(query, {
      remoteAddress: connection.remoteAddress,
      remotePort: connection.remotePort,
      type: SupportedNetworkType.TCP,
    });
    this.handler(request).then(
      (response) => respond(request, response, connection),
      (error: unknown) => fail(request, error, connection),
    );
  }

  onClosed(connection: TcpConnection): void {
    this.#connections.delete(connection);
  }

  #accept(socket: Socket): void {
    this.#connections.add(new TcpConnection(socket, this));
  }

  #closeIdle(): void {
    const oldest = performance.now() - this.#idleSeconds * 1000;
    for (const connection of this.#connections) {
      if (connection.lastQueryAt < oldest) connection.socket.destroy();
    }
  }
}

const LENGTH_FIELD = Buffer.alloc(2);

/** Fills in the length field that the message leaves room for. */
function framed(message: Buffer): Buffer {
  message.writeUInt16BE(message.length - LENGTH_FIELD.length, 0);
  return message;
}

function respond(request: Request, response: DNSResponse, connection: TcpConnection): void {
  let reply: Buffer;
  try {
    reply = encodeResponse(request.query, response.packet.raw, MAX_MESSAGE_OCTETS, LENGTH_FIELD.length);
  } catch (error) {
    fail(request, error, connection);
    return;
  }
  connection.send(framed(reply));
  if (response.listenerCount('done') > 0) {
    response.metadata.ts.responseTimeNs = process.hrtime.bigint();
    response.metadata.ts.responseTimeMs = Date.now();
    response.emit('done', response);
    response.removeAllListeners();
  }
}

function fail({ query }: Request, error: unknown, connection: TcpConnection): void {
  console.error(error);
  connection.send(framed(serverFailure(query, LENGTH_FIELD.length)));
}
