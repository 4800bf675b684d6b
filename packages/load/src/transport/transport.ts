/**
 * What the engine needs of a transport. A transport has lanes (UDP sockets, or connections); ids are unique
 * among a lane's outstanding queries. All calls happen in one thread, and callbacks come from within `poll`
 * or from the event loop, never from within `send` or `flush`.
 */

/** Why a lane lost its connection, for the counts of the result. */
export type LaneFailure = 'refused' | 'reset' | 'closed' | 'timeout' | 'tls' | 'protocol' | 'unreachable';

/** What a transport tells the engine. */
export interface TransportHandler {
  /**
   * A DNS message has arrived on `lane`: `bytes[offset, offset + length)`, without TCP's length octets; the id
   * is the query's (DoH puts it back, since it sends 0). Valid until the call returns.
   * @param receivedNs When it arrived, on the clock of `nowNs`: the kernel's timestamp where there is one, else when
   *   it was read (one clock read for each chunk is enough).
   * @param cut Whether its end is lost (longer than the receive slot).
   */
  onMessage(
    lane: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    receivedNs: number,
    cut: boolean,
  ): void;
  /**
   * What arrived is no DNS message: an HTTP status that is not 200 or another content type, for example. Where
   * `id` is known, that query is over. `reason` is from a small set, fit for counting: `HTTP status 503`.
   */
  onGarbage(lane: number, id: number | null, reason: string): void;
  /**
   * The lane's connection is gone: queries outstanding on it will not be answered. The transport opens a new
   * one by itself. For UDP: ECONNREFUSED and the like (`refused`, `unreachable`), where the lane stays open and
   * nobody knows which query it was for.
   */
  onLaneFailure(lane: number, failure: LaneFailure, error: Error | null): void;
  /** Some lane, full before, takes queries again. */
  onReady(): void;
}

export interface Transport {
  readonly kind: 'udp' | 'tcp' | 'tls' | 'https';
  /** Number of lanes, at least 1, constant. */
  readonly lanes: number;
  /** Whether it must be polled: `poll` brings messages. Otherwise only the event loop does. */
  readonly polled: boolean;
  /**
   * Whether the lane takes a query now: its connection is up, its queue has room, and its connection has not
   * had all its queries.
   */
  ready(lane: number): boolean;
  /**
   * A place for a message of up to 65,535 octets on a ready lane: the caller writes it, id included, into
   * `sendBytes` at the returned offset, and commits. -1 where the lane takes none. Valid until the next call.
   */
  reserve(lane: number, length: number): number;
  /** Where `reserve` gives places on this lane; may be another array after each `reserve`. */
  sendBytes(lane: number): Uint8Array;
  /** Queues the reserved message. It leaves with the next `flush`. */
  commit(lane: number, length: number): void;
  /** Hands everything queued to the kernel as far as it takes it. */
  flush(): void;
  /** Reads what is there, without waiting; returns the messages handled. Transports that are not polled: 0. */
  poll(): number;
  readonly counters: TransportCounters;
  /** Connection set-up times in nanoseconds since the last call, to be recorded; empty for UDP. */
  takeConnectNanoseconds(): readonly number[];
  close(): Promise<void>;
}

/** Counts since the transport was opened. */
export interface TransportCounters {
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Connections opened; 0 for UDP. */
  readonly connections: number;
  /** Connections and attempts that failed. */
  readonly connectionFailures: number;
  /** Messages that the kernel refused to send (EPERM, EHOSTUNREACH, EMSGSIZE). */
  readonly sendErrors: number;
  /** Datagrams dropped at our own sockets because their buffers were full; null where not known. */
  readonly kernelDrops: number | null;
}

/** Where the server is, after names were resolved. */
export interface ServerAddress {
  /** IPv4 or IPv6 text. */
  readonly address: string;
  readonly port: number;
  /** As the user wrote it: for TLS's server name, HTTP's authority and reports. */
  readonly host: string;
}

/** What every transport is opened with. */
export interface TransportRequest {
  readonly server: ServerAddress;
  /** Lanes to open. */
  readonly lanes: number;
  /** Local addresses to send from, used in turn by the lanes; empty: the kernel chooses. */
  readonly sources: readonly string[];
  /** First local port, lanes take consecutive ones; 0: the kernel chooses. */
  readonly sourcePort: number;
  /** A connection that is not up after this is a failure. */
  readonly timeoutSeconds: number;
  readonly stream: StreamOptions;
  readonly handler: TransportHandler;
}

/** Options of connections; without meaning for UDP. */
export interface StreamOptions {
  /** A new connection after this many queries; null: connections are kept for the whole run. */
  readonly queriesPerConnection: number | null;
  /** Queries outstanding on one connection at most (pipelining; HTTP/2 streams); null: the window decides. */
  readonly pipelining: number | null;
  /** Server name for TLS, and for its certificate; null: the host as written. */
  readonly serverName: string | null;
  /** Whether a certificate that does not verify ends the connection. */
  readonly verify: boolean;
  /** PEM file of certificate authorities; null: the system's. */
  readonly caFile: string | null;
  /** DoH: path, such as "/dns-query". */
  readonly path: string;
  readonly method: 'GET' | 'POST';
}
