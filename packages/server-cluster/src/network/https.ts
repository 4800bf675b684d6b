/**
 * DNS over HTTPS for DinoDNS (RFC 8484), over HTTP/2, with the limits of TCP: connections, time and memory. A
 * stream is a query; a client that resets streams in quick succession is cut off by Node.js itself.
 */
import type {
  Http2SecureServer,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { DOH_MEDIA_TYPE } from '@dinodns-bench/wire';
import { SupportedNetworkType } from 'dinodns/common/network/net.js';
import { DROP_REASON } from '../metrics/counters.ts';
import { freshSeconds, readRequest, STATUS } from './https-message.ts';
import { waitUntil } from './managed-network.ts';
import { type Admission, type StreamNetworkOptions, shakeHands } from './stream-listener.ts';
import { StreamNetwork } from './stream-network.ts';
import { MAX_PENDING_QUERIES, MAX_QUERY_BYTES } from './tcp-connection.ts';
import type { TlsCredentials } from './tls-credentials.ts';

/** Header blocks of a DNS client have a few hundred bytes; a GET request carries its message there. */
const MAX_HEADER_LIST_BYTES = 16 * 1024;
/** Of Node.js for each connection, in its unit of megabytes: what is not ours, such as header tables. */
const SESSION_MEMORY_MEGABYTES = 2;
/** Error codes of HTTP/2 (RFC 9113, section 7). */
const NO_ERROR = 0;
const REFUSED_STREAM = 7;

export interface HttpsNetworkOptions extends StreamNetworkOptions {
  /** Or `{}` if `renew` is called before it is opened. */
  readonly tls: TlsCredentials | Readonly<Record<string, never>>;
}

/** A client's connection. */
interface Client {
  readonly session: ServerHttp2Session;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly admission: Admission;
  /** Bytes of request bodies, and of replies that it has not read, in its open streams. */
  bufferedBytes: number;
}

/** In memory of its own: a chunk is a part of all that was read from the connection at once, and would keep that. */
function joined(body: Buffer, chunk: Buffer): Buffer {
  const whole = Buffer.allocUnsafeSlow(body.length + chunk.length);
  body.copy(whole);
  chunk.copy(whole, body.length);
  return whole;
}

export class HttpsNetwork extends StreamNetwork {
  readonly #http: Http2SecureServer;
  readonly #clients = new Map<unknown, Client>();
  #bufferedBytes = 0;

  constructor(options: HttpsNetworkOptions) {
    super(SupportedNetworkType.HTTPS, options, 0);
    this.#http = this.#createHttp(options.tls);
  }

  protected onSocket(socket: Socket): void {
    shakeHands(this.#http, socket.setNoDelay(true));
  }

  renew(credentials: TlsCredentials): void {
    this.#http.setSecureContext(credentials);
  }

  async shutdown(seconds: number): Promise<void> {
    this.server.close();
    // GOAWAY: open streams are finished, and the client opens no further ones.
    for (const { session } of this.#clients.values()) session.close();
    await waitUntil(() => this.#clients.size === 0, seconds);
    this.close();
  }

  close(): void {
    this.isClosed = true;
    for (const { session } of this.#clients.values()) session.destroy();
    this.closeListener();
  }

  /** Not bound to a port: it serves the connections that the listener accepts. */
  #createHttp(credentials: HttpsNetworkOptions['tls']): Http2SecureServer {
    const server = process.getBuiltinModule('node:http2').createSecureServer({
      ...credentials,
      handshakeTimeout: this.idleSeconds * 1000,
      maxSessionMemory: SESSION_MEMORY_MEGABYTES,
      settings: {
        enablePush: false,
        maxConcurrentStreams: MAX_PENDING_QUERIES,
        maxHeaderListSize: MAX_HEADER_LIST_BYTES,
      },
    });
    server.on('session', (session) => {
      const accept = () => this.#accept(session);
      this.barrier.around(accept, () => session.destroy())();
    });
    server.on('stream', (stream, headers) => {
      const serve = () => this.#onStream(stream, headers);
      this.barrier.around(serve, () => stream.destroy())();
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
    const admission = this.admissionOf(session.socket, () => session.destroy());
    if (admission === undefined) return;
    this.#clients.set(session, { session, admission, remoteAddress, remotePort, bufferedBytes: 0 });
    session.once('close', () => {
      this.#clients.delete(session);
    });
  }

  #onStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // A stream that fails is closed; nobody else is affected.
    stream.on('error', () => undefined);
    const client = this.#clients.get(stream.session);
    if (client === undefined) {
      stream.close(REFUSED_STREAM);
      return;
    }
    const request = readRequest(headers);
    if (request.kind === 'refused') this.#refuse(stream, request.status);
    else if (request.kind === 'message') this.#handle(stream, request.message, client);
    else this.#readBody(stream, client);
  }

  #readBody(stream: ServerHttp2Stream, client: Client): void {
    let body: Buffer = Buffer.alloc(0);
    let length = 0;
    const guarded = <A extends unknown[]>(action: (...values: A) => void) =>
      this.barrier.around(action, () => stream.destroy());
    const read = guarded((chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_QUERY_BYTES) {
        body = joined(body, chunk);
        this.#count(client, chunk.length);
        this.#limitBuffered();
      } else if (!stream.headersSent) this.#refuse(stream, STATUS.contentTooLarge);
    });
    const end = guarded(() => {
      if (!stream.headersSent && !stream.destroyed) this.#handle(stream, body, client);
    });
    stream.on('data', read);
    stream.once('end', end);
    stream.once('close', () => this.#count(client, -body.length));
  }

  #handle(stream: ServerHttp2Stream, message: Buffer, client: Client): void {
    client.admission.lastQueryAt = performance.now();
    const outcome = this.handle(message, client, (reply) => this.#send(stream, reply, client));
    if (outcome === 'unanswerable') this.#refuse(stream, STATUS.badRequest);
    else if (outcome === 'congested') this.#respond(stream, STATUS.unavailable);
  }

  #send(stream: ServerHttp2Stream, reply: Buffer, client: Client): void {
    if (stream.destroyed || stream.closed) return;
    this.#count(client, reply.length);
    stream.once('close', () => this.#count(client, -reply.length));
    stream.respond({
      ':status': STATUS.ok,
      'content-type': DOH_MEDIA_TYPE,
      'content-length': reply.length,
      'cache-control': `max-age=${freshSeconds(reply)}`,
    });
    stream.end(reply);
    this.#limitBuffered();
  }

  /** Refuses a request; what it still sends is not read. */
  #refuse(stream: ServerHttp2Stream, status: number): void {
    const tooLong = status === STATUS.contentTooLarge;
    this.counters.drop(tooLong ? DROP_REASON.oversized : DROP_REASON.unanswerable);
    this.#respond(stream, status);
  }

  /** A status without a message. */
  #respond(stream: ServerHttp2Stream, status: number): void {
    if (stream.destroyed || stream.closed) return;
    stream.respond({ ':status': status }, { endStream: true });
    stream.close(NO_ERROR);
  }

  /** Cuts off the client for which most is buffered, if all together is too much. */
  #limitBuffered(): void {
    if (this.#bufferedBytes <= this.maxBufferedBytes) return;
    this.tooGreedy(this.#clients.values(), ({ bufferedBytes }) => bufferedBytes)?.session.destroy();
  }

  #count(client: Client, bytes: number): void {
    client.bufferedBytes += bytes;
    this.#bufferedBytes += bytes;
  }
}
