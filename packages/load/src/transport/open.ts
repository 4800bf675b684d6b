/** Opens the connection-based transports: DNS over TCP, TLS and HTTPS. `openUdp` opens UDP, which needs more options. */
import { readFileSync } from 'node:fs';
import { connect, isIP, isIPv6 } from 'node:net';
import {
  type ConnectionOptions,
  connect as connectTls,
  createSecureContext,
  type SecureContext,
} from 'node:tls';
import { messageOf } from '@dinodns-bench/program';
import { nowNs } from '../clock.ts';
import { loadError } from '../errors.ts';
import { ConnectTimeout, connectError, laneFailureOf } from './failures.ts';
import { HttpsLane } from './https-lane.ts';
import type { Dial, Lane, LaneShared } from './lane.ts';
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

/** @throws LoadError `E_UNREADABLE` if the file of certificates cannot be read. */
function readAuthorities(path: string | null): Buffer | undefined {
  if (path === null) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw loadError(
      'E_UNREADABLE',
      `the certificates in ${path} cannot be read: ${messageOf(error)}`,
      'give a PEM file that can be read',
      error,
    );
  }
}

/** One context for all connections: making one takes milliseconds. */
function secureContext(caFile: string | null): SecureContext {
  const ca = readAuthorities(caFile);
  try {
    return createSecureContext(ca === undefined ? {} : { ca });
  } catch (error) {
    const problem = `${caFile} contains no certificates: ${messageOf(error)}`;
    throw loadError('E_UNREADABLE', problem, 'give a file in PEM format', error);
  }
}

/** The name for SNI and for the certificate: an address has no place in SNI (RFC 6066 §3). */
function tlsOptions(request: TransportRequest, alpn: string): ConnectionOptions {
  const { server, stream } = request;
  const name = stream.serverName ?? server.host;
  return {
    secureContext: secureContext(stream.caFile),
    ALPNProtocols: [alpn],
    rejectUnauthorized: stream.verify,
    ...(isIP(name) === 0 ? { servername: name } : {}),
  };
}

/**
 * `alpn`: the protocol asked for in TLS's handshake (`dot`, `h2`); null for plain TCP.
 * @throws LoadError `E_UNREADABLE` for the file of authorities.
 */
function createDialer(request: TransportRequest, alpn: string | null): Dial {
  const { server, sources, sourcePort } = request;
  const tls = alpn === null ? null : tlsOptions(request, alpn);
  return (lane, onread) =>
    new Promise((resolve, reject) => {
      const localAddress = sources[lane % Math.max(1, sources.length)];
      const options = {
        host: server.address,
        port: server.port,
        noDelay: true,
        ...(localAddress === undefined ? {} : { localAddress }),
        ...(sourcePort === 0 ? {} : { localPort: sourcePort + lane }),
        ...(onread === undefined ? {} : { onread }),
      };
      const socket = tls === null ? connect(options) : connectTls({ ...options, ...tls });
      const up = tls === null ? 'connect' : 'secureConnect';
      const settle = () => {
        clearTimeout(timer);
        socket.off(up, succeed).off('error', fail).off('close', closed);
      };
      const succeed = () => {
        settle();
        resolve(socket);
      };
      const fail = (error: Error) => {
        settle();
        // Later errors of this socket do not matter.
        socket.on('error', () => undefined);
        socket.destroy();
        reject(error);
      };
      const closed = () => fail(Object.assign(new Error('closed by the server'), { code: 'ECONNRESET' }));
      const timer = setTimeout(
        () => fail(new ConnectTimeout(`no connection within ${request.timeoutSeconds} s`)),
        request.timeoutSeconds * 1000,
      );
      socket.once(up, succeed).once('error', fail).once('close', closed);
    });
}
