/** Writing an answer of any length in pieces, no faster than the client reads. */
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Piece } from '../kubernetes/encoding.ts';

/** Large enough that the calls cost little, small enough to be in memory for every client. */
const CHUNK_BYTES = 64 * 1024;

/** The client has gone, or the server is closing: no more output. */
export class ClientGone extends Error {}

/** Room for what is added beyond a full chunk; most objects are smaller. */
const SLACK_BYTES = 16 * 1024;

export class ChunkedOutput {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  /** Used again for every chunk, once the system has taken it: garbage would be most of this program's memory. */
  #chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES + SLACK_BYTES);
  #size = 0;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  /** Copies; writes once there is enough, and waits for the client then. @throws ClientGone */
  async add(piece: Piece): Promise<void> {
    const size = typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
    if (this.#size + size > this.#chunk.length) this.#grow(this.#size + size);
    if (typeof piece === 'string') this.#chunk.write(piece, this.#size);
    else this.#chunk.set(piece, this.#size);
    this.#size += size;
    if (this.#size >= CHUNK_BYTES) await this.flush();
  }

  /** Writes what was collected, and waits until the system has it. @throws ClientGone */
  async flush(): Promise<void> {
    if (this.#signal.aborted) throw new ClientGone();
    if (this.#size === 0) return;
    const whole = this.#chunk.subarray(0, this.#size);
    this.#size = 0;
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => reject(new ClientGone());
      this.#signal.addEventListener('abort', onAbort, { once: true });
      this.#response.write(whole, (error) => {
        this.#signal.removeEventListener('abort', onAbort);
        if (error instanceof Error) reject(new ClientGone());
        else resolve();
      });
    });
    // A client that reads fast completes every write at once: without a pause, nobody else would be answered meanwhile.
    await setImmediate();
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * size);
    this.#chunk.copy(larger, 0, 0, this.#size);
    this.#chunk = larger;
  }
}
