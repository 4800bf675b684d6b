/**
 * One TCP client (RFC 7766). Messages with a two-byte length field arrive in arbitrary chunks, may be pipelined,
 * and are answered as soon as each answer is ready. Memory is bounded: we keep at most one incomplete query, and
 * stop reading while the client does not read its answers or too many of its queries are pending.
 */
import type { Socket } from 'node:net';
import type { Admission } from './stream-listener.ts';
import type { RobustTcpNetwork } from './tcp.ts';

/** The longest query that we read. A question has at most 271 bytes; padding (RFC 7830) adds a few hundred. */
export const MAX_QUERY_BYTES = 4096;
/** Queries of one connection that handlers may work on at the same time. */
export const MAX_PENDING_QUERIES = 128;

/** The length before each message (RFC 1035, section 4.2.2). */
export const LENGTH_BYTES = 2;
const NOTHING = Buffer.alloc(0);

export class TcpConnection {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #admission: Admission;
  readonly #owner: RobustTcpNetwork;
  #rest: Buffer = NOTHING;
  #pending = 0;
  #clientEnded = false;
  #stopped = false;
  #hungUp = false;
  /** Set while queries are handed over, so that an immediate answer does not re-enter the loop. */
  #handingOver = false;

  constructor(socket: Socket, admission: Admission, owner: RobustTcpNetwork) {
    this.socket = socket;
    this.#admission = admission;
    this.#owner = owner;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.remotePort = socket.remotePort ?? 0;
    socket.setNoDelay(true);
    const guarded = <A extends unknown[]>(action: (...values: A) => void) =>
      owner.barrier.around(action, () => socket.destroy());
    const read = guarded((chunk: Buffer) => this.#read(chunk));
    const proceed = guarded(() => this.#continue());
    // A client that has sent its last query may still be waiting for answers (RFC 7766, section 6.2.4).
    const end = guarded(() => {
      this.#clientEnded = true;
      this.#endIfDone();
    });
    socket.on('data', read).on('drain', proceed).on('end', end);
    // A client may reset the connection; `close` follows.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => owner.onClosed(this));
  }

  /** It is not idle. */
  touch(): void {
    this.#admission.lastQueryAt = performance.now();
  }

  get pending(): number {
    return this.#pending;
  }

  /** Bytes of queries and answers buffered for this connection. */
  get bufferedBytes(): number {
    return this.#rest.length + this.socket.writableLength;
  }

  /** Sends a message that includes its length field. */
  send(framed: Buffer): void {
    this.#pending--;
    if (!this.socket.writable) return;
    const hadRoom = !this.socket.writableNeedDrain;
    if (!this.socket.write(framed) && hadRoom) this.#owner.onBacklog();
    this.#afterAnswer();
  }

  /** Call this for a query that gets no answer. */
  skip(): void {
    this.#pending--;
    this.#afterAnswer();
  }

  /** Stops reading, and closes once all queries read so far are answered. */
  stop(): void {
    this.#stopped = true;
    this.socket.pause();
    this.#endIfDone();
  }

  /**
   * Closes as `stop` does, without waiting for the client to close as well: it has sent what cannot be answered. Its earlier queries
   * still are.
   */
  hangUp(): void {
    this.#hungUp = true;
    this.stop();
  }

  #afterAnswer(): void {
    if (this.#stopped) this.#endIfDone();
    // A client that has sent its last query may have sent more than are worked on at once.
    else if (this.#clientEnded || this.socket.isPaused()) this.#continue();
  }

  #endIfDone(): void {
    if (this.#pending > 0 || !this.#isDone()) return;
    this.socket.end(this.#hungUp ? () => this.socket.destroy() : undefined);
  }

  #isDone(): boolean {
    return this.#stopped || (this.#clientEnded && !this.#hasQuery());
  }

  #isOverloaded(): boolean {
    return this.socket.writableNeedDrain || this.#pending >= MAX_PENDING_QUERIES;
  }

  #hasQuery(): boolean {
    return (
      this.#rest.length >= LENGTH_BYTES && this.#rest.length >= LENGTH_BYTES + this.#rest.readUInt16BE(0)
    );
  }

  /** Handles the buffered queries first, then reads new ones. */
  #continue(): void {
    if (this.#handingOver || this.#stopped || this.#isOverloaded()) return;
    this.#handOver();
    if (!this.#isOverloaded() && !this.#stopped) this.socket.resume();
    if (this.#clientEnded) this.#endIfDone();
  }

  #read(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#handOver();
  }

  #handOver(): void {
    this.#handingOver = true;
    // Immediate answers leave in one system call.
    this.socket.cork();
    this.#handOverAll();
    this.socket.uncork();
    this.#handingOver = false;
  }

  #handOverAll(): void {
    while (this.#rest.length >= LENGTH_BYTES && !this.socket.destroyed && !this.#stopped) {
      const length = this.#rest.readUInt16BE(0);
      if (length > MAX_QUERY_BYTES) {
        this.hangUp();
        return;
      }
      if (this.#rest.length < LENGTH_BYTES + length) break;
      if (this.#isOverloaded()) {
        this.socket.pause();
        return;
      }
      const message = this.#rest.subarray(LENGTH_BYTES, LENGTH_BYTES + length);
      this.#rest = this.#rest.subarray(LENGTH_BYTES + length);
      this.touch();
      this.#pending++;
      this.#owner.onQuery(message, this);
    }
    // A small remainder must not keep the whole chunk in memory.
    this.#rest = this.#rest.length === 0 ? NOTHING : Buffer.from(this.#rest);
  }
}
