/** Queries to send as soon as a lane has room: a lookup's next ones, and TC=1 retries over TCP. A growing ring. */

const FIELDS = 4;

export class SendQueue {
  #capacity = 64;
  #ring = new Float64Array(FIELDS * this.#capacity);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /**
   * @param lookup Slot of its lookup, or −1.
   * @param start When latency began, ns; NaN: when it is sent.
   * @param queued When it was queued, ns.
   */
  push(message: number, lookup: number, start: number, queued: number): void {
    if (this.#length === this.#capacity) this.#grow();
    const at = FIELDS * ((this.#head + this.#length) % this.#capacity);
    this.#ring[at] = message;
    this.#ring[at + 1] = lookup;
    this.#ring[at + 2] = start;
    this.#ring[at + 3] = queued;
    this.#length += 1;
  }

  /** Fields of the first entry; meaningless when empty. */
  get message(): number {
    return this.#ring[FIELDS * this.#head] ?? 0;
  }

  get lookup(): number {
    return this.#ring[FIELDS * this.#head + 1] ?? 0;
  }

  get start(): number {
    return this.#ring[FIELDS * this.#head + 2] ?? 0;
  }

  get queued(): number {
    return this.#ring[FIELDS * this.#head + 3] ?? 0;
  }

  /** Removes the first entry. */
  shift(): void {
    this.#head = (this.#head + 1) % this.#capacity;
    this.#length -= 1;
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#ring.length);
    const first = this.#ring.subarray(FIELDS * this.#head);
    larger.set(first);
    larger.set(this.#ring.subarray(0, FIELDS * this.#head), first.length);
    this.#ring = larger;
    this.#head = 0;
    this.#capacity *= 2;
  }
}
