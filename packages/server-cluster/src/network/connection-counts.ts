/** Counts TCP connections, in total and per client address. */
import type { ConnectionTotals } from '../metrics/snapshot.ts';

export class ConnectionCounts {
  readonly #perClient: number;
  /** One entry per connected client. */
  readonly #byAddress = new Map<string, number>();
  #open = 0;
  #accepted = 0;
  #refused = 0;
  #timedOut = 0;

  constructor(perClient: number) {
    this.#perClient = perClient;
  }

  /** Counts a new connection. If the client has too many, counts it as refused and returns false. */
  add(address: string): boolean {
    const count = this.#byAddress.get(address) ?? 0;
    if (count >= this.#perClient) {
      this.#refused++;
      return false;
    }
    this.#byAddress.set(address, count + 1);
    this.#open++;
    this.#accepted++;
    return true;
  }

  remove(address: string): void {
    const count = this.#byAddress.get(address) ?? 0;
    if (count <= 1) this.#byAddress.delete(address);
    else this.#byAddress.set(address, count - 1);
    this.#open--;
  }

  refuse(): void {
    this.#refused++;
  }

  timeOut(): void {
    this.#timedOut++;
  }

  get totals(): ConnectionTotals {
    return { open: this.#open, accepted: this.#accepted, refused: this.#refused, timedOut: this.#timedOut };
  }
}
