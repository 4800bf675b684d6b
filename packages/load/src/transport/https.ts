/** DNS over HTTPS (RFC 8484) with HTTP/2: one connection per lane, one stream per query. */
import { isIPv6 } from 'node:net';
import { ConnectionTransport, zeroCounts } from './connections.ts';
import { createDialer } from './dial.ts';
import { HttpsLane, type HttpsShared } from './https-lane.ts';
import { openLanes } from './open-lanes.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** The HTTP authority: the server as the user wrote it, with its port unless that is 443. */
function authorityOf({ host, port }: TransportRequest['server']): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}

/**
 * Opens all connections. Resolves when each is up or has failed once; a failed one is reported to the handler and
 * retried. Rejects with a `LoadError` (`E_UNREACHABLE`, `E_LIMIT`, `E_SOURCE`, `E_UNREADABLE`) if none is up.
 */
export async function openHttps(request: TransportRequest): Promise<Transport> {
  const shared: HttpsShared = {
    dialer: createDialer(request, 'h2'),
    authority: authorityOf(request.server),
    stream: request.stream,
    timeoutSeconds: request.timeoutSeconds,
    handler: request.handler,
    counts: zeroCounts(),
  };
  const lanes = Array.from({ length: request.lanes }, (_, lane) => new HttpsLane(lane, shared));
  await openLanes('https', lanes, request);
  return new ConnectionTransport('https', lanes, shared.counts, request.timeoutSeconds);
}
