/**
 * DNS cookies (RFC 7873): what a server gave is learnt from its responses and returned with the next queries, for
 * each socket or connection by itself, since a server's cookie depends on the address it was asked from.
 *
 * Messages are encoded once, with the client's cookie as their last option; the server's is appended as they are
 * copied, and the two lengths before it are corrected.
 */
import { EDNS_OPTION } from '@dinodns-bench/wire';
import { optionAt } from '../message/response.ts';
import type { WorkloadPlan } from '../workload/workload.ts';

/** RFC 7873 §4: a client's cookie, and the most of a server's. */
const CLIENT_BYTES = 8;
const MAX_SERVER_BYTES = 32;
const MIN_SERVER_BYTES = 8;
/** Code and length of an option. */
const OPTION_HEAD_BYTES = 4;
/** Root name, type, class and TTL of an OPT record, before the length of its data. */
const OPT_LENGTH_AT = 9;

/**
 * The client's cookie that all messages end with; null where they do not, and for a capture's, which are sent as
 * they were.
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
  /** The server's cookie on each lane, and its length; 0 before the first. */
  readonly #server: Uint8Array;
  readonly #lengths: Uint8Array;

  constructor(lanes: number, client: Uint8Array) {
    this.#client = client;
    this.#server = new Uint8Array(lanes * MAX_SERVER_BYTES);
    this.#lengths = new Uint8Array(lanes);
  }

  /** Octets that `complete` appends to messages of this lane. */
  lengthOf(lane: number): number {
    return this.#lengths[lane] ?? 0;
  }

  /** Appends the server's cookie to `target[at, at + length)`, a message whose OPT record begins at `opt`. */
  complete(lane: number, target: Uint8Array, at: number, length: number, opt: number): void {
    const more = this.#lengths[lane] ?? 0;
    if (more === 0) return;
    addToWord(target, at + opt + OPT_LENGTH_AT, more);
    addToWord(target, at + length - CLIENT_BYTES - 2, more);
    const from = lane * MAX_SERVER_BYTES;
    for (let i = 0; i < more; i++) target[at + length + i] = this.#server[from + i] ?? 0;
  }

  /**
   * Learns from a response, whose records begin at `recordsAt`. False where it has a cookie that is not for this
   * client: it is then no answer (RFC 7873 §5.3). Without a cookie, or with one of no valid length, it is one.
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
