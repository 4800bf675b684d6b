/** One lane of DNS over HTTPS (RFC 8484): an HTTP/2 connection, one stream per query. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { DOH_MEDIA_TYPE } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import { ProtocolMismatch } from './failures.ts';
import { Lane, type LaneShared } from './lane.ts';

/** The longest DNS message; a longer body is not an answer. */
const MAX_MESSAGE = 65_535;

export class HttpsLane extends Lane<ClientHttp2Session> {
  readonly #authority: string;
  readonly #headers: OutgoingHttpHeaders;
  #queue: Uint8Array[] = [];
  #scratch = new Uint8Array(512);
  /** The last connection that the server has announced to leave (GOAWAY). */
  #leaving: ClientHttp2Session | null = null;

  constructor(lane: number, shared: LaneShared, authority: string) {
    super(lane, shared);
    const { method, path } = shared.stream;
    this.#authority = authority;
    this.#headers = {
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_SCHEME]: 'https',
      [constants.HTTP2_HEADER_AUTHORITY]: authority,
      [constants.HTTP2_HEADER_ACCEPT]: DOH_MEDIA_TYPE,
      ...(method === 'POST' ? { [constants.HTTP2_HEADER_CONTENT_TYPE]: DOH_MEDIA_TYPE } : {}),
    };
  }

  protected override async connect(): Promise<ClientHttp2Session> {
    const { dial, handler } = this.shared;
    const socket = await dial(this.lane);
    const { alpnProtocol } = socket as TLSSocket;
    if (alpnProtocol !== 'h2') {
      socket.destroy();
      throw new ProtocolMismatch('the server does not speak HTTP/2 on this port');
    }
    const session = connect(`https://${this.#authority}`, { createConnection: () => socket });
    session.on('remoteSettings', () => handler.onReady());
    // The server takes no more streams on this connection: those that are open may still be answered, and it need not close it.
    session.on('goaway', (code) => {
      session.close();
      if (code !== constants.NGHTTP2_NO_ERROR) return;
      this.#leaving = session;
      this.renewIfUsedUp();
    });
    return session;
  }

  protected override finish(session: ClientHttp2Session): void {
    session.close();
  }

  protected override get isUsedUp(): boolean {
    return super.isUsedUp || (this.#leaving !== null && this.connection === this.#leaving);
  }

  protected override dropQueue(): void {
    this.#queue = [];
  }

  get isReady(): boolean {
    const session = this.connection;
    if (session === null || session.closed || session.destroyed) return false;
    if (this.isUsedUp) return false;
    const { pipelining } = this.shared.stream;
    const allowed = session.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
    return this.unanswered < Math.min(allowed, pipelining ?? Number.POSITIVE_INFINITY);
  }

  reserve(length: number): number {
    if (!this.isReady) return -1;
    if (this.#scratch.length < length) this.#scratch = new Uint8Array(length);
    return 0;
  }

  get sendBytes(): Uint8Array {
    return this.#scratch;
  }

  commit(length: number): void {
    this.#queue.push(this.#scratch.slice(0, length));
    this.sent += 1;
    this.unanswered += 1;
  }

  flush(): void {
    const session = this.connection;
    if (session === null || this.#queue.length === 0) return;
    const queries = this.#queue;
    this.#queue = [];
    for (const query of queries) this.#request(session, query);
  }

  /** RFC 8484 §4.1: the id is 0 on the wire, so that HTTP caches can answer; here it is put back. */
  #request(session: ClientHttp2Session, query: Uint8Array): void {
    const id = ((query[0] ?? 0) << 8) | (query[1] ?? 0);
    query[0] = 0;
    query[1] = 0;
    const { method, path } = this.shared.stream;
    let stream: ClientHttp2Stream;
    try {
      if (method === 'POST') {
        stream = session.request({ ...this.#headers, 'content-length': query.length });
        stream.end(query);
      } else {
        const dns = Buffer.from(query).toString('base64url');
        const url = `${path}${path.includes('?') ? '&' : '?'}dns=${dns}`;
        stream = session.request({ ...this.#headers, [constants.HTTP2_HEADER_PATH]: url });
      }
    } catch (error) {
      // The connection has ended since; its queries are reported when it closes.
      if (session.closed || session.destroyed) return;
      throw error;
    }
    this.#await(session, stream, id);
  }

  #await(session: ClientHttp2Session, stream: ClientHttp2Stream, id: number): void {
    const { handler, timeoutSeconds } = this.shared;
    let problem: string | null = null;
    let chunks: Buffer[] = [];
    let size = 0;
    stream.on('response', (headers) => {
      this.hear();
      problem = responseProblem(headers);
    });
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_MESSAGE) problem ??= 'HTTP body of more than 65535 bytes';
      if (problem === null) chunks.push(chunk);
    });
    stream.on('error', (error: Error & { code?: string }) => {
      problem ??= `HTTP/2 stream error ${error.code ?? error.message}`;
    });
    // The engine has counted it as lost by then; close the stream so that it does not stay open for ever.
    stream.setTimeout(timeoutSeconds * 1000, () => stream.close(constants.NGHTTP2_CANCEL));
    stream.on('close', () => {
      if (this.connection !== session) return;
      this.unanswered -= 1;
      if (problem !== null) handler.onGarbage(this.lane, id, problem);
      else if (size > 0) this.#deliver(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), id);
      else if (stream.rstCode !== constants.NGHTTP2_CANCEL)
        handler.onGarbage(this.lane, id, 'HTTP response without a body');
      chunks = [];
      this.renewIfUsedUp();
    });
  }

  #deliver(message: Buffer | undefined, id: number): void {
    if (message === undefined) return;
    if (message.length >= 2) message.writeUInt16BE(id, 0);
    this.shared.handler.onMessage(this.lane, message, 0, message.length, nowNs(), false);
  }

  checkStalled(): void {
    // Nothing to do: each stream has a time limit of its own.
  }
}

/** Why a response is not a DNS message; null if its headers say that it is. */
function responseProblem(headers: IncomingHttpHeaders): string | null {
  const status = headers[constants.HTTP2_HEADER_STATUS];
  if (Number(status) !== 200) return `HTTP status ${status}`;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === DOH_MEDIA_TYPE ? null : `HTTP content type ${type ?? 'missing'}`;
}
