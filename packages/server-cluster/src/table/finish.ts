/** Finishes a reply: omits what the client does not take, and adds the OPT record and the header. */

import type { QueryReader } from '@dinodns-bench/wire';
import * as wire from '@dinodns-bench/wire';
import { COOKIE_OPTION_BYTES } from '../limits/cookies.ts';
import type { ReplyWriter } from './reply-writer.ts';
import type { Transport } from './responder.ts';

// Copied: README.md, "Hot code".
const { FLAG, MAX_MESSAGE_BYTES, OPT_BYTES, RCODE_MASK } = wire;

export class Finisher {
  readonly #reply: ReplyWriter;
  readonly #maxUdpBytes: number;

  /** `maxUdpBytes`: the largest UDP response, and the size that our OPT record advertises. */
  constructor(reply: ReplyWriter, maxUdpBytes: number) {
    this.#reply = reply;
    this.#maxUdpBytes = maxUdpBytes;
  }

  /** Completes the reply, without its records if they exceed what the client takes. Returns its length. */
  finish(query: QueryReader, flags: number, transport: Transport): number {
    const { hasEdns, dnssecOk, questionEnd, udpBytes } = query;
    const reply = this.#reply;
    const limit = transport === 'stream' ? MAX_MESSAGE_BYTES : Math.min(udpBytes, this.#maxUdpBytes);
    const room = limit - roomOfOpt(query);
    reply.fit(room);
    const isTruncated = reply.isFull || reply.at > room;
    if (isTruncated) reply.clear(questionEnd);
    if (hasEdns) reply.writeOpt(this.#maxUdpBytes, dnssecOk, 0);
    return reply.writeHeader(isTruncated ? flags | FLAG.truncated : flags, 1);
  }

  /** Completes a reply without records. */
  refuse({ hasEdns, dnssecOk, hasQuestion }: QueryReader, code: number): number {
    if (hasEdns) this.#reply.writeOpt(this.#maxUdpBytes, dnssecOk, code >> 4);
    return this.#reply.writeHeader(code & RCODE_MASK, hasQuestion ? 1 : 0);
  }
}

/** Bytes of our OPT record, and of the cookie that the network adds to it if the client sent one. */
export function roomOfOpt({ hasEdns, cookieAt }: QueryReader): number {
  return (hasEdns ? OPT_BYTES : 0) + (cookieAt === 0 ? 0 : COOKIE_OPTION_BYTES);
}
