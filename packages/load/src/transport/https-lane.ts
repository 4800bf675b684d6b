/** One lane of DNS over HTTPS (RFC 8484): an HTTP/2 connection, one stream per query. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { nowNs } from '../clock.ts';
import { type ConnectionCounts, type ConnectionLane, createRetry } from './connections.ts';
import type { Dialer } from './dial.ts';
import { laneFailureOf, ProtocolMismatch } from './failures.ts';
import type { LaneFailure, StreamOptions, TransportHandler } from './transport.ts';

/** RFC 8484 §6. */
const MEDIA_TYPE = 'application/dns-message';

/** The longest DNS message; a longer body is not an answer. */
const MAX_MESSAGE = 65_535;

export interface HttpsShared {
  readonly dialer: Dialer;
  readonly authority: string;
  readonly stream: StreamOptions;
  readonly timeoutSeconds: number;
  readonly handler: TransportHandler;
  readonly counts: ConnectionCounts;
}

export class HttpsLane implements ConnectionLane {
  readonly #lane: number;
  readonly #shared: HttpsShared;
  readonly #headers: OutgoingHttpHeaders;
  #session: ClientHttp2Session | null = null;
  #closed = false;
  #sent = 0;
  #unanswered = 0;
  #queue: Uint8Array[] = [];
  #scratch = new Uint8Array(512);
  readonly #retry = createRetry();

  constructor(lane: number, shared: HttpsShared) {
    this.#lane = lane;
    this.#shared = shared;
    const { method, path } = shared.stream;
    this.#headers = {
      [constants.HTTP2_HEADER_METHOD]: method,
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_SCHEME]: 'https',
      [constants.HTTP2_HEADER_AUTHORITY]: shared.authority,
      [constants.HTTP2_HEADER_ACCEPT]: MEDIA_TYPE,
      ...(method === 'POST' ? { [constants.HTTP2_HEADER_CONTENT_TYPE]: MEDIA_TYPE } : {}),
    };
  }

  /** Opens the first connection; rejects if that fails. */
  async open(): Promise<void> {
    const { dialer, counts, authority } = this.#shared;
    const begun = nowNs();
    const socket = await dialer.dial(this.#lane);
    if (this.#closed) {
      socket.destroy();
      return;
    }
    const { alpnProtocol } = socket as TLSSocket;
    if (alpnProtocol !== 'h2') {
      socket.destroy();
      throw new ProtocolMismatch('the server does not speak HTTP/2 on this port');
    }
    const session = connect(`https://${authority}`, { createConnection: () => socket });
    counts.connectNs.push(nowNs() - begun);
    counts.connections += 1;
    this.#adopt(session, socket);
  }

  #adopt(session: ClientHttp2Session, socket: Socket): void {
    const { counts } = this.#shared;
    this.#session = session;
    this.#sent = 0;
    this.#unanswered = 0;
    this.#retry.reset();
    let reason: Error | null = null;
    session.on('error', (error: Error) => {
      reason = error;
    });
    session.on('remoteSettings', () => this.#shared.handler.onReady());
    // The server takes no more streams on this connection: those that are open may still be answered.
    session.on('goaway', () => session.close());
    session.on('close', () => {
      counts.bytesSent += socket.bytesWritten;
      counts.bytesReceived += socket.bytesRead;
      this.#lost(session, reason);
    });
  }

  #lost(session: ClientHttp2Session, error: Error | null): void {
    if (this.#session !== session || this.#closed) return;
    const hadUnanswered = this.#unanswered > 0;
    this.#drop();
    if (error !== null || hadUnanswered) this.fail(error === null ? 'closed' : laneFailureOf(error), error);
    else this.#reopen();
  }

  /** Counts a failure, reports it to the engine, and retries after a pause. */
  fail(failure: LaneFailure, error: Error | null): void {
    this.#shared.counts.connectionFailures += 1;
    this.#shared.handler.onLaneFailure(this.#lane, failure, error);
    if (!this.#closed) this.#retry.later(() => this.#reopen());
  }

  #reopen(): void {
    this.open().then(
      () => this.#shared.handler.onReady(),
      (error: Error) => {
        if (!this.#closed) this.fail(laneFailureOf(error), error);
      },
    );
  }

  #drop(): void {
    this.#session = null;
    this.#queue = [];
    this.#unanswered = 0;
  }

  get isReady(): boolean {
    const session = this.#session;
    if (session === null || session.closed || session.destroyed) return false;
    const { queriesPerConnection, pipelining } = this.#shared.stream;
    if (queriesPerConnection !== null && this.#sent >= queriesPerConnection) return false;
    const allowed = session.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY;
    return this.#unanswered < Math.min(allowed, pipelining ?? Number.POSITIVE_INFINITY);
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
    this.#sent += 1;
    this.#unanswered += 1;
  }

  flush(): void {
    const session = this.#session;
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
    const { method, path } = this.#shared.stream;
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
    const { handler, timeoutSeconds } = this.#shared;
    let problem: string | null = null;
    let chunks: Buffer[] = [];
    let size = 0;
    stream.on('response', (headers) => {
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
      if (this.#session !== session) return;
      this.#unanswered -= 1;
      if (problem !== null) handler.onGarbage(this.#lane, id, problem);
      else if (size > 0) this.#deliver(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks), id);
      else if (stream.rstCode !== constants.NGHTTP2_CANCEL)
        handler.onGarbage(this.#lane, id, 'HTTP response without a body');
      chunks = [];
      this.#renewIfUsedUp();
    });
  }

  #deliver(message: Buffer | undefined, id: number): void {
    if (message === undefined) return;
    if (message.length >= 2) message.writeUInt16BE(id, 0);
    this.#shared.handler.onMessage(this.#lane, message, 0, message.length, nowNs(), false);
  }

  /** Closes a connection that has had all its queries answered and opens the next. */
  #renewIfUsedUp(): void {
    const { queriesPerConnection } = this.#shared.stream;
    const session = this.#session;
    if (session === null || queriesPerConnection === null) return;
    if (this.#sent < queriesPerConnection || this.#unanswered > 0) return;
    this.#drop();
    session.close();
    this.#reopen();
  }

  checkStalled(): void {
    // Nothing to do: each stream has a time limit of its own.
  }

  close(): void {
    this.#closed = true;
    this.#retry.cancel();
    this.#session?.destroy();
    this.#drop();
  }
}

/** Why a response is not a DNS message; null if its headers say that it is. */
function responseProblem(headers: IncomingHttpHeaders): string | null {
  const status = headers[constants.HTTP2_HEADER_STATUS];
  if (Number(status) !== 200) return `HTTP status ${status}`;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === MEDIA_TYPE ? null : `HTTP content type ${type ?? 'missing'}`;
}
