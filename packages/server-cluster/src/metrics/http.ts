/**
 * The HTTP endpoint for monitoring: `/metrics`, `/health`, `/ready`. It is read-only: nobody who reaches the port
 * can change anything, which is why it offers no reload.
 */

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '@dinodns-bench/program';
import { bindError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { CONTENT_TYPE } from './exposition.ts';

/** A request that takes longer than this to arrive is a slow client's. */
const REQUEST_SECONDS = 5;
const MAX_CONNECTIONS = 32;

export interface Health {
  /** Processes that answer, and processes configured. */
  readonly ready: number;
  readonly size: number;
  /** Not stopping. */
  readonly serving: boolean;
}

export interface Watched {
  metrics(): Promise<string>;
  health(): Health;
}

export interface MetricsEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

function reply(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}

function replyJson(response: ServerResponse, status: number, body: object): void {
  reply(response, status, 'application/json', `${JSON.stringify(body)}\n`);
}

async function answer(path: string, watched: Watched, response: ServerResponse): Promise<void> {
  const { ready, size, serving } = watched.health();
  switch (path) {
    case '/metrics':
      reply(response, 200, CONTENT_TYPE, await watched.metrics());
      return;
    case '/health':
      // While at least one process answers, killing the server would only make things worse.
      replyJson(response, ready > 0 ? 200 : 503, { healthy: ready > 0, workers: size, ready });
      return;
    case '/ready':
      replyJson(response, serving && ready === size ? 200 : 503, {
        ready: serving && ready === size,
        workers: size,
        serving: ready,
      });
      return;
    default:
      replyJson(response, 404, { error: 'not found', paths: ['/metrics', '/health', '/ready'] });
  }
}

/** Starts listening. Rejects with a `ServerError` if it cannot. */
export async function serveMetrics(
  address: string,
  port: number,
  watched: Watched,
  log: Log,
): Promise<MetricsEndpoint> {
  // To import it loads the client behind `fetch` as well: 25 ms of CPU time, which a process without this endpoint saves.
  const { createServer } = await import('node:http');
  const server = createServer({ requestTimeout: REQUEST_SECONDS * 1000 }, (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      replyJson(response, 405, { error: 'method not allowed' });
      return;
    }
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    answer(path, watched, response).catch((error: unknown) => {
      log.error({ path, error: messageOf(error) }, 'The metrics endpoint failed');
      if (!response.headersSent) replyJson(response, 500, { error: 'internal error' });
      else response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  // A cluster worker does not share an endpoint of its own.
  server.listen({ host: address, port, exclusive: true });
  await once(server, 'listening').catch((error: unknown) => {
    throw bindError(error, address, port);
  });
  server.on('error', (error) => log.error({ error: error.message }, 'The metrics endpoint failed'));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
