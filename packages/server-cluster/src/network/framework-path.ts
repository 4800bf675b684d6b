/**
 * A query's path through the framework: parsed defensively, run through middleware, handlers and store, and
 * encoded. It handles whatever the answer table leaves. Never throws, whatever arrives.
 */

import { messageOf } from '@dinodns-bench/program';
import { MAX_MESSAGE_BYTES, type QueryReader } from '@dinodns-bench/wire';
import { type NetworkHandler, SupportedNetworkType } from 'dinodns/common/network/net.js';
import type { DNSResponse } from 'dinodns/types/server.js';
import { setDraw } from '../framework/observe.ts';
import { Request } from '../framework/request.ts';
import { readQuery } from '../wire/query.ts';
import { encodeResponse, serverFailure } from '../wire/response.ts';
import type { ManagedNetwork } from './managed-network.ts';

/** A missing handler is the caller's mistake. It is logged, and clients get SERVFAIL. */
export const NO_HANDLER: NetworkHandler = () => Promise.reject(new Error('The network has no handler.'));

/** Who asked, for handlers. */
export interface Client {
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** What happened to a message. */
export type Outcome =
  /** Answered at once because it is malformed or not a query. */
  | 'replied'
  /** The framework has too many queries already; this one gets no answer. */
  | 'congested'
  /** Passed to the framework. The reply follows, perhaps before this call returns. */
  | 'pending';

/**
 * Passes the message to the framework. `send` is called exactly once for `replied` and `pending`, and the message
 * is kept until then. `query` is a reader that has parsed it and has not said `IGNORE`. `draw` is the number that sampled the query
 * for observers, if any; `cookie` the COOKIE option for the reply.
 */
export function toFramework(
  network: ManagedNetwork,
  message: Buffer,
  { remoteAddress, remotePort }: Client,
  query: QueryReader,
  draw: number | undefined,
  cookie: Uint8Array | undefined,
  send: (reply: Buffer) => void,
): Outcome {
  const { headroom, handler } = network;
  const read = readQuery(message, query, cookie);
  if (read instanceof Uint8Array) {
    send(headroom === 0 ? read : Buffer.concat([Buffer.alloc(headroom), read]));
    return 'replied';
  }
  if (!network.pending.enter()) return 'congested';
  const request = new Request(read, { remoteAddress, remotePort, type: network.networkType });
  if (draw !== undefined) setDraw(request, draw);
  const handled = async () => handler(request);
  handled()
    .finally(() => network.pending.leave())
    .then(
      (response) => respond(network, request, response, send),
      (error: unknown) => fail(network, request, error, send),
    )
    .catch((error: unknown) => network.barrier.caught(error));
  return 'pending';
}

function respond(
  network: ManagedNetwork,
  request: Request,
  response: DNSResponse,
  send: (reply: Buffer) => void,
): void {
  let reply: Buffer;
  try {
    const isUdp = network.networkType === SupportedNetworkType.UDP;
    const limit = isUdp ? request.query.udpLimit : MAX_MESSAGE_BYTES;
    reply = encodeResponse(request.query, response.packet.raw, limit, network.headroom);
  } catch (error) {
    fail(network, request, error, send);
    return;
  }
  send(reply);
  if (response.listenerCount('done') > 0) finish(network, response);
}

/** Tells loggers and caches that the response is out. If one of them throws, the client is unaffected. */
function finish({ log }: ManagedNetwork, response: DNSResponse): void {
  response.metadata.ts.responseTimeNs = process.hrtime.bigint();
  response.metadata.ts.responseTimeMs = Date.now();
  try {
    response.emit('done', response);
  } catch (error) {
    log.error({ error: messageOf(error) }, 'A listener for finished responses failed');
  }
  response.removeAllListeners();
}

function fail(
  network: ManagedNetwork,
  request: Request,
  error: unknown,
  send: (reply: Buffer) => void,
): void {
  const details = error instanceof Error ? error.stack : messageOf(error);
  network.log.error({ error: details, name: request.packet.questions[0]?.name }, 'A handler failed');
  send(serverFailure(request.query, network.headroom));
}
