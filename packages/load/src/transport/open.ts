/** Opens the connection-based transports: DNS over TCP, TLS and HTTPS. `openUdp` opens UDP, which needs more options. */
import { isIPv6 } from 'node:net';
import { nowNs } from '../clock.ts';
import { createDialer } from './dial.ts';
import { connectError, laneFailureOf } from './failures.ts';
import { HttpsLane } from './https-lane.ts';
import type { Lane, LaneShared } from './lane.ts';
import { StreamLane, StreamPool } from './stream-lane.ts';
import { NO_FACTS, NO_LOSSES, type Transport, type TransportRequest } from './transport.ts';

type ConnectionKind = 'tcp' | 'tls' | 'https';

/** ALPN of each kind (RFC 7858, RFC 9113). */
const ALPN = { tcp: null, tls: 'dot', https: 'h2' } as const;

/**
 * Opens all connections, one for each lane. Resolves when each is up or has failed once; a failed one is reported to the handler and
 * retried. Rejects with a `LoadError` (`E_UNREACHABLE`, `E_LIMIT`, `E_SOURCE`, `E_UNREADABLE`) if none is up.
 */
export async function openConnections(kind: ConnectionKind, request: TransportRequest): Promise<Transport> {
  const shared: LaneShared = { ...request, dial: createDialer(request, ALPN[kind]) };
  const pool = new StreamPool();
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

/** How many times per timeout lanes are checked for stalled connections. */
const CHECKS_PER_TIMEOUT = 4;

/** Lanes of connections as a transport. */
class ConnectionTransport implements Transport {
  readonly kind: ConnectionKind;
  readonly lanes: number;
  readonly polled = false;
  readonly facts = NO_FACTS;
  readonly losses = NO_LOSSES;
  readonly #lanes: readonly Lane[];
  readonly #touched: Uint8Array;
  readonly #stallTimer: NodeJS.Timeout;

  constructor(kind: ConnectionKind, lanes: readonly Lane[], timeoutSeconds: number) {
    this.kind = kind;
    this.lanes = lanes.length;
    this.#lanes = lanes;
    this.#touched = new Uint8Array(lanes.length);
    const interval = Math.max(10, (timeoutSeconds * 1000) / CHECKS_PER_TIMEOUT);
    this.#stallTimer = setInterval(() => {
      const now = nowNs();
      for (const lane of lanes) lane.checkStalled(now);
    }, interval);
    this.#stallTimer.unref();
  }

  #laneAt(lane: number): Lane {
    const found = this.#lanes[lane];
    if (found === undefined) throw new RangeError(`no lane ${lane}`);
    return found;
  }

  ready(lane: number): boolean {
    return this.#laneAt(lane).isReady;
  }

  reserve(lane: number, length: number): number {
    return this.#laneAt(lane).reserve(length);
  }

  sendBytes(lane: number): Uint8Array {
    return this.#laneAt(lane).sendBytes;
  }

  commit(lane: number, length: number): void {
    this.#laneAt(lane).commit(length);
    this.#touched[lane] = 1;
  }

  flush(): void {
    for (let lane = 0; lane < this.lanes; lane += 1) {
      if (this.#touched[lane] === 0) continue;
      this.#touched[lane] = 0;
      this.#laneAt(lane).flush();
    }
  }

  poll(): number {
    return 0;
  }

  async close(): Promise<void> {
    clearInterval(this.#stallTimer);
    for (const lane of this.#lanes) lane.close();
  }
}
