/**
 * Observers: middleware that only looks and needs only a sample of the queries. A query outside the sample may be
 * answered without the framework.
 */
import type { DNSRequest, Handler } from 'dinodns/types/server.js';
import { ServerError } from '../errors.ts';

const sampleOf = new WeakMap<Handler, number>();
const draws = new WeakMap<DNSRequest, number>();

export interface ObserveOptions {
  /** The share of queries that the handler sees, from 0 to 1, chosen at random. */
  readonly sample: number;
}

/** Stores the number in [0, 1) that decides which observers see the query: those with a larger sample. */
export function setDraw(request: DNSRequest, draw: number): void {
  draws.set(request, draw);
}

function drawOf(request: DNSRequest): number {
  let draw = draws.get(request);
  if (draw === undefined) {
    draw = Math.random();
    draws.set(request, draw);
  }
  return draw;
}

/**
 * Declares that a handler changes nothing and needs only a sample of the queries. A sampled query takes the full
 * path through the framework, so that the handler sees request and response as usual. `sample: 1` returns the
 * handler itself. Throws `E_USAGE` for a share outside of 0 to 1.
 */
export function observe(handler: Handler, { sample }: ObserveOptions): Handler {
  if (!(sample >= 0 && sample <= 1)) {
    throw new ServerError('E_USAGE', `The sample ${sample} is not valid.`, 'Give a share from 0 to 1.');
  }
  const observer: Handler = (request, response, next) => {
    if (drawOf(request) < sample) handler(request, response, next);
    else next();
  };
  sampleOf.set(observer, sample);
  return observer;
}

/** The share of queries that a handler must see: 1 unless it is declared an observer. */
export function sampleNeededBy(handler: Handler): number {
  return sampleOf.get(handler) ?? 1;
}
