/** A transport without a kernel: every query comes back as an answer, which leaves only the engine's own cost. */
import {
  NO_FACTS,
  NO_LOSSES,
  type Transport,
  type TransportHandler,
} from '../../packages/load/src/transport/transport.ts';

const SLOTS = 256;
const SLOT_BYTES = 512;
const QR = 0x80;

export class Loopback implements Transport {
  readonly kind = 'udp';
  readonly lanes = 1;
  readonly polled = true;
  readonly facts = NO_FACTS;
  readonly losses = NO_LOSSES;
  readonly #handler: TransportHandler;
  readonly #bytes = new Uint8Array(SLOTS * SLOT_BYTES);
  readonly #lengths = new Uint16Array(SLOTS);
  #queued = 0;
  #flushed = 0;

  constructor(handler: TransportHandler) {
    this.#handler = handler;
  }

  ready(): boolean {
    return this.#queued < SLOTS;
  }

  reserve(): number {
    return this.#queued * SLOT_BYTES;
  }

  sendBytes(): Uint8Array {
    return this.#bytes;
  }

  commit(_lane: number, length: number): void {
    this.#lengths[this.#queued] = length;
    this.#queued += 1;
  }

  flush(): void {
    this.#flushed = this.#queued;
  }

  /** Answers everything that was sent. */
  poll(): number {
    const count = this.#flushed;
    const now = performance.now() * 1e6;
    for (let i = 0; i < count; i++) {
      const at = i * SLOT_BYTES;
      this.#bytes[at + 2] = (this.#bytes[at + 2] ?? 0) | QR;
      this.#handler.onMessage(0, this.#bytes, at, this.#lengths[i] ?? 0, now, false);
    }
    this.#queued = 0;
    this.#flushed = 0;
    return count;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
