/**
 * DNS over UDP for DinoDNS. Nothing that arrives can end the process: a message is read without trust,
 * answered with an error if it is malformed, and dropped if an answer would be wrong.
 */
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { DNSResponse } from 'dinodns/types/server.js';
import { Request } from '../framework/request.ts';
import { readQuery } from '../wire/query.ts';
import { encodeResponse, serverFailure } from '../wire/response.ts';
import { type ManagedNetwork, type SharingOptions, waitUntil } from './managed-network.ts';
import { packetSerializer } from './serializer.ts';

/**
 * Asked of the kernel for each socket, which caps it at `net.core.rmem_max`. Linux's default of 212,992
 * octets holds about 200 small datagrams, less than one burst of a busy resolver.
 */
export const RECEIVE_BUFFER_OCTETS = 1024 * 1024;
/** Responses waiting for the network card beyond this are dropped, as UDP may: memory stays bounded. */
const MAX_SEND_QUEUE_OCTETS = 4 * 1024 * 1024;
/** How often the send queue is looked at, in responses: the look costs more than it finds. */
const SEND_QUEUE_CHECK_INTERVAL = 64;
/** On stopping: without a message for so long, everything that had been received is taken as read. */
const DRAIN_QUIET_SECONDS = 0.02;
/** On stopping: under load that does not end, reading goes on for no longer than this. */
const DRAIN_LIMIT_SECONDS = 0.25;

export interface UdpNetworkOptions extends SharingOptions {
  /** IPv4 or IPv6 address; `::` takes IPv4 as well. */
  readonly address: string;
  readonly port: number;
}

export class RobustUdpNetwork implements ManagedNetwork {
  readonly networkType = SupportedNetworkType.UDP;
  readonly address: string;
  /** May be changed until the network is opened. */
  port: number;
  readonly serializer = packetSerializer;
  handler?: NetworkHandler;
  readonly socket: Socket;
  readonly #exclusive: boolean;
  /** Requests that a handler has not answered yet. */
  #pending = 0;
  #lastMessageAt = 0;
  #sent = 0;
  #congested = false;
  #closed = false;

  constructor({ address, port, reusePort = false }: UdpNetworkOptions) {
    this.address = address;
    this.port = port;
    this.#exclusive = reusePort;
    const family = isIPv6(address) ? 6 : 4;
    const options: SocketOptions = {
      type: family === 6 ? 'udp6' : 'udp4',
      reusePort,
      // Replies go to the address a query came from: there is nothing to look up.
      lookup: (host, _options, callback) => callback(null, host, family),
    };
    this.socket = createSocket(options);
    this.socket.on('message', (message, remote) => this.#receive(message, remote));
    this.socket.on('error', (error) => {
      if (!this.#closed) console.error(`UDP ${this.address}:${this.port}: ${error.message}`);
    });
  }

  /** Octets that the kernel reserves for messages not read yet, as it reports them. */
  get receiveBufferOctets(): number {
    return this.socket.getRecvBufferSize();
  }

  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.once('error', reject);
      this.socket.bind({ address: this.address, port: this.port, exclusive: this.#exclusive }, () => {
        this.socket.off('error', reject);
        this.socket.setRecvBufferSize(RECEIVE_BUFFER_OCTETS);
        resolve();
      });
    });
  }

  /** The framework's way to open; failures are logged. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => console.error(error.message));
  }

  async shutdown(seconds: number): Promise<void> {
    const start = performance.now();
    this.#lastMessageAt = start;
    const isQuiet = () => performance.now() - this.#lastMessageAt > DRAIN_QUIET_SECONDS * 1000;
    await waitUntil(isQuiet, Math.min(DRAIN_LIMIT_SECONDS, seconds));
    const left = Math.max(0, seconds - (performance.now() - start) / 1000);
    await waitUntil(() => this.#pending === 0, left);
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.socket.close();
  }

  on(event: string, listener: () => void): void {
    this.socket.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.socket.off(event, listener);
  }

  #receive(message: Buffer, remote: RemoteInfo): void {
    this.#lastMessageAt = performance.now();
    const query = readQuery(message);
    if (query === null || this.handler === undefined) return;
    if (query instanceof Uint8Array) {
      this.#send(query, remote);
      return;
    }
    const request = new Request(query, {
      remoteAddress: remote.address,
      remotePort: remote.port,
      type: SupportedNetworkType.UDP,
    });
    this.#pending++;
    this.handler(request).then(
      (response) => this.#respond(request, response, remote),
      (error: unknown) => this.#fail(request, error, remote),
    );
  }

  #respond(request: Request, response: DNSResponse, remote: RemoteInfo): void {
    let reply: Buffer;
    try {
      reply = encodeResponse(request.query, response.packet.raw, request.query.udpLimit);
    } catch (error) {
      this.#fail(request, error, remote);
      return;
    }
    this.#pending--;
    this.#send(reply, remote);
    if (response.listenerCount('done') > 0) {
      response.metadata.ts.responseTimeNs = process.hrtime.bigint();
      response.metadata.ts.responseTimeMs = Date.now();
      response.emit('done', response);
      response.removeAllListeners();
    }
  }

  #fail({ query }: Request, error: unknown, remote: RemoteInfo): void {
    this.#pending--;
    console.error(error);
    this.#send(serverFailure(query), remote);
  }

  #send(reply: Buffer, remote: RemoteInfo): void {
    if (this.#closed) return;
    if (++this.#sent % SEND_QUEUE_CHECK_INTERVAL === 0 || this.#congested) {
      this.#congested = this.socket.getSendQueueSize() > MAX_SEND_QUEUE_OCTETS;
    }
    // Port 0 cannot be sent to, and would be an exception; only a forged message comes from there.
    if (this.#congested || remote.port === 0) return;
    this.socket.send(reply, remote.port, remote.address);
  }
}
