/** Opens the connection-based transports: DNS over TCP, TLS and HTTPS. `openUdp` opens UDP, which needs more options. */
import { isIPv6 } from 'node:net';
import { ConnectionTransport } from './connections.ts';
import { createDialer } from './dial.ts';
import { connectError, laneFailureOf } from './failures.ts';
import { HttpsLane } from './https-lane.ts';
import type { Lane, LaneShared } from './lane.ts';
import { StreamLane } from './stream-lane.ts';
import { createStreamPool } from './stream-pool.ts';
import type { Transport, TransportRequest } from './transport.ts';

type ConnectionKind = 'tcp' | 'tls' | 'https';

/** ALPN of each kind (RFC 7858, RFC 9113). */
const ALPN = { tcp: null, tls: 'dot', https: 'h2' } as const;

/**
 * Opens all connections, one for each lane. Resolves when each is up or has failed once; a failed one is reported to the handler and
 * retried. Rejects with a `LoadError` (`E_UNREACHABLE`, `E_LIMIT`, `E_SOURCE`, `E_UNREADABLE`) if none is up.
 */
export async function openConnections(kind: ConnectionKind, request: TransportRequest): Promise<Transport> {
  const shared: LaneShared = { ...request, dialer: createDialer(request, ALPN[kind]) };
  const pool = createStreamPool();
  const authority = authorityOf(request.server);
  const lanes = Array.from({ length: request.lanes }, (_, lane) =>
    kind === 'https' ? new HttpsLane(lane, shared, authority) : new StreamLane(lane, shared, pool),
  );
  await openLanes(kind, lanes, request);
  return new ConnectionTransport(kind, lanes, request.timeoutSeconds);
}

/** The HTTP authority: the server as the user wrote it, with its port unless that is 443. */
function authorityOf({ host, port }: TransportRequest['server']): string {
  const name = isIPv6(host) ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}

/** A listening socket queues at least 128 connections; in a burst of thousands, SYNs would be dropped. */
const AT_ONCE = 64;

/**
 * Resolves when each lane is up, or has failed once and keeps retrying by itself.
 * @throws LoadError if every lane failed, for the reason of the first.
 */
async function openLanes(
  kind: ConnectionKind,
  lanes: readonly Lane[],
  request: TransportRequest,
): Promise<void> {
  const failed = new Map<Lane, Error>();
  let opened = 0;
  const queue = lanes.values();
  const openSome = async () => {
    for (const lane of queue) {
      await lane.open().then(
        () => {
          opened += 1;
        },
        (error: Error) => failed.set(lane, error),
      );
      // If none of the first came up, more attempts would only take time.
      if (opened === 0 && failed.size >= AT_ONCE) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, lanes.length) }, openSome));
  const [first] = failed.values();
  if (first !== undefined && opened === 0) {
    for (const lane of lanes) lane.close();
    throw connectError(kind, first, request);
  }
  for (const [lane, error] of failed) lane.fail(laneFailureOf(error), error);
}
