/**
 * The framework's router with its faults fixed: names compare case-insensitively, characters in a pattern are
 * literal, and an asynchronous handler that fails yields SERVFAIL instead of ending the process. Middleware and
 * handlers run in the same order as in the framework.
 */
import type { Router } from 'dinodns/common/router/router.js';
import type { Handler, NextFunction } from 'dinodns/types/server.js';
import type { Bypass } from './bypass.ts';

interface Route {
  readonly domain: string;
  readonly pattern: RegExp;
  readonly handlers: Handler[];
}

/** `*` matches any number of labels, and everything from a `/` on is ignored, as in the framework. */
function patternOf(domain: string): RegExp {
  const [name = ''] = domain.toLowerCase().split('/');
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, (character) =>
    character === '*' ? '.*' : `\\${character}`,
  );
  return new RegExp(`^${escaped}$`);
}

export class CaseInsensitiveRouter implements Router {
  readonly #bypasses: Bypass[] = [];
  readonly #middleware: Handler[] = [];
  readonly #routes: Route[] = [];
  /** The chain for names without routes of their own, shared because it does not depend on the name. */
  #middlewareChain: Handler = chain([]);

  /** Tells this bypass, beside others, about every handler, including those already registered. */
  tell(bypass: Bypass): void {
    this.#bypasses.push(bypass);
    for (const handler of this.#middleware) bypass.addMiddleware(handler);
    for (const { domain } of this.#routes) bypass.addRoute(domain);
  }

  use(handler: Handler): void {
    for (const bypass of this.#bypasses) bypass.addMiddleware(handler);
    this.#middleware.push(handler);
    this.#middlewareChain = chain([...this.#middleware]);
  }

  handle(domain: string, handler: Handler): void {
    for (const bypass of this.#bypasses) bypass.addRoute(domain);
    const pattern = patternOf(domain);
    const existing = this.#routes.find((route) => route.pattern.source === pattern.source);
    if (existing) existing.handlers.push(handler);
    else this.#routes.push({ domain, pattern, handlers: [handler] });
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

/** Runs the handlers in order. Each calls `next` if the next one should run. */
function chain(handlers: readonly Handler[]): Handler {
  if (handlers.length === 0) return (_request, _response, next) => next();
  return (request, response, next) => {
    let index = 0;
    let failure: Error | undefined;
    const advance: NextFunction = (error) => {
      failure ??= error;
      const handler = handlers[index++];
      if (handler === undefined) {
        // If a handler fails, the answer is SERVFAIL, not NXDOMAIN.
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
