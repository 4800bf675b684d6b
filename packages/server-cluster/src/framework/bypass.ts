/**
 * Decides which queries the answer table may answer instead of the framework: those that would reach the store
 * with nothing else in the chain. All others take the full path, so that every logger, cache, router and handler
 * sees what it would see without the table.
 */
import type { QueryReader } from '@dinodns-bench/wire';
import type { Handler } from 'dinodns/types/server.js';
import type { Log } from '../log/log.ts';
import { sampleNeededBy } from './observe.ts';
import { RouteGuard } from './route-guard.ts';

export class Bypass {
  readonly #store: Handler | undefined;
  readonly #log: Log;
  #isStoreReached: boolean;
  #isMissingStoreTold = false;
  #sample = 0;
  #isClosed = false;
  readonly #routes = new RouteGuard();
  /** The number that decides which observers see the last query, if one was drawn. */
  draw: number | undefined;

  /** `store` is the store's handler if it is middleware: until it is registered, the table answers nothing. */
  constructor(log: Log, store?: Handler) {
    this.#log = log;
    this.#store = store;
    this.#isStoreReached = store === undefined;
  }

  addMiddleware(handler: Handler): void {
    if (handler === this.#store) {
      this.#isStoreReached = true;
      return;
    }
    const sample = sampleNeededBy(handler);
    if (sample >= 1) this.close('a middleware sees every query');
    else this.#sample = Math.max(this.#sample, sample);
  }

  /** Called when a handler for a name or pattern is registered. */
  addRoute(domain: string): void {
    this.#routes.add(domain);
  }

  /** Closes the bypass: the framework answers everything from now on. */
  close(reason: string): void {
    if (!this.#isClosed) this.#warn(reason);
    this.#isClosed = true;
  }

  #warn(reason: string): void {
    this.#log.warn({ reason }, 'Every query goes through the framework: the answer table is not used');
  }

  /** Warns once if the store is not registered, because nothing would be faster. */
  #isStoreMissing(): boolean {
    if (this.#isStoreReached) return false;
    if (!this.#isMissingStoreTold)
      this.#warn('the handler of the store is not registered: server.use(store.handler)');
    this.#isMissingStoreTold = true;
    return true;
  }

  /** Whether nothing in the framework has to see the query that `query` has parsed at `offset`. */
  allows(bytes: Uint8Array, offset: number, query: QueryReader): boolean {
    this.draw = undefined;
    if (this.#isClosed || this.#isStoreMissing()) return false;
    if (this.#sample > 0 && this.#isSampled()) return false;
    return this.#routes.isEmpty || !this.#routes.mayMatch(bytes, offset, query);
  }

  #isSampled(): boolean {
    this.draw = Math.random();
    return this.draw < this.#sample;
  }
}
