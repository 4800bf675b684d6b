/**
 * Looks for idle connections a few times per idle time, while there are connections. A server without any then has no
 * timer, which would bound, and make dearer, each of its waits for datagrams.
 */

/** A connection lives at most a tenth longer than it may idle. */
const LOOKS_PER_IDLE_TIME = 10;

export class IdleSweep {
  readonly #periodMs: number;
  readonly #sweep: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(idleSeconds: number, sweep: () => void) {
    this.#periodMs = (idleSeconds * 1000) / LOOKS_PER_IDLE_TIME;
    this.#sweep = sweep;
  }

  /** There is a connection. Does not keep the process alive. */
  start(): void {
    this.#timer ??= setInterval(this.#sweep, this.#periodMs).unref();
  }

  /** There is none any more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
