/**
 * The engine's interface to a transport. A transport has lanes (UDP sockets or connections); ids are unique among a
 * lane's outstanding queries. All calls happen in one thread. Callbacks come from `poll` or from the event loop,
 * never from `commit` or `flush`.
 */
import type { CannonOptions } from '../options.ts';

/** Why a lane lost its connection, for the counts of the result. */
export type LaneFailure = 'refused' | 'reset' | 'closed' | 'timeout' | 'tls' | 'protocol' | 'unreachable';

/** The events that a transport reports to the engine. */
export interface TransportHandler {
  /**
   * A DNS message has arrived on `lane`: `bytes[offset, offset + length)`, without TCP's length bytes; the id
   * is the query's (DoH puts it back, since it sends 0). Valid until the call returns.
   * @param receivedNs When it arrived, on the clock of `nowNs`: the kernel's timestamp if there is one, else when
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
   * What arrived is not a DNS message: an HTTP status other than 200, or a wrong content type, for example. If `id`
   * is known, that query is over. `reason` is from a small set, suitable for counting: `HTTP status 503`.
   */
  onGarbage(lane: number, id: number | null, reason: string): void;
  /**
   * The lane's connection is gone: queries outstanding on it will not be answered. The transport opens a new
   * one by itself. For UDP: ECONNREFUSED and the like (`refused`, `unreachable`); the lane stays open, and the query
   * that caused it is unknown.
   */
  onLaneFailure(lane: number, failure: LaneFailure, error: Error | null): void;
  /** A connection is up; `setUpNs` includes the TLS handshake. Never for UDP. */
  onConnected(setUpNs: number): void;
  /** A lane that was full has room again. */
  onReady(): void;
}

export interface Transport {
  readonly kind: 'udp' | 'tcp' | 'tls' | 'https';
  /** Number of lanes, at least 1, constant. */
  readonly lanes: number;
  /** Whether it must be polled: `poll` delivers messages. Otherwise only the event loop does. */
  readonly polled: boolean;
  /**
   * Whether the lane takes a query now: its connection is up, its queue has room, and its connection has not
   * had all its queries.
   */
  ready(lane: number): boolean;
  /**
   * Space for a message of up to 65,535 bytes on a ready lane: the caller writes it, id included, into
   * `sendBytes` at the returned offset, and commits. -1 if the lane has no room. Valid until the next call.
   */
  reserve(lane: number, length: number): number;
  /** The array that `reserve`'s offsets on this lane refer to; may change with each `reserve`. */
  sendBytes(lane: number): Uint8Array;
  /** Queues the reserved message. It leaves with the next `flush`. */
  commit(lane: number, length: number): void;
  /** Passes everything queued to the kernel, as far as it accepts it. */
  flush(): void;
  /** Reads what is available without waiting; returns the number of messages handled. 0 if not polled. */
  poll(): number;
  readonly facts: TransportFacts;
  /** Since it was opened; none for connections. */
  readonly losses: TransportLosses;
  close(): Promise<void>;
}

/** What was opened, for the report. */
export interface TransportFacts {
  /** `native`: many datagrams per system call; `dgram`: one. Null for connections. */
  readonly backend: 'native' | 'dgram' | null;
  /** Why it is not `native`, else null. */
  readonly backendReason: string | null;
  /** Whether the kernel timestamps answers; otherwise they are timed when read. */
  readonly kernelTimestamps: boolean;
  /** Receive buffer of each UDP socket as the kernel reports it, bytes; null for connections. */
  readonly receiveBufferBytes: number | null;
}

/** Of a transport without datagrams. */
export const NO_FACTS: TransportFacts = {
  backend: null,
  backendReason: null,
  kernelTimestamps: false,
  receiveBufferBytes: null,
};

/** Datagrams lost on this machine. */
export interface TransportLosses {
  /** Those that the kernel refused to send (EPERM, EHOSTUNREACH, EMSGSIZE). */
  readonly sendErrors: number;
  /** Those dropped at our own sockets because their buffers were full, as far as that is known. */
  readonly kernelDrops: number;
}

export const NO_LOSSES: TransportLosses = { sendErrors: 0, kernelDrops: 0 };

/** The server's address, after name resolution. */
export interface ServerAddress {
  /** IPv4 or IPv6 text. */
  readonly address: string;
  readonly port: number;
  /** As the user wrote it: for TLS's server name, HTTP's authority and reports. */
  readonly host: string;
}

/** The options common to all transports. */
export interface TransportRequest {
  readonly server: ServerAddress;
  /** Lanes to open. */
  readonly lanes: number;
  /** Local addresses to send from, used in turn by the lanes; empty: the kernel chooses. */
  readonly sources: readonly string[];
  /** First local port; lanes take consecutive ones. 0: the kernel chooses. */
  readonly sourcePort: number;
  /** A connection not established within this time has failed. */
  readonly timeoutSeconds: number;
  /** Unused for UDP. */
  readonly stream: CannonOptions['stream'];
  readonly handler: TransportHandler;
}
