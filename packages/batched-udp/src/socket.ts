/**
 * The interface of a batched UDP socket, for both backends: many datagrams per system call through libc's `recvmmsg`
 * and `sendmmsg`, or one at a time through `node:dgram`.
 *
 * Nothing here allocates per datagram: a batch is a view of the socket's arena, valid only until the
 * handler returns.
 */

/** `native`: recvmmsg(2) and sendmmsg(2). `dgram`: `node:dgram`, if those cannot be called. */
export type Backend = 'native' | 'dgram';

/**
 * Where a socket waits for datagrams: `kernel`, in a system call of its own that also waits for the event loop's
 * work; or `event-loop`, as Node.js waits for everything else.
 */
export type Waiting = 'kernel' | 'event-loop';

/** An address and port as text, for logs, configuration and slow paths. */
export interface Endpoint {
  /** IPv4 dotted or IPv6 text, with `%zone` if it is link-local. */
  readonly address: string;
  readonly family: 4 | 6;
  /** 0 to 65535. */
  readonly port: number;
}

/** The source of a datagram, kept for a reply after its batch is gone. Valid only for the socket it came from. */
export interface Peer extends Endpoint {
  /** The peer's `sockaddr` from the kernel; opaque. */
  readonly sockaddr: Uint8Array;
  /**
   * The local address that its datagram came to, and that replies leave from; opaque. Only of a native socket that is bound to a
   * wildcard address: elsewhere there is no choice.
   */
  readonly source?: Uint8Array;
}

/**
 * Received datagrams in place. The same object and arrays are used for every batch of a socket: read what you
 * need before the handler returns.
 */
export interface Batch {
  /** Datagrams in this batch, 1 to the socket's `batchSize`. Those with an index at or beyond it are stale. */
  readonly count: number;
  /** The arena with the datagrams; writable, since replies overwrite their queries. */
  readonly bytes: Uint8Array;
  /** Where datagram `i` starts in `bytes`. */
  readonly offsets: Uint32Array;
  /** Bytes received for datagram `i`, 0 to `slotBytes`; a datagram may be empty. */
  readonly lengths: Uint32Array;
  /** Size of each datagram's slot in `bytes`, from its offset: the maximum length of a reply in place. */
  readonly slotBytes: number;
  /** 1 if the datagram was longer than `slotBytes` and its end is lost (MSG_TRUNC), else 0. */
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
   * timestamp (SO_TIMESTAMPNS); NaN without `timestamps` or if the kernel gave none.
   */
  readonly ages: Float64Array;
  /** `performance.now()`, in ms, at the moment that `ages` count back from; NaN without `timestamps`. */
  readonly readAt: number;
  /** The source of datagram `i`, for a reply after the handler has returned. Allocates. */
  peer(i: number): Peer;
  /**
   * Sends `bytes[offsets[i], offsets[i] + length)` to where datagram `i` came from, when the handler returns,
   * with all other replies of the batch. At most one reply per datagram: a later call replaces an earlier one.
   */
  reply(i: number, length: number): void;
}

/**
 * Called for each batch, synchronously. Exceptions go to `onError`; the socket stays open.
 *
 * The result says what it has left to the event loop. A socket that waits in the kernel then does no more than needed before it reads
 * the next datagrams:
 * - `'nothing'`: no timer, no immediate, no I/O, nothing queued on a socket. The event loop is not even asked.
 * - `'known'`: nothing but what the event loop knows of: no promise, no `process.nextTick`, no unreferenced immediate. It runs if it has
 *   something to do.
 * - anything else, such as no result: it runs first.
 */
export type BatchHandler = (batch: Batch) => unknown;

export interface UdpSocketOptions {
  /** `auto` (default): native if it works, else dgram. `native` rejects if it does not work. */
  readonly backend?: Backend | 'auto';
  /**
   * Local address: IPv4 or IPv6 text. Default: the wildcard address of the peer's family, else `0.0.0.0`. With a wildcard
   * address, replies leave from the address that their datagram came to (IP_PKTINFO, IPV6_PKTINFO); with the dgram backend,
   * from the one that the kernel's route to the peer begins with.
   */
  readonly address?: string;
  /** Local port; 0 (default) lets the kernel choose. */
  readonly port?: number;
  /** Connects the socket: it sends to, and receives from, this peer only. */
  readonly connect?: { readonly address: string; readonly port: number };
  /** SO_REUSEPORT: several sockets, in this process or others, share the port; the kernel balances by flow. */
  readonly reusePort?: boolean;
  /**
   * With `reusePort`: spreads datagrams individually and at random over this many sockets of the port, instead of by
   * flow (SO_ATTACH_REUSEPORT_CBPF, Linux 4.5). It applies to all sockets of the port, so all should give the same
   * number: the number of sockets. If there are fewer, the missing ones' share is balanced by flow over the others;
   * sockets beyond the number get nothing. Native backend only; `dgram` balances by flow.
   */
  readonly spreadOver?: number;
  /** Requested SO_RCVBUF, bytes; default: the kernel's. The socket's `receiveBufferBytes` is the actual size. */
  readonly receiveBufferBytes?: number;
  /** Requested SO_SNDBUF, bytes; default: the kernel's. */
  readonly sendBufferBytes?: number;
  /** Maximum datagrams per system call, 1 to 1024; default 64. */
  readonly batchSize?: number;
  /** Maximum size of a received datagram and of a reply in place, bytes, 512 to 65535; default 4096. */
  readonly slotBytes?: number;
  /** Maximum datagrams waiting to be sent, 1 to 65536; default 1024. */
  readonly sendQueueLength?: number;
  /**
   * Pass runs of datagrams of equal length to the connected peer to the kernel as one message (UDP_SEGMENT): the same
   * datagrams for less than half the CPU time. A capture on this machine may show them as one. No effect for the dgram
   * backend, for other peers, or if the kernel or the device does not support it. Default false.
   */
  readonly segmentation?: boolean;
  /**
   * Never fragment outgoing datagrams, whatever path MTU an ICMP message claims (IP_MTU_DISCOVER with
   * IP_PMTUDISC_PROBE, IPV6_DONTFRAG), as RFC 9715 recommends for DNS: a datagram longer than the device's MTU is
   * refused (`counters.sendErrors`). Default false. No effect for the dgram backend.
   */
  readonly dontFragment?: boolean;
  /**
   * Under load, sleep this many microseconds (plus about 50 from the kernel's timers) before each further read, so
   * that a read finds many datagrams: fewer turns of the event loop and wake-ups of the peers, less CPU time, and up
   * to that much more latency. 0 to 1000; default 0: read at once. The thread sleeps at most 2 ms per turn, and not at
   * all if fewer than two datagrams arrive in that time. Native backend only.
   */
  readonly gatherMicroseconds?: number;
  /**
   * `kernel` (default): datagrams do not pass through the event loop, which saves CPU time. Timers, connections, signals, messages and promises run as before, at most a millisecond later. In the
   * event loop wait: sockets beyond 32 of a thread, and all where the runtime does not show its event loop; the socket's `waitsIn` tells. DINODNS_UDP_WAIT takes precedence. Native backend only.
   */
  readonly waitIn?: Waiting;
  /**
   * Before a wait in the kernel, check for datagrams for this long without giving up the CPU, in microseconds, 0 to
   * 1,000,000; default 0. An idle socket then uses a whole CPU for that long, and a datagram is read a few
   * microseconds after it has arrived instead of some tens. All sockets of a thread wait together: the longest time
   * counts.
   */
  readonly busyPollMicroseconds?: number;
  /** Have the kernel timestamp each datagram (`ages`). Default false. */
  readonly timestamps?: boolean;
  /** Receives the batches. Datagrams wait in the kernel until the open call has resolved. */
  readonly onBatch: BatchHandler;
  /**
   * Errors that leave the socket open: an exception in the handler, and the kernel's errors from earlier sends
   * (ECONNREFUSED on a connected socket). Default: thrown as an uncaught exception, except ECONNREFUSED, which is
   * only counted.
   */
  readonly onError?: (error: Error) => void;
  /** The send queue was full and has room again. */
  readonly onDrain?: () => void;
}

/** Counts since the socket was opened. */
export interface UdpSocketCounters {
  readonly received: number;
  readonly receiveCalls: number;
  readonly sent: number;
  readonly sendCalls: number;
  /**
   * Datagrams dropped because the kernel refused them permanently (EMSGSIZE, EPERM, EHOSTUNREACH, …), and replies in place for which
   * the dgram backend's send queue had no room.
   */
  readonly sendErrors: number;
  /** Received datagrams longer than a slot. */
  readonly truncated: number;
  /** ECONNREFUSED reported for earlier sends. */
  readonly refused: number;
  /** Datagrams that the kernel dropped at this socket, most often because its buffer was full (SO_MEMINFO); null if unknown. */
  readonly kernelDrops: number | null;
}

/**
 * A UDP socket for servers and clients.
 *
 * Receiving: the event loop calls `onBatch` until no datagrams are left. A program that polls calls `receive`
 * itself.
 *
 * Sending: `queue` and `commit` put a datagram into the send queue, `flush` passes the queue to the kernel; anything
 * not flushed is flushed before the event loop waits. What the kernel does not accept at once (EAGAIN) stays queued,
 * in order, and is retried.
 */
export interface UdpSocket {
  readonly backend: Backend;
  /** Why it is not `native`; null if it is. */
  readonly reason: string | null;
  /** Where it waits for datagrams. */
  readonly waitsIn: Waiting;
  /** The local address and port that the kernel assigned. */
  readonly local: Endpoint;
  /** The connected peer, or null. */
  readonly remote: Endpoint | null;
  /** SO_RCVBUF as the kernel reports it (Linux: twice the requested size, which net.core.rmem_max caps), bytes. */
  readonly receiveBufferBytes: number;
  /** SO_SNDBUF as the kernel reports it, bytes. */
  readonly sendBufferBytes: number;
  readonly slotBytes: number;
  readonly counters: UdpSocketCounters;

  /**
   * Reads and handles what is available, without waiting; at most `maxBatches` batches (default: until the socket is
   * empty). Returns the number of datagrams handled. With the dgram backend always 0: there the event loop delivers
   * datagrams. Must not be called from within `onBatch`.
   */
  receive(maxBatches?: number): number;

  /**
   * Reserves `slotBytes` bytes in `sendBytes` for the next datagram and returns the offset; -1 if the send queue is
   * full (back-pressure: wait for `onDrain`, or flush). Valid until the next call of any method.
   */
  reserve(): number;
  /** The arena that `reserve`'s offsets refer to. */
  readonly sendBytes: Uint8Array;
  /** Queues the first `length` reserved bytes for the connected peer, or for `peer`. */
  commit(length: number, peer?: Peer): void;
  /** Copies and queues one datagram; false if the send queue is full or it is longer than a slot. */
  queue(datagram: Uint8Array, peer?: Peer): boolean;
  /** Passes the queue to the kernel; returns the number of datagrams it accepted. Does not wait. */
  flush(): number;
  /** Datagrams queued and not yet accepted by the kernel. */
  readonly pending: number;

  /** Converts an address and port to a peer of this socket. Address literals only: names are not looked up. */
  peerOf(address: string, port: number): Peer;
  /**
   * Handles what the kernel has already received, sends what is queued as far as the kernel accepts it, and closes.
   * Safe to call twice.
   */
  close(): Promise<void>;
}
