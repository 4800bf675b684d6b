/**
 * One lane of DNS over TCP or TLS: a connection at a time, queries pipelined on it (RFC 7766), opened again when
 * it is lost or has had its share of queries.
 */
import type { Socket } from 'node:net';
import { nowNs } from '../clock.ts';
import { type ConnectionCounts, type ConnectionLane, createRetry } from './connections.ts';
import type { Dialer } from './dial.ts';
import { laneFailureOf } from './failures.ts';
import { createFrameReader } from './framing.ts';
import type { StreamPool } from './stream-pool.ts';
import type { LaneFailure, StreamOptions, TransportHandler } from './transport.ts';

/** Bytes that wait in the process for the kernel to take them, beyond which a lane takes no more. */
const MAX_WAITING_BYTES = 256 * 1024;

export interface LaneShared {
  readonly dialer: Dialer;
  readonly pool: StreamPool;
  readonly stream: StreamOptions;
  readonly timeoutSeconds: number;
  readonly handler: TransportHandler;
  readonly counts: ConnectionCounts;
}

export class StreamLane implements ConnectionLane {
  readonly #lane: number;
  readonly #shared: LaneShared;
  #socket: Socket | null = null;
  #closed = false;
  /** Sent on this connection, and not answered on it. */
  #sent = 0;
  #unanswered = 0;
  #lastActivityNs = 0;
  #buffer: Uint8Array;
  #used = 0;
  readonly #retry = createRetry();

  constructor(lane: number, shared: LaneShared) {
    this.#lane = lane;
    this.#shared = shared;
    this.#buffer = shared.pool.empty;
  }

  /** Opens a connection; rejects where that fails. */
  async open(): Promise<void> {
    const { dialer, pool, counts } = this.#shared;
    const reader = createFrameReader((bytes, offset, length) => this.#deliver(bytes, offset, length));
    const begun = nowNs();
    let own: Socket | undefined;
    const socket = await dialer.dial(this.#lane, {
      buffer: pool.readBuffer,
      callback: (count, bytes) => {
        // What comes before anything was asked, or after the connection was given up, is no answer.
        if (own === undefined || this.#socket !== own) return true;
        counts.bytesReceived += count;
        this.#lastActivityNs = nowNs();
        reader.push(bytes, count);
        this.#renewIfUsedUp();
        return true;
      },
    });
    if (this.#closed) {
      socket.destroy();
      return;
    }
    counts.connectNs.push(nowNs() - begun);
    counts.connections += 1;
    own = socket;
    this.#socket = socket;
    this.#sent = 0;
    this.#unanswered = 0;
    this.#retry.reset();
    let reason: Error | null = null;
    socket.on('error', (error: Error) => {
      reason = error;
    });
    // The server closes in its own time (RFC 7766 §6.2.3); what it has not answered by then it will not answer.
    socket.on('end', () => socket.destroy());
    socket.on('drain', () => this.#shared.handler.onReady());
    socket.on('close', () => this.#lost(socket, reason));
  }

  #deliver(bytes: Uint8Array, offset: number, length: number): void {
    if (this.#unanswered > 0) this.#unanswered -= 1;
    this.#shared.handler.onMessage(this.#lane, bytes, offset, length, this.#lastActivityNs, false);
  }

  /** The connection ended by itself. */
  #lost(socket: Socket, error: Error | null): void {
    if (this.#socket !== socket || this.#closed) return;
    const hadUnanswered = this.#unanswered > 0;
    this.#drop();
    if (error !== null || hadUnanswered) this.fail(error === null ? 'closed' : laneFailureOf(error), error);
    // An idle connection that the server has closed is no failure.
    else this.#reopen();
  }

  /** Counts a failure, tells the engine, and tries again after a pause. */
  fail(failure: LaneFailure, error: Error | null): void {
    this.#shared.counts.connectionFailures += 1;
    this.#shared.handler.onLaneFailure(this.#lane, failure, error);
    if (!this.#closed) this.#retry.later(() => this.#reopen());
  }

  #reopen(): void {
    this.open().then(
      () => this.#shared.handler.onReady(),
      (error: Error) => {
        if (!this.#closed) this.fail(laneFailureOf(error), error);
      },
    );
  }

  /** Forgets the connection and what waits to be sent on it. */
  #drop(): void {
    this.#socket = null;
    this.#used = 0;
    this.#unanswered = 0;
  }

  /** A connection that has had its queries, all of them answered, makes room for the next. */
  #renewIfUsedUp(): void {
    const { queriesPerConnection } = this.#shared.stream;
    if (queriesPerConnection === null || this.#sent < queriesPerConnection || this.#unanswered > 0) return;
    this.#renew();
  }

  #renew(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#drop();
    socket.destroySoon();
    this.#reopen();
  }

  get #isUsedUp(): boolean {
    const { queriesPerConnection } = this.#shared.stream;
    return queriesPerConnection !== null && this.#sent >= queriesPerConnection;
  }

  get #isFull(): boolean {
    const { pipelining } = this.#shared.stream;
    return pipelining !== null && this.#unanswered >= pipelining;
  }

  get isReady(): boolean {
    const socket = this.#socket;
    if (socket === null || this.#isUsedUp || this.#isFull) return false;
    return socket.writableLength < MAX_WAITING_BYTES;
  }

  /**
   * A connection on which nothing more can be sent because answers are missing is given up after the timeout.
   * Used up: a new one takes its place, what is lost has been counted as lost. Full: it is a failure.
   */
  checkStalled(now: number): void {
    if (this.#socket === null || now - this.#lastActivityNs < this.#shared.timeoutSeconds * 1e9) return;
    if (this.#isUsedUp) this.#renew();
    else if (this.#isFull) {
      const socket = this.#socket;
      this.#drop();
      socket.destroy();
      this.fail('timeout', null);
    }
  }

  reserve(length: number): number {
    if (!this.isReady) return -1;
    if (this.#used + 2 + length > this.#buffer.length) {
      this.flush();
      this.#buffer = this.#shared.pool.take(length + 2);
    }
    return this.#used + 2;
  }

  get sendBytes(): Uint8Array {
    return this.#buffer;
  }

  commit(length: number): void {
    this.#buffer[this.#used] = length >> 8;
    this.#buffer[this.#used + 1] = length & 0xff;
    this.#used += 2 + length;
    this.#sent += 1;
    this.#unanswered += 1;
  }

  flush(): void {
    const { pool, counts } = this.#shared;
    const buffer = this.#buffer;
    if (this.#used === 0 || this.#socket === null) return;
    counts.bytesSent += this.#used;
    this.#lastActivityNs = nowNs();
    this.#socket.write(buffer.subarray(0, this.#used), () => pool.give(buffer));
    this.#used = 0;
    this.#buffer = pool.empty;
  }

  close(): void {
    this.#closed = true;
    this.#retry.cancel();
    this.#socket?.destroy();
    this.#drop();
  }
}
