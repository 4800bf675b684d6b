/**
 * The framework's router with its faults mended: names are compared without regard to case, a pattern's
 * characters mean themselves, and an asynchronous handler that fails ends in SERVFAIL instead of ending the
 * process. Middleware and handlers run in the same order as in the framework.
 */
import type { Router } from 'dinodns/common/router/router.js';
import type { Handler, NextFunction } from 'dinodns/types/server.js';
import type { Gate } from './gate.ts';

interface Route {
  readonly domain: string;
  readonly source: string;
  readonly pattern: RegExp;
  readonly handlers: Handler[];
}

/** `*` matches any number of labels, as in the framework; what follows a `/` is ignored, as there. */
function patternOf(domain: string): RegExp {
  const [name = ''] = domain.toLowerCase().split('/');
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, (character) =>
    character === '*' ? '.*' : `\\${character}`,
  );
  return new RegExp(`^${escaped}$`);
}

export class CaseInsensitiveRouter implements Router {
  readonly #gates: Gate[] = [];
  readonly #middleware: Handler[] = [];
  readonly #routes: Route[] = [];
  /** The chain of a name without routes of its own: one for all, because it does not depend on the name. */
  #middlewareChain: Handler = chain([]);

  /** `gate` is told of everything that is registered. */
  constructor(gate?: Gate) {
    if (gate !== undefined) this.tell(gate);
  }

  /** From now on this gate is told too, also of what is registered already. */
  tell(gate: Gate): void {
    this.#gates.push(gate);
    for (const handler of this.#middleware) gate.addMiddleware(handler);
    for (const { domain } of this.#routes) gate.addRoute(domain);
  }

  use(handler: Handler): void {
    for (const gate of this.#gates) gate.addMiddleware(handler);
    this.#middleware.push(handler);
    this.#middlewareChain = chain([...this.#middleware]);
  }

  handle(domain: string, handler: Handler): void {
    for (const gate of this.#gates) gate.addRoute(domain);
    const pattern = patternOf(domain);
    const existing = this.#routes.find(({ source }) => source === pattern.source);
    if (existing) existing.handlers.push(handler);
    else this.#routes.push({ domain, source: pattern.source, pattern, handlers: [handler] });
  }

  match(domain: string): Handler {
    if (this.#routes.length === 0) return this.#middlewareChain;
    const name = domain.toLowerCase();
    const handlers = this.#routes
      .filter(({ pattern }) => pattern.test(name))
      .flatMap((route) => route.handlers);
    return handlers.length === 0 ? this.#middlewareChain : chain([...this.#middleware, ...handlers]);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Runs the handlers one after the other; each decides by calling `next` whether the following one runs. */
function chain(handlers: readonly Handler[]): Handler {
  if (handlers.length === 0) return (_request, _response, next) => next();
  return (request, response, next) => {
    let index = 0;
    let failure: Error | undefined;
    const advance: NextFunction = (error) => {
      failure ??= error;
      const handler = handlers[index++];
      if (handler === undefined) {
        // A name whose handler failed is not a name that does not exist.
        if (failure !== undefined && !response.finished) response.errors.serverFailure();
        next(failure);
        return;
      }
      try {
        const result: unknown = handler(request, response, advance);
        if (result instanceof Promise) result.catch((thrown: unknown) => advance(toError(thrown)));
      } catch (thrown) {
        advance(toError(thrown));
      }
    };
    advance();
  };
}
