/** DNS over TCP (RFC 7766) and over TLS (RFC 7858): one connection per lane. */
import { ConnectionTransport, zeroCounts } from './connections.ts';
import { createDialer } from './dial.ts';
import { openLanes } from './open-lanes.ts';
import { type LaneShared, StreamLane } from './stream-lane.ts';
import { createStreamPool } from './stream-pool.ts';
import type { Transport, TransportRequest } from './transport.ts';

/**
 * Opens all connections. Resolves when each is up or has failed once; a failed one is reported to the handler and
 * retried. Rejects with a `LoadError` (`E_UNREACHABLE`, `E_LIMIT`, `E_SOURCE`, `E_UNREADABLE`) if none is up.
 */
export async function openStreams(kind: 'tcp' | 'tls', request: TransportRequest): Promise<Transport> {
  const shared: LaneShared = {
    dialer: createDialer(request, kind === 'tls' ? 'dot' : null),
    pool: createStreamPool(),
    stream: request.stream,
    timeoutSeconds: request.timeoutSeconds,
    handler: request.handler,
    counts: zeroCounts(),
  };
  const lanes = Array.from({ length: request.lanes }, (_, lane) => new StreamLane(lane, shared));
  await openLanes(kind, lanes, request);
  return new ConnectionTransport(kind, lanes, shared.counts, request.timeoutSeconds);
}
