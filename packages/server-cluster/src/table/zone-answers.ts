/** The answers of a `ZoneStore`: those of its handler, from the same records. */
import { CLASS, FLAG, type QueryReader } from '@dinodns-bench/wire';
import type { ZoneStore } from '../store/zone-store.ts';
import { type Answers, OUTSIDE } from './answers.ts';
import type { ReplyWriter } from './reply-writer.ts';
import { asksForNoRecords, ZoneResponder } from './zone-responder.ts';

const CLASS_ANY = 255;

export class ZoneAnswers implements Answers {
  readonly #store: ZoneStore;
  readonly #responder: ZoneResponder;

  constructor(store: ZoneStore, reply: ReplyWriter) {
    this.#store = store;
    this.#responder = new ZoneResponder(reply);
  }

  answer(bytes: Uint8Array, start: number, query: QueryReader): number {
    const questionClass = query.class;
    if (questionClass !== CLASS.IN && questionClass !== CLASS_ANY) return OUTSIDE;
    if (asksForNoRecords(query.type)) return OUTSIDE;
    const flags = this.#responder.answer(this.#store.data, bytes, start, query);
    // An answer for class ANY is never authoritative (RFC 1035, section 6.2).
    return questionClass === CLASS.IN || flags < 0 ? flags : flags & ~FLAG.authoritative;
  }
}
