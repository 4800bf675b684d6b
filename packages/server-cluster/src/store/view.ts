/**
 * A store's answers as the framework's handlers see them: the records, and the bytes after the question. They
 * equal what the answer table replies to the same question, decoded.
 */
import {
  encodeName,
  encodeQuery,
  FLAG,
  HEADER_BYTES,
  MAX_MESSAGE_BYTES,
  QueryReader,
} from '@dinodns-bench/wire';
import { ReplyWriter } from '../table/reply-writer.ts';
import { OUTSIDE } from '../table/responder.ts';
import { ZoneWriter } from '../table/write.ts';
import type { ZoneData } from '../table/zone-data.ts';
import { readRecords } from '../wire/rdata.ts';
import type { Sections } from '../wire/response.ts';
import { typeNumber } from '../wire/types.ts';

/** A store's answer to one question: RCODE, AA and the three sections. */
export interface StoredAnswer {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly sections: Sections;
}

/** Decoded answers kept so that popular ones are decoded once. Clients cannot make this grow. */
const MAX_KEPT = 4096;
const MAX_KEPT_BYTES = 1024;

export class StoreView {
  readonly #reply = new ReplyWriter();
  readonly #writer: ZoneWriter;
  readonly #query = new QueryReader();
  #message = Buffer.alloc(MAX_MESSAGE_BYTES);
  /** Keyed by question name and answer bytes, which determine the result regardless of changes. */
  readonly #kept = new Map<string, StoredAnswer>();

  constructor(data: ZoneData) {
    this.#writer = new ZoneWriter({ data }, this.#reply);
  }

  /** The answer to a question; null if the name is outside of all zones, or the question is not for records. */
  lookup(name: string, typeText: string, dnssecOk: boolean): StoredAnswer | null {
    const type = typeNumber(typeText);
    const owner = encodeName(name);
    const flags = this.#write(owner, type, dnssecOk);
    return flags === OUTSIDE ? null : this.#decode(owner, flags);
  }

  #write(owner: Buffer, type: number, dnssecOk: boolean): number {
    const questionEnd = HEADER_BYTES + owner.length + 4;
    for (;;) {
      encodeQuery({ name: owner, type }).copy(this.#message);
      this.#query.read(this.#message, 0, questionEnd);
      this.#query.dnssecOk = dnssecOk;
      this.#reply.begin(this.#message, 0, questionEnd, this.#message.length);
      if (this.#writer.find(this.#message, 0, this.#query) === OUTSIDE) return OUTSIDE;
      const flags = this.#writer.write();
      if (!this.#reply.isFull) return flags;
      // The answer exceeds any message. The network will truncate it, but must see it.
      this.#message = Buffer.alloc(this.#message.length * 2);
    }
  }

  #decode(owner: Buffer, flags: number): StoredAnswer {
    const { at: end, answers, authorities, additionals, requiredEnd, requiredAdditionals } = this.#reply;
    const start = HEADER_BYTES + owner.length + 4;
    const isSmall = end - start <= MAX_KEPT_BYTES;
    const counts = `${flags} ${answers} ${authorities} `;
    const key = isSmall
      ? counts +
        this.#message.toString('latin1', HEADER_BYTES, start - 4) +
        this.#message.toString('latin1', start, end)
      : '';
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const message = Buffer.from(this.#message.subarray(0, end));
    const first = readRecords(message, start, answers);
    const second = readRecords(message, first.end, authorities);
    const third = readRecords(message, second.end, additionals);
    const answer: StoredAnswer = {
      rcode: flags & 0xf,
      authoritative: (flags & FLAG.authoritative) !== 0,
      sections: {
        answers: first.records,
        authorities: second.records,
        additionals: third.records,
        wire: message.subarray(start),
        required:
          requiredEnd === -1 ? undefined : { bytes: requiredEnd - start, additionals: requiredAdditionals },
      },
    };
    if (isSmall) {
      if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
      this.#kept.set(key, answer);
    }
    return answer;
  }
}
