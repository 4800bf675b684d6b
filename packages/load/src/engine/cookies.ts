/**
 * DNS cookies (RFC 7873): each socket or connection learns the server cookie from responses and returns it in
 * later queries. It is kept per socket because a server cookie depends on the client's address.
 *
 * Messages are encoded once, with the client cookie as their last option; the server cookie is appended when they
 * are copied, and the two lengths before it are corrected.
 */
import { EDNS_OPTION } from '@dinodns-bench/wire';
import { optionAt } from '../message/response.ts';
import type { WorkloadPlan } from '../workload/workload.ts';

/** RFC 7873 §4: size of a client cookie, and maximum size of a server cookie. */
const CLIENT_BYTES = 8;
const MAX_SERVER_BYTES = 32;
const MIN_SERVER_BYTES = 8;
/** An option's code and length. */
const OPTION_HEAD_BYTES = 4;
/** Root name, type, class and TTL of an OPT record, before the length of its data. */
const OPT_LENGTH_AT = 9;

/**
 * The client cookie that all messages end with; null if they have none, and for captures, which are replayed
 * unchanged.
 */
export function clientCookie({ arena, order }: WorkloadPlan): Uint8Array | null {
  const { bytes, offsets, count } = arena;
  if (order === 'timed' || count === 0) return null;
  const tailBytes = OPTION_HEAD_BYTES + CLIENT_BYTES;
  const tailOf = (message: number) => {
    const end = offsets[message + 1] ?? 0;
    return Buffer.from(bytes.subarray(Math.max(offsets[message] ?? 0, end - tailBytes), end));
  };
  const tail = tailOf(0);
  if (tail.length < tailBytes || tail.readUInt16BE(0) !== EDNS_OPTION.cookie) return null;
  if (tail.readUInt16BE(2) !== CLIENT_BYTES) return null;
  for (let message = 1; message < count; message++) if (!tailOf(message).equals(tail)) return null;
  return Uint8Array.from(tail.subarray(OPTION_HEAD_BYTES));
}

export class Cookies {
  readonly #client: Uint8Array;
  /** Each lane's server cookie, and its length; 0 before the first. */
  readonly #server: Uint8Array;
  readonly #lengths: Uint8Array;

  constructor(lanes: number, client: Uint8Array) {
    this.#client = client;
    this.#server = new Uint8Array(lanes * MAX_SERVER_BYTES);
    this.#lengths = new Uint8Array(lanes);
  }

  /** Bytes that `complete` appends to messages of this lane. */
  lengthOf(lane: number): number {
    return this.#lengths[lane] ?? 0;
  }

  /** Appends the server cookie to `target[at, at + length)`, a message whose OPT record begins at `opt`. */
  complete(lane: number, target: Uint8Array, at: number, length: number, opt: number): void {
    const more = this.#lengths[lane] ?? 0;
    if (more === 0) return;
    addToWord(target, at + opt + OPT_LENGTH_AT, more);
    addToWord(target, at + length - CLIENT_BYTES - 2, more);
    const from = lane * MAX_SERVER_BYTES;
    for (let i = 0; i < more; i++) target[at + length + i] = this.#server[from + i] ?? 0;
  }

  /**
   * Learns from a response, whose records begin at `recordsAt`. False if its cookie is for another client, so it
   * must be discarded (RFC 7873 §5.3). A response with no cookie, or one of invalid length, is accepted.
   */
  learn(lane: number, bytes: Uint8Array, start: number, end: number, recordsAt: number): boolean {
    const option = optionAt(bytes, start, end, recordsAt, EDNS_OPTION.cookie);
    if (option < 0) return true;
    const length = ((bytes[option - 2] ?? 0) << 8) | (bytes[option - 1] ?? 0);
    const server = length - CLIENT_BYTES;
    if (server < MIN_SERVER_BYTES || server > MAX_SERVER_BYTES) return true;
    for (let i = 0; i < CLIENT_BYTES; i++) if (bytes[option + i] !== this.#client[i]) return false;
    const to = lane * MAX_SERVER_BYTES;
    for (let i = 0; i < server; i++) this.#server[to + i] = bytes[option + CLIENT_BYTES + i] ?? 0;
    this.#lengths[lane] = server;
    return true;
  }
}

function addToWord(bytes: Uint8Array, at: number, more: number): void {
  const sum = (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)) + more;
  bytes[at] = sum >>> 8;
  bytes[at + 1] = sum & 0xff;
}
