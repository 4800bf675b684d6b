/**
 * One lane of DNS over TCP or TLS: one connection at a time, with pipelined queries (RFC 7766), reopened when it is
 * lost or has had its share of queries.
 */
import type { Socket } from 'node:net';
import { nowNs } from '../clock.ts';
import { type ConnectionCounts, type ConnectionLane, createRetry } from './connections.ts';
import type { Dialer } from './dial.ts';
import { laneFailureOf } from './failures.ts';
import { createFrameReader } from './framing.ts';
import type { StreamPool } from './stream-pool.ts';
import type { LaneFailure, StreamOptions, TransportHandler } from './transport.ts';

/** Bytes waiting in the process for the kernel to take them; beyond this a lane takes no more. */
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
  /** Queries sent on this connection, and those unanswered. */
  #sent = 0;
  #unanswered = 0;
  #receivedNs = 0;
  /** Since when answers are missing: the last one, or the first query after it. */
  #waitingSinceNs = 0;
  #buffer: Uint8Array;
  #used = 0;
  readonly #retry = createRetry();

  constructor(lane: number, shared: LaneShared) {
    this.#lane = lane;
    this.#shared = shared;
    this.#buffer = shared.pool.empty;
  }

  /** Opens a connection; rejects if that fails. */
  async open(): Promise<void> {
    const { dialer, pool, counts } = this.#shared;
    const reader = createFrameReader((bytes, offset, length) => this.#deliver(bytes, offset, length));
    const begun = nowNs();
    let own: Socket | undefined;
    const socket = await dialer.dial(this.#lane, {
      buffer: pool.readBuffer,
      callback: (count, bytes) => {
        // Data before the first query, or after the connection was given up, is not an answer.
        if (own === undefined || this.#socket !== own) return true;
        counts.bytesReceived += count;
        this.#receivedNs = nowNs();
        this.#waitingSinceNs = this.#receivedNs;
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
    // The server may close at any time (RFC 7766 §6.2.3); it will not answer what is still unanswered.
    socket.on('end', () => socket.destroy());
    socket.on('drain', () => this.#shared.handler.onReady());
    socket.on('close', () => this.#lost(socket, reason));
  }

  #deliver(bytes: Uint8Array, offset: number, length: number): void {
    if (this.#unanswered > 0) this.#unanswered -= 1;
    this.#shared.handler.onMessage(this.#lane, bytes, offset, length, this.#receivedNs, false);
  }

  /** The connection was not closed by us. */
  #lost(socket: Socket, error: Error | null): void {
    if (this.#socket !== socket || this.#closed) return;
    const hadUnanswered = this.#unanswered > 0;
    this.#drop();
    if (error !== null || hadUnanswered) this.fail(error === null ? 'closed' : laneFailureOf(error), error);
    // The server closing an idle connection is not a failure.
    else this.#reopen();
  }

  /** Counts a failure, reports it to the engine, and retries after a pause. */
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

  /** Drops the connection and anything queued to be sent on it. */
  #drop(): void {
    this.#socket = null;
    this.#used = 0;
    this.#unanswered = 0;
  }

  /** Closes a connection that has had all its queries answered and opens the next. */
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
   * Gives up a connection on which queries wait and nothing has come for longer than the timeout. Used up: a new one
   * replaces it, and its lost queries have been counted. Otherwise that is a failure.
   */
  checkStalled(now: number): void {
    const socket = this.#socket;
    if (socket === null || this.#unanswered === 0) return;
    if (now - this.#waitingSinceNs < this.#shared.timeoutSeconds * 1e9) return;
    if (this.#isUsedUp) {
      this.#renew();
      return;
    }
    this.#drop();
    socket.destroy();
    this.fail('timeout', null);
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
    if (this.#unanswered === 0) this.#waitingSinceNs = nowNs();
    this.#unanswered += 1;
  }

  flush(): void {
    const { pool, counts } = this.#shared;
    const buffer = this.#buffer;
    if (this.#used === 0 || this.#socket === null) return;
    counts.bytesSent += this.#used;
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
