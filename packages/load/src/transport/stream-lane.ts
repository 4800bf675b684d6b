/** One lane of DNS over TCP or TLS: pipelined queries (RFC 7766). */
import type { Socket } from 'node:net';
import { createFrameReader } from '@dinodns-bench/wire';
import { nowNs } from '../clock.ts';
import { Lane, type LaneShared } from './lane.ts';

/** Bytes waiting in the process for the kernel to take them; beyond this a lane takes no more. */
const MAX_WAITING_BYTES = 256 * 1024;

/** About 400 queries: larger writes gain nothing. */
const WRITE_BYTES = 16 * 1024;
const READ_BYTES = 64 * 1024;
/** Maximum spare buffers kept. */
const MAX_SPARE = 64;

/**
 * Buffers that all lanes of a transport share: one to read into, since data is handled before the next read, and a
 * pool to write from, since the kernel may take written data later.
 */
export class StreamPool {
  readonly readBuffer = new Uint8Array(READ_BYTES);
  /** A lane's buffer while it has nothing to send. */
  readonly empty = new Uint8Array(0);
  readonly #spare: Uint8Array[] = [];

  /** A buffer of at least `length` bytes. */
  take(length: number): Uint8Array {
    return length > WRITE_BYTES ? new Uint8Array(length) : (this.#spare.pop() ?? new Uint8Array(WRITE_BYTES));
  }

  /** Returns a buffer from `take` to the pool. */
  give(buffer: Uint8Array): void {
    if (buffer.length === WRITE_BYTES && this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
  }
}

export class StreamLane extends Lane<Socket> {
  readonly #pool: StreamPool;
  #receivedNs = 0;
  /** Since when answers are missing: the last one, or the first query after it. */
  #waitingSinceNs = 0;
  #buffer: Uint8Array;
  #used = 0;

  constructor(lane: number, shared: LaneShared, pool: StreamPool) {
    super(lane, shared);
    this.#pool = pool;
    this.#buffer = pool.empty;
  }

  protected override async connect(): Promise<Socket> {
    const { dial, handler } = this.shared;
    const reader = createFrameReader((bytes, offset, length) => this.#deliver(bytes, offset, length));
    let own: Socket | undefined;
    const socket = await dial(this.lane, {
      buffer: this.#pool.readBuffer,
      callback: (count, bytes) => {
        // Data before the first query, or after the connection was given up, is not an answer.
        if (own === undefined || this.connection !== own) return true;
        this.#receivedNs = nowNs();
        this.#waitingSinceNs = this.#receivedNs;
        this.hear();
        reader.push(bytes, count);
        this.renewIfUsedUp();
        return true;
      },
    });
    own = socket;
    // The server may close at any time (RFC 7766 §6.2.3); it will not answer what is still unanswered.
    socket.on('end', () => socket.destroy());
    socket.on('drain', () => handler.onReady());
    return socket;
  }

  #deliver(bytes: Uint8Array, offset: number, length: number): void {
    if (this.unanswered > 0) this.unanswered -= 1;
    this.shared.handler.onMessage(this.lane, bytes, offset, length, this.#receivedNs, false);
  }

  protected override finish(socket: Socket): void {
    socket.destroySoon();
  }

  protected override dropQueue(): void {
    this.#used = 0;
  }

  get isReady(): boolean {
    const socket = this.connection;
    const { pipelining } = this.shared.stream;
    if (socket === null || this.isUsedUp || (pipelining !== null && this.unanswered >= pipelining))
      return false;
    return socket.writableLength < MAX_WAITING_BYTES;
  }

  /**
   * Gives up a connection on which queries wait and nothing has come for longer than the timeout. Used up: a new one
   * replaces it, and its lost queries have been counted. Otherwise that is a failure.
   */
  checkStalled(now: number): void {
    const socket = this.connection;
    if (socket === null || this.unanswered === 0) return;
    if (now - this.#waitingSinceNs < this.shared.timeoutSeconds * 1e9) return;
    if (this.isUsedUp) {
      this.renew();
      return;
    }
    this.drop();
    socket.destroy();
    this.fail('timeout', null);
  }

  reserve(length: number): number {
    if (!this.isReady) return -1;
    if (this.#used + 2 + length > this.#buffer.length) {
      this.flush();
      this.#buffer = this.#pool.take(length + 2);
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
    this.sent += 1;
    if (this.unanswered === 0) this.#waitingSinceNs = nowNs();
    this.unanswered += 1;
  }

  flush(): void {
    const pool = this.#pool;
    const buffer = this.#buffer;
    if (this.#used === 0 || this.connection === null) return;
    this.connection.write(buffer.subarray(0, this.#used), () => pool.give(buffer));
    this.#used = 0;
    this.#buffer = pool.empty;
  }
}
