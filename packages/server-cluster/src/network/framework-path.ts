/**
 * The way of a query through the framework: read without trust, run through middleware, handlers and store,
 * written to the wire. Used for whatever the answer table leaves to it; never throws, whatever arrives.
 */

import { messageOf } from '@dinodns-bench/program';
import { MAX_MESSAGE_BYTES, type QueryReader } from '@dinodns-bench/wire';
import type { Connection, NetworkHandler } from 'dinodns/common/network/net.js';
import type { DNSResponse } from 'dinodns/types/server.js';
import { setDraw } from '../framework/observe.ts';
import { Request } from '../framework/request.ts';
import type { Log } from '../log/log.ts';
import { readQuery } from '../wire/query.ts';
import { encodeResponse, serverFailure } from '../wire/response.ts';

export interface FrameworkPath {
  readonly handler: NetworkHandler;
  readonly log: Log;
  /** Bytes in front of each reply, for the caller to fill: the length field over TCP. */
  readonly headroom: number;
  /** Over UDP replies are as long as the client's EDNS says, else as long as a message can be. */
  readonly transport: 'udp' | 'stream';
}

/** What becomes of a message. */
export type Outcome =
  /** Nothing may be said: less than a header, or a response. */
  | 'unanswerable'
  /** Answered at once, because it is malformed or of another kind than a query. */
  | 'replied'
  /** The framework has it; the reply follows, perhaps before this call returns. */
  | 'pending';

/**
 * Gives the message to the framework. `send` is called exactly once for `replied` and `pending`. The message
 * is kept until then; `query` is what a reader has read of it. `draw` is the number that sampled the query for observers, if it has one.
 */
export function toFramework(
  path: FrameworkPath,
  message: Buffer,
  connection: Connection,
  query: QueryReader,
  draw: number | undefined,
  send: (reply: Buffer) => void,
): Outcome {
  const { headroom, handler } = path;
  const read = readQuery(message, query);
  if (read === null) return 'unanswerable';
  if (read instanceof Uint8Array) {
    send(headroom === 0 ? read : Buffer.concat([Buffer.alloc(headroom), read]));
    return 'replied';
  }
  const request = new Request(read, connection);
  if (draw !== undefined) setDraw(request, draw);
  handler(request).then(
    (response) => respond(path, request, response, send),
    (error: unknown) => fail(path, request, error, send),
  );
  return 'pending';
}

function respond(
  path: FrameworkPath,
  request: Request,
  response: DNSResponse,
  send: (reply: Buffer) => void,
): void {
  let reply: Buffer;
  try {
    const limit = path.transport === 'udp' ? request.query.udpLimit : MAX_MESSAGE_BYTES;
    reply = encodeResponse(request.query, response.packet.raw, limit, path.headroom);
  } catch (error) {
    fail(path, request, error, send);
    return;
  }
  send(reply);
  if (response.listenerCount('done') > 0) finish(path, response);
}

/** Tells loggers and caches that the response is out. One that throws is not the client's affair. */
function finish({ log }: FrameworkPath, response: DNSResponse): void {
  response.metadata.ts.responseTimeNs = process.hrtime.bigint();
  response.metadata.ts.responseTimeMs = Date.now();
  try {
    response.emit('done', response);
  } catch (error) {
    log.error({ error: messageOf(error) }, 'A listener for finished responses failed');
  }
  response.removeAllListeners();
}

function fail(path: FrameworkPath, request: Request, error: unknown, send: (reply: Buffer) => void): void {
  const details = error instanceof Error ? error.stack : messageOf(error);
  path.log.error({ error: details, name: request.packet.questions[0]?.name }, 'A handler failed');
  send(serverFailure(request.query, path.headroom));
}
