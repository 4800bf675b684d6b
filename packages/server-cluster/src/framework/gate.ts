/**
 * Decides which queries the answer table may answer instead of the framework: those that would reach the store
 * with nothing else in the chain. All others take the full path, so that every logger, cache, router and handler
 * sees what it would see without the table.
 */
import { QueryReader } from '@dinodns-bench/wire';
import type { Handler } from 'dinodns/types/server.js';
import type { Log } from '../log/log.ts';
import { type Responder, TO_FRAMEWORK, type Transport } from '../table/responder.ts';
import { sampleNeededBy } from './observe.ts';
import { RouteGuard } from './route-guard.ts';

export interface GateOptions {
  /** The store's handler if it is middleware. Until it is registered, the table answers nothing. */
  readonly store?: Handler;
  /** Logs when something closes the gate. */
  readonly log?: Log;
}

/** A responder that may sample queries for observers. */
export interface GuardedResponder extends Responder {
  readonly gate: Gate;
}

export class Gate {
  readonly #store: Handler | undefined;
  readonly #log: Log | undefined;
  #isStoreReached: boolean;
  #isMissingStoreTold = false;
  #sample = 0;
  #closedBecause: string | null = null;
  readonly #routes = new RouteGuard();
  /** For callers that have not parsed the message themselves. */
  readonly #own = new QueryReader();
  /** The number drawn for the last query, if any. */
  #draw: number | undefined;

  constructor({ store, log }: GateOptions = {}) {
    this.#store = store;
    this.#log = log;
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

  /** Closes the gate: the framework answers everything from now on. */
  close(reason: string): void {
    if (this.#closedBecause !== null) return;
    this.#closedBecause = reason;
    this.#warn(reason);
  }

  #warn(reason: string): void {
    this.#log?.warn({ reason }, 'Every query goes through the framework: the answer table is not used');
  }

  /** Warns once if the store is not registered, because nothing would be faster. */
  #isStoreMissing(): boolean {
    if (this.#isStoreReached) return false;
    if (!this.#isMissingStoreTold)
      this.#warn('the handler of the store is not registered: server.use(store.handler)');
    this.#isMissingStoreTold = true;
    return true;
  }

  /** Why the framework answers everything; null while the table is in use. */
  get closedBecause(): string | null {
    return this.#closedBecause ?? (this.#isStoreReached ? null : 'the store is not registered');
  }

  /** The number that decides which observers see the last query, if the gate drew one. */
  get draw(): number | undefined {
    return this.#draw;
  }

  /** The responder behind this gate. */
  guard(responder: Responder): GuardedResponder {
    const answer = (
      bytes: Uint8Array,
      offset: number,
      length: number,
      capacity: number,
      transport: Transport,
      read?: QueryReader,
    ) => {
      this.#draw = undefined;
      if (this.#closedBecause !== null || this.#isStoreMissing()) return TO_FRAMEWORK;
      if (this.#sample > 0 && this.#isSampled()) return TO_FRAMEWORK;
      if (this.#routes.isEmpty) return responder.answer(bytes, offset, length, capacity, transport, read);
      if (read === undefined) this.#own.read(bytes, offset, length);
      const query = read ?? this.#own;
      if (this.#routes.mayMatch(bytes, offset, query)) return TO_FRAMEWORK;
      return responder.answer(bytes, offset, length, capacity, transport, query);
    };
    return { answer, gate: this };
  }

  #isSampled(): boolean {
    this.#draw = Math.random();
    return this.#draw < this.#sample;
  }
}
