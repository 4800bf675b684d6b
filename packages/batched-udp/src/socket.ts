/**
 * What a batched UDP socket is, whichever way it moves its datagrams: many per system call through libc's
 * `recvmmsg` and `sendmmsg`, or one at a time through `node:dgram`.
 *
 * Nothing here allocates per datagram: a batch is a view of the socket's arena, valid only until the
 * handler returns.
 */

/** `native`: recvmmsg(2) and sendmmsg(2). `dgram`: `node:dgram`, where those cannot be called. */
export type Backend = 'native' | 'dgram';

/** An address and port as text, for logs, configuration and slow paths. */
export interface Endpoint {
  /** IPv4 dotted or IPv6 text, with `%zone` where it is link-local. */
  readonly address: string;
  readonly family: 4 | 6;
  /** 0 to 65535. */
  readonly port: number;
}

/** Where a datagram came from, kept for a reply after its batch is gone. Good only for the socket it is from. */
export interface Peer extends Endpoint {
  /** The peer's `sockaddr` as the kernel gave it; opaque. */
  readonly sockaddr: Uint8Array;
}

/**
 * Received datagrams in place. The same object and arrays are used for every batch of a socket: read what you
 * need before the handler returns.
 */
export interface Batch {
  /** Datagrams in this batch, 1 to the socket's `batchSize`. Those with an index at or beyond it are stale. */
  readonly count: number;
  /** The arena that holds the datagrams; writable, since replies are written over their queries. */
  readonly bytes: Uint8Array;
  /** Where datagram `i` starts in `bytes`. */
  readonly offsets: Uint32Array;
  /** Bytes received of datagram `i`, 0 to `slotBytes`; a datagram may be empty. */
  readonly lengths: Uint32Array;
  /** Bytes of `bytes` that belong to each datagram, from its offset: no reply in place may be longer. */
  readonly slotBytes: number;
  /** 1 where the datagram was longer than `slotBytes` and its end is lost (MSG_TRUNC), else 0. */
  readonly truncated: Uint8Array;
  /** Source ports, 0 to 65535. */
  readonly ports: Uint16Array;
  /**
   * Source addresses, 16 bytes each, IPv4 as IPv4-mapped IPv6 (`::ffff:a.b.c.d`), network byte order:
   * the address of datagram `i` is at `16 * i`.
   */
  readonly addresses: Uint8Array;
  /**
   * Nanoseconds that datagram `i` had waited in the kernel when the batch was read, by the kernel's receive
   * timestamp (SO_TIMESTAMPNS); NaN without `timestamps` or where the kernel gave none.
   */
  readonly ages: Float64Array;
  /** What `performance.now()` was, in ms, at the moment that `ages` count back from; NaN without `timestamps`. */
  readonly readAt: number;
  /** The source of datagram `i`, for a reply after the handler has returned. Allocates. */
  peer(i: number): Peer;
  /**
   * Sends `bytes[offsets[i], offsets[i] + length)` to where datagram `i` came from, when the handler returns,
   * with all other replies of the batch. At most one reply for each datagram: a later call replaces an
   * earlier one.
   */
  reply(i: number, length: number): void;
}

/** Called for each batch, synchronously. What it throws is emitted as the socket's error; the socket goes on. */
export type BatchHandler = (batch: Batch) => void;

export interface UdpSocketOptions {
  /** `auto` (default): native where it works, else dgram. `native` rejects where it does not work. */
  readonly backend?: Backend | 'auto';
  /** Local address: IPv4 or IPv6 text. Default: the wildcard address of the peer's family, else `0.0.0.0`. */
  readonly address?: string;
  /** Local port; 0 (default) lets the kernel choose. */
  readonly port?: number;
  /** Connects the socket: it sends to, and receives from, this peer only. */
  readonly connect?: { readonly address: string; readonly port: number };
  /** SO_REUSEPORT: several sockets, in this process or others, share the port; the kernel balances by flow. */
  readonly reusePort?: boolean;
  /**
   * With `reusePort`: spreads datagrams over so many sockets of the port at random, each for itself, in place of
   * by flow (SO_ATTACH_REUSEPORT_CBPF, Linux 4.5). It holds for all sockets of the port, so that they should ask
   * for the same number: how many there are. While there are fewer, what would go to those that are missing is
   * balanced by flow over the others; sockets beyond the number get nothing. Native backend only; `dgram`
   * balances by flow.
   */
  readonly spreadOver?: number;
  /** IPV6_V6ONLY of a socket bound to an IPv6 address; default false, as the kernel's default. */
  readonly ipv6Only?: boolean;
  /** SO_RCVBUF asked for, in bytes; default: the kernel's. See `receiveBufferBytes` for what was given. */
  readonly receiveBufferBytes?: number;
  /** SO_SNDBUF asked for, in bytes; default: the kernel's. */
  readonly sendBufferBytes?: number;
  /** Datagrams moved by one system call at most, 1 to 1024; default 64. */
  readonly batchSize?: number;
  /** Longest datagram received whole and longest reply in place, in bytes, 512 to 65535; default 4096. */
  readonly slotBytes?: number;
  /** Datagrams that may wait to be sent, 1 to 65536; default 1024. */
  readonly sendQueueLength?: number;
  /**
   * Hand runs of equally long datagrams to one peer, the connected one, to the kernel as one message (UDP_SEGMENT):
   * the same datagrams for less than half of the CPU time; a capture on this machine may show them as one. Without
   * effect for the dgram backend, for other peers and where the kernel or the device cannot. Default false.
   */
  readonly segmentation?: boolean;
  /**
   * Never have a datagram that leaves cut into fragments, whatever path MTU an ICMP message claims (IP_MTU_DISCOVER
   * with IP_PMTUDISC_PROBE, IPV6_DONTFRAG), as RFC 9715 has it for DNS: one that is longer than the device's MTU is
   * refused (`counters.sendErrors`). Default false. Without effect for the dgram backend.
   */
  readonly dontFragment?: boolean;
  /**
   * While datagrams come in thick, sleep so many microseconds (and what the kernel's timers add, about 50) before
   * each further read, so that a read finds many: fewer turns of the event loop and wake-ups of the peers, less
   * CPU time, and up to that much more latency. 0 to 1000; default 0: read at once. The thread sleeps for 2 ms in
   * a turn at most, and not at all while fewer than two datagrams come in that time. Native backend only.
   */
  readonly gatherMicroseconds?: number;
  /** Ask the kernel when each datagram arrived (`ages`). Default false. */
  readonly timestamps?: boolean;
  /** Receives the batches. Datagrams that arrive wait in the kernel until the open call has resolved. */
  readonly onBatch: BatchHandler;
  /**
   * Errors that leave the socket open: an exception of the handler, and what the kernel reports of earlier
   * sends (ECONNREFUSED of a connected socket). Default: thrown as an uncaught exception, except
   * ECONNREFUSED, which is only counted.
   */
  readonly onError?: (error: Error) => void;
  /** The send queue, once full, has room again. */
  readonly onDrain?: () => void;
}

/** Counts since the socket was opened. */
export interface UdpSocketCounters {
  readonly received: number;
  readonly receiveCalls: number;
  readonly sent: number;
  readonly sendCalls: number;
  /** Datagrams that the kernel refused for good (EMSGSIZE, EPERM, EHOSTUNREACH, …) and that were dropped. */
  readonly sendErrors: number;
  /** Datagrams received longer than a slot. */
  readonly truncated: number;
  /** ECONNREFUSED reported for earlier sends. */
  readonly refused: number;
  /** Datagrams that the kernel dropped at this socket, most often because its buffer was full (SO_MEMINFO); null if unknown. */
  readonly kernelDrops: number | null;
}

/**
 * A UDP socket for servers and clients.
 *
 * Receiving: the event loop calls `onBatch` when datagrams are there, until none is. A program that polls
 * calls `receive` itself.
 *
 * Sending: `queue…` puts a datagram into the send queue, `flush` hands the queue to the kernel; what was
 * queued and not flushed is flushed before the event loop waits. What the kernel does not take at once
 * (EAGAIN) stays queued, in order, and is retried.
 */
export interface UdpSocket {
  readonly backend: Backend;
  /** Why it is not `native`; null where it is. */
  readonly reason: string | null;
  /** The local address and port that the kernel gave. */
  readonly local: Endpoint;
  /** The connected peer, or null. */
  readonly remote: Endpoint | null;
  /** SO_RCVBUF as the kernel reports it (Linux: twice what may be asked for, capped by net.core.rmem_max), bytes. */
  readonly receiveBufferBytes: number;
  /** SO_SNDBUF as the kernel reports it, bytes. */
  readonly sendBufferBytes: number;
  readonly slotBytes: number;
  readonly counters: UdpSocketCounters;

  /**
   * Reads and handles what is there now, without waiting; at most `maxBatches` batches (default: until the
   * socket is empty). Returns the datagrams handled. With the dgram backend always 0: the event loop brings
   * datagrams there. Must not be called from within `onBatch`.
   */
  receive(maxBatches?: number): number;

  /**
   * A place of `slotBytes` bytes in `sendBytes` for the next datagram, as an offset; -1 when the send queue
   * is full (back-pressure: wait for `onDrain`, or flush). Valid until the next call of any method.
   */
  reserve(): number;
  /** The arena that `reserve` gives places in. */
  readonly sendBytes: Uint8Array;
  /** Queues the reserved place's first `length` bytes for the connected peer, or for `peer`. */
  commit(length: number, peer?: Peer): void;
  /** Copies and queues one datagram; false when the send queue is full or it is longer than a slot. */
  queue(datagram: Uint8Array, peer?: Peer): boolean;
  /** Hands the queue to the kernel; returns the datagrams it took. Does not wait. */
  flush(): number;
  /** Datagrams queued and not yet taken by the kernel. */
  readonly pending: number;

  /** Resolves an address and port to a peer of this socket. Address literals only: no name is looked up. */
  peerOf(address: string, port: number): Peer;
  /** Keep the process alive while the socket is open (default), or not. */
  ref(): void;
  unref(): void;
  /**
   * Handles what the kernel has already received, sends what is queued as far as the kernel takes it, and
   * closes. Safe to call twice.
   */
  close(): Promise<void>;
}
