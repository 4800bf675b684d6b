/**
 * DNS over HTTPS for DinoDNS (RFC 8484), over HTTP/2, with the limits of TCP: connections, time and memory. A
 * stream is a query; a client that resets streams in quick succession is cut off by Node.js itself.
 */
import { EventEmitter } from 'node:events';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from 'node:net';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import { defaultLog, type Log } from '../log/log.ts';
import { DROP_REASON, TransportCounters } from '../metrics/counters.ts';
import type { ConnectionTotals } from '../metrics/snapshot.ts';
import { Barrier } from './barrier.ts';
import { DNS_MESSAGE, freshSeconds, readRequest } from './https-message.ts';
import { type ManagedNetwork, waitUntil } from './managed-network.ts';
import { packetSerializer } from './serializer.ts';
import { StreamAnswers } from './stream-answers.ts';
import {
  type Admission,
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_BUFFERED_BYTES,
  StreamListener,
  shakeHands,
} from './stream-listener.ts';
import type { TcpNetworkOptions } from './tcp.ts';
import { MAX_PENDING_QUERIES, MAX_QUERY_BYTES } from './tcp-connection.ts';
import type { TlsCredentials } from './tls-credentials.ts';

/** Header blocks of a DNS client have a few hundred bytes; a GET request carries its message there. */
const MAX_HEADER_LIST_BYTES = 16 * 1024;
/** Of Node.js for each connection, in its unit of megabytes: what is not ours, such as header tables. */
const SESSION_MEMORY_MEGABYTES = 2;

export type HttpsNetworkOptions = Omit<TcpNetworkOptions, 'tls' | 'transfers'> & {
  readonly tls: TlsCredentials;
};

/** A client's connection. */
interface Client {
  readonly session: ServerHttp2Session;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly admission: Admission;
  /** Bytes of replies that it has not read. */
  unread: number;
}

export class HttpsNetwork implements ManagedNetwork {
  readonly networkType = SupportedNetworkType.HTTPS;
  readonly address: string;
  /** May be changed until the network opens. */
  port: number;
  readonly serializer = packetSerializer;
  readonly counters: TransportCounters;
  readonly #idleSeconds: number;
  readonly #maxBufferedBytes: number;
  readonly #log: Log;
  readonly #barrier: Barrier;
  readonly #events = new EventEmitter();
  readonly #answers: StreamAnswers;
  readonly #listener: StreamListener;
  readonly #http: Http2SecureServer;
  readonly #clients = new Map<unknown, Client>();
  #unread = 0;

  constructor(options: HttpsNetworkOptions) {
    this.address = options.address;
    this.port = options.port;
    this.counters = options.counters ?? new TransportCounters();
    this.#idleSeconds = options.idleSeconds ?? DEFAULT_IDLE_SECONDS;
    this.#maxBufferedBytes = options.maxBufferedBytes ?? DEFAULT_MAX_BUFFERED_BYTES;
    this.#log = options.log ?? defaultLog();
    const { responder, pending, cookies } = options;
    const { counters, networkType: type } = this;
    const barrier = new Barrier(this.#log, counters);
    this.#barrier = barrier;
    const log = this.#log;
    const own = { type, headroom: 0, log, counters, barrier };
    this.#answers = new StreamAnswers({ ...own, responder, pending, cookies });
    this.#http = this.#createHttp(options.tls);
    this.#listener = new StreamListener({
      ...options,
      barrier,
      onSocket: (socket) => shakeHands(this.#http, socket.setNoDelay(true)),
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
    this.#log.info({ address: this.address, port: this.port }, 'Listening over HTTPS');
    this.#events.emit('listening');
  }

  /** The framework's interface to open. A failure is emitted as `error`, or logged if nobody listens for it. */
  listen(callback?: () => void): void {
    this.open().then(callback, (error: Error) => this.#onError(error));
  }

  /** Shows another certificate to clients that connect from now on. */
  renew(credentials: TlsCredentials): void {
    this.#http.setSecureContext(credentials);
  }

  async shutdown(seconds: number): Promise<void> {
    this.#listener.stop();
    // GOAWAY: open streams are finished, and the client opens no further ones.
    for (const { session } of this.#clients.values()) session.close();
    await waitUntil(() => this.#clients.size === 0, seconds);
    this.close();
  }

  close(): void {
    for (const { session } of this.#clients.values()) session.destroy();
    this.#listener.close();
  }

  on(event: string, listener: () => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: () => void): void {
    this.#events.off(event, listener);
  }

  /** Not bound to a port: it serves the connections that the listener accepts. */
  #createHttp(credentials: TlsCredentials): Http2SecureServer {
    const server = createSecureServer({
      ...credentials,
      handshakeTimeout: this.#idleSeconds * 1000,
      maxSessionMemory: SESSION_MEMORY_MEGABYTES,
      settings: {
        enablePush: false,
        maxConcurrentStreams: MAX_PENDING_QUERIES,
        maxHeaderListSize: MAX_HEADER_LIST_BYTES,
      },
    });
    server.on('session', (session) => {
      const accept = () => this.#accept(session);
      this.#barrier.around(accept, () => session.destroy())();
    });
    server.on('stream', (stream, headers) => {
      const serve = () => this.#onStream(stream, headers);
      this.#barrier.around(serve, () => stream.destroy())();
    });
    // Node.js reports a handshake that fails or takes too long, and may leave the connection open.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    // A client that speaks no HTTP/2; or a connection that fails, which closes its session.
    server.on('unknownProtocol', (socket) => socket.destroy());
    server.on('sessionError', () => undefined);
    return server;
  }

  #accept(session: ServerHttp2Session): void {
    const { remoteAddress = '', remotePort = 0 } = session.socket;
    const admission = this.#listener.admissionOf(session.socket);
    // Gone, or closed to make room for another one, during the handshake.
    if (admission === undefined) {
      session.destroy();
      return;
    }
    this.#clients.set(session, { session, admission, remoteAddress, remotePort, unread: 0 });
    session.once('close', () => {
      this.#clients.delete(session);
    });
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // A stream that fails is closed; nobody else is affected.
    stream.on('error', () => undefined);
    const client = this.#clients.get(stream.session);
    if (client === undefined) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    const request = readRequest(headers);
    if (request.kind === 'refused') this.#refuse(stream, request.status);
    else if (request.kind === 'message') this.#answer(stream, request.message, client);
    else this.#readBody(stream, client);
  }

  #readBody(stream: ServerHttp2Stream, client: Client): void {
    const chunks: Buffer[] = [];
    let length = 0;
    const guarded = <A extends unknown[]>(action: (...values: A) => void) =>
      this.#barrier.around(action, () => stream.destroy());
    const read = guarded((chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_QUERY_BYTES) chunks.push(chunk);
      else if (!stream.headersSent) this.#refuse(stream, constants.HTTP_STATUS_PAYLOAD_TOO_LARGE);
    });
    const end = guarded(() => {
      const [only, ...more] = chunks;
      if (stream.headersSent || stream.destroyed) return;
      const message = only !== undefined && more.length === 0 ? only : Buffer.concat(chunks);
      this.#answer(stream, message, client);
    });
    stream.on('data', read);
    stream.once('end', end);
  }

  #answer(stream: ServerHttp2Stream, message: Buffer, client: Client): void {
    client.admission.lastQueryAt = performance.now();
    const outcome = this.#answers.answer(message, client, (reply) => this.#send(stream, reply, client));
    if (outcome === 'unanswerable') this.#refuse(stream, constants.HTTP_STATUS_BAD_REQUEST);
    else if (outcome === 'congested') this.#respond(stream, constants.HTTP_STATUS_SERVICE_UNAVAILABLE);
  }

  #send(stream: ServerHttp2Stream, reply: Buffer, client: Client): void {
    if (stream.destroyed || stream.closed) return;
    this.#count(client, reply.length);
    stream.once('close', () => this.#count(client, -reply.length));
    stream.respond({
      ':status': constants.HTTP_STATUS_OK,
      'content-type': DNS_MESSAGE,
      'content-length': reply.length,
      'cache-control': `max-age=${freshSeconds(reply)}`,
    });
    stream.end(reply);
    if (this.#unread > this.#maxBufferedBytes) this.#closeGreediest();
  }

  /** Refuses a request; what it still sends is not read. */
  #refuse(stream: ServerHttp2Stream, status: number): void {
    const tooLong = status === constants.HTTP_STATUS_PAYLOAD_TOO_LARGE;
    this.counters.drop(tooLong ? DROP_REASON.oversized : DROP_REASON.unanswerable);
    this.#respond(stream, status);
  }

  /** A status without a message. */
  #respond(stream: ServerHttp2Stream, status: number): void {
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status }, { endStream: true });
    stream.close(constants.NGHTTP2_NO_ERROR);
  }

  #count(client: Client, bytes: number): void {
    client.unread += bytes;
    this.#unread += bytes;
  }

  #closeGreediest(): void {
    let greediest: Client | undefined;
    for (const client of this.#clients.values()) {
      if (client.unread > (greediest?.unread ?? 0)) greediest = client;
    }
    this.counters.drop(DROP_REASON.congested);
    greediest?.session.destroy();
  }

  #onError(error: Error): void {
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
    else this.#log.error({ address: this.address, port: this.port, error: error.message }, 'HTTPS failed');
  }
}
