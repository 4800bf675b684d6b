/** Slots of the lookups in flight, and when each started. */
import type { Lookups } from '../workload/workload.ts';

const FIRST_CAPACITY = 256;

export class LookupTimes {
  readonly #lookups: Lookups;
  readonly #free: number[] = [];
  #starts = new Float64Array(0);

  constructor(lookups: Lookups) {
    this.#lookups = lookups;
    this.#grow(FIRST_CAPACITY);
  }

  /** A free slot for a lookup that started at `startNs`. */
  begin(startNs: number): number {
    const slot = this.#free.pop();
    if (slot === undefined) {
      this.#grow(2 * this.#starts.length);
      return this.begin(startNs);
    }
    this.#starts[slot] = startNs;
    return slot;
  }

  startOf(slot: number): number {
    return this.#starts[slot] ?? 0;
  }

  end(slot: number): void {
    this.#free.push(slot);
  }

  #grow(capacity: number): void {
    const starts = new Float64Array(capacity);
    starts.set(this.#starts);
    for (let slot = capacity - 1; slot >= this.#starts.length; slot--) this.#free.push(slot);
    this.#starts = starts;
    this.#lookups.reserve(capacity);
  }
}
