/**
 * Decides for each datagram whether it is admitted: read, and answered. Those that are malformed, forged or too many get nothing, or a
 * short reply that costs next to nothing.
 */
import type { Batch } from '@dinodns-bench/batched-udp';
import { HEADER_BYTES, QueryReader } from '@dinodns-bench/wire';
import { COOKIE, type CookieState, type Cookies } from '../limits/cookies.ts';
import { ALLOW, type RateLimit, RateLimiter, SLIP } from '../limits/rate-limiter.ts';
import { writeSlip } from '../limits/slip.ts';
import { DROP_REASON, type TransportCounters } from '../metrics/counters.ts';

const ADDRESS_BYTES = 16;
/** What `dropReason` returns for a datagram that is read. */
const NO_REASON = -1;

export class Admission {
  /** The last datagram admitted; each is parsed once. */
  readonly query = new QueryReader();
  readonly #counters: TransportCounters;
  readonly #limiter: RateLimiter | null;
  readonly #cookies: Cookies | undefined;

  constructor(counters: TransportCounters, limit: RateLimit | undefined, cookies: Cookies | undefined) {
    this.#counters = counters;
    this.#limiter = limit === undefined ? null : new RateLimiter(limit);
    this.#cookies = cookies;
  }

  /** Whether it needs the time. */
  get isLimiting(): boolean {
    return this.#limiter !== null;
  }

  /**
   * Parses the query of a datagram, at `now` in milliseconds of the process's clock. False for one that gets no answer or already has
   * one, which is counted.
   */
  admit(batch: Batch, index: number, offset: number, length: number, now: number): boolean {
    const { bytes, ports } = batch;
    const reason = dropReason(bytes[offset + 2] ?? 0, length, ports[index] ?? 0, batch.truncated[index] ?? 0);
    if (reason !== NO_REASON) {
      this.#counters.drop(reason);
      return false;
    }
    // The process's clock starts at 0; the limiter's must start above it.
    const decision = this.#limiter?.decide(batch.addresses, index * ADDRESS_BYTES, now / 1000 + 1) ?? ALLOW;
    const { query } = this;
    if (decision === ALLOW) {
      query.read(bytes, offset, length);
      if (query.cookieAt !== 0) this.#readCookie(batch, index, offset);
      return true;
    }
    // A query that gets no answer is not parsed, unless it could have a cookie: in its additional section.
    const canHaveCookie = this.#cookies !== undefined && bytes[offset + 11] !== 0;
    if (decision === SLIP || canHaveCookie) query.read(bytes, offset, length);
    const cookie = canHaveCookie ? this.#readCookie(batch, index, offset) : 0;
    if (cookie === COOKIE.valid) return true;
    const slip = decision === SLIP ? this.#writeSlip(bytes, offset, batch.slotBytes, cookie !== 0) : 0;
    if (slip === 0) {
      this.#counters.drop(DROP_REASON['rate-limit']);
    } else {
      this.#counters.count('slips');
      this.#counters.reply(bytes, offset, query.type);
      batch.reply(index, slip);
    }
    return false;
  }

  /** 0 if the query has none, or cookies are not answered. */
  #readCookie(batch: Batch, index: number, offset: number): CookieState | 0 {
    const cookies = this.#cookies;
    if (cookies === undefined || this.query.cookieAt === 0) return 0;
    const state = cookies.read(batch.bytes, offset, this.query, batch.addresses, index * ADDRESS_BYTES);
    this.#counters.cookie(state);
    return state;
  }

  #writeSlip(bytes: Uint8Array, offset: number, capacity: number, withCookie: boolean): number {
    const length = writeSlip(bytes, offset, this.query, withCookie);
    return withCookie && length > 0
      ? (this.#cookies?.append(bytes, offset, length, capacity) ?? length)
      : length;
  }
}

/** Why a datagram is dropped unread. */
function dropReason(flags: number, length: number, port: number, truncated: number): number {
  if (length < HEADER_BYTES) return DROP_REASON.short;
  // Otherwise two servers could answer each other's responses for ever.
  if ((flags & 0x80) !== 0) return DROP_REASON.response;
  // Nobody can receive there: a datagram from port 0 is forged.
  if (port === 0) return DROP_REASON['port-zero'];
  return truncated === 0 ? NO_REASON : DROP_REASON.oversized;
}
