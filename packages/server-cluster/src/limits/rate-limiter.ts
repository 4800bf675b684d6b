/**
 * Response rate limiting over UDP. A server that answers every query also answers forged sources and so amplifies
 * an attack. Each client network gets `rate` responses per second. Beyond that, every `slip`-th response is sent
 * empty with TC set, so that a real client retries over TCP, which proves its address; the others are dropped.
 * This follows NSD and Knot DNS. Like Knot DNS, we count per network before working out the answer, so that a
 * limited query costs next to nothing.
 *
 * The state has a fixed size, whatever arrives: a set-associative table of token buckets in typed arrays.
 */
import { randomBytes } from 'node:crypto';
import { type ClientNetwork, contains } from './networks.ts';

/** Networks tracked at once; 2^17 entries take 2 MiB. */
export const TABLE_ENTRIES = 131_072;
/** Buckets that may hold a given network. */
const WAYS = 4;

export const DEFAULT_SLIP = 2;
export const DEFAULT_IPV4_BITS = 24;
export const DEFAULT_IPV6_BITS = 56;

export interface RateLimit {
  /** Responses per second to one client network, and the burst size; 1 or more. */
  readonly rate: number;
  /** One in this many responses over the limit is sent empty with TC set; 1: all; 0: none. Default: 2. */
  readonly slip?: number;
  /** Prefix length of a client network, 1 to 32. Default: 24. */
  readonly ipv4Prefix?: number;
  /** 1 to 128. Default: 56. */
  readonly ipv6Prefix?: number;
  /** Networks that are not limited. Default: none. */
  readonly exempt?: readonly ClientNetwork[];
}

export const ALLOW = 0;
export const SLIP = 1;
export const REFUSE = 2;
export type Decision = typeof ALLOW | typeof SLIP | typeof REFUSE;

const MAPPED_WORD = 0x0000ffff;

function maskOf(bits: number, word: number): number {
  const left = Math.min(32, Math.max(0, bits - word * 32));
  return left === 0 ? 0 : (-1 << (32 - left)) | 0;
}

export class RateLimiter {
  readonly #rate: number;
  readonly #slip: number;
  readonly #exempt: readonly ClientNetwork[];
  readonly #ipv4Mask: number;
  readonly #ipv6Masks: readonly number[];
  readonly #tags = new Uint32Array(TABLE_ENTRIES);
  readonly #tokens = new Float32Array(TABLE_ENTRIES);
  /** When each bucket was last refilled, in seconds of the caller's clock; 0 for a free bucket. */
  readonly #filledAt = new Float64Array(TABLE_ENTRIES);
  // Without the seeds, an attacker cannot choose networks that share a bucket.
  readonly #seeds = new Int32Array(randomBytes(8).buffer.slice(0, 8));
  #beyond = 0;

  constructor({
    rate,
    slip = DEFAULT_SLIP,
    ipv4Prefix = DEFAULT_IPV4_BITS,
    ipv6Prefix = DEFAULT_IPV6_BITS,
    exempt = [],
  }: RateLimit) {
    this.#rate = rate;
    this.#slip = slip;
    this.#exempt = exempt;
    this.#ipv4Mask = maskOf(ipv4Prefix, 0);
    this.#ipv6Masks = [0, 1, 2, 3].map((word) => maskOf(ipv6Prefix, word));
  }

  /**
   * What to do with a response to the address (16 bytes at `offset`). `now` is in seconds of a monotonic clock
   * that starts above 0; one reading per batch is enough.
   */
  decide(addresses: Uint8Array, offset: number, now: number): Decision {
    if (this.#exempt.length > 0 && this.#isExempt(addresses, offset)) return ALLOW;
    const entry = this.#entryOf(addresses, offset, now);
    const tokens = this.#tokens[entry] ?? 0;
    if (tokens >= 1) {
      this.#tokens[entry] = tokens - 1;
      return ALLOW;
    }
    if (this.#slip === 0) return REFUSE;
    this.#beyond = (this.#beyond + 1) % this.#slip;
    return this.#beyond === 0 ? SLIP : REFUSE;
  }

  #isExempt(addresses: Uint8Array, offset: number): boolean {
    for (const network of this.#exempt) if (contains(network, addresses, offset)) return true;
    return false;
  }

  /** The network's bucket, refilled up to `now`. */
  #entryOf(addresses: Uint8Array, offset: number, now: number): number {
    const hashes = this.#hash(addresses, offset);
    // Tag 0 marks a free bucket.
    const tag = (hashes[1] ?? 0) >>> 0 || 1;
    const start = (((hashes[0] ?? 0) >>> 0) % (TABLE_ENTRIES / WAYS)) * WAYS;
    let fullest = start;
    let mostTokens = -1;
    for (let entry = start; entry < start + WAYS; entry++) {
      const tokens = this.#refilled(entry, now);
      if (this.#tags[entry] === tag) {
        this.#tokens[entry] = tokens;
        this.#filledAt[entry] = now;
        return entry;
      }
      if (tokens > mostTokens) {
        mostTokens = tokens;
        fullest = entry;
      }
    }
    // Evict the network that used least, so that forged sources cannot push out a limited one.
    this.#tags[fullest] = tag;
    this.#tokens[fullest] = this.#rate;
    this.#filledAt[fullest] = now;
    return fullest;
  }

  #refilled(entry: number, now: number): number {
    if (this.#tags[entry] === 0) return Number.MAX_VALUE;
    const seconds = now - (this.#filledAt[entry] ?? 0);
    return Math.min(this.#rate, (this.#tokens[entry] ?? 0) + seconds * this.#rate);
  }

  readonly #pair = new Int32Array(2);

  /** Two hashes of the network, after MurmurHash3's mixing steps. */
  #hash(addresses: Uint8Array, offset: number): Int32Array {
    const isIPv4 =
      wordAt(addresses, offset) === 0 &&
      wordAt(addresses, offset + 4) === 0 &&
      wordAt(addresses, offset + 8) === MAPPED_WORD;
    let one = this.#seeds[0] ?? 0;
    let two = this.#seeds[1] ?? 0;
    for (let index = 0; index < 4; index++) {
      const mask = isIPv4 ? (index === 3 ? this.#ipv4Mask : -1) : (this.#ipv6Masks[index] ?? 0);
      const bits = wordAt(addresses, offset + index * 4) & mask;
      one = mix(one ^ Math.imul(bits, 0xcc9e2d51 | 0));
      two = mix(two ^ Math.imul(bits, 0x1b873593) ^ index);
    }
    this.#pair[0] = one;
    this.#pair[1] = two;
    return this.#pair;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16);
  return high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b | 0);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35 | 0);
  return mixed ^ (mixed >>> 16);
}
