/** Writing an answer of any length in pieces, no faster than the client reads. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Large enough that the calls cost little, small enough to be in memory for every client. */
const CHUNK_BYTES = 64 * 1024;

/** The client has gone, or the server is closing: no more output. */
export class ClientGone extends Error {}

export class ChunkedOutput {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(response: ServerResponse, signal: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
  }

  /** Collects; writes once there is enough, and waits for the client then. @throws ClientGone */
  async add(piece: Buffer): Promise<void> {
    this.#parts.push(piece);
    this.#size += piece.length;
    if (this.#size >= CHUNK_BYTES) await this.flush();
  }

  /** Writes what was collected. @throws ClientGone */
  async flush(): Promise<void> {
    if (this.#signal.aborted) throw new ClientGone();
    if (this.#size === 0) return;
    const whole = Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    this.#size = 0;
    if (this.#response.write(whole)) return;
    await once(this.#response, 'drain', { signal: this.#signal }).catch(() => {
      throw new ClientGone();
    });
  }
}
