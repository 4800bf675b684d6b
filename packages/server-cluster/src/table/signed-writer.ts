/** Writes record sets and, with DO, their signatures after them (RFC 4035, section 3.1.1). */
import { NONE } from './arena.ts';
import { SHAPE_FLAG } from './block-layout.ts';
import type { Lookup, Place } from './find.ts';
import type { ReplyWriter } from './reply-writer.ts';
import { SIGNATURES } from './stored-set.ts';
import type { ZoneData } from './zone-data.ts';

export class SignedWriter {
  readonly #reply: ReplyWriter;
  /** Whether the client wants signatures. */
  dnssecOk = false;

  constructor(reply: ReplyWriter) {
    this.#reply = reply;
  }

  /** Like `writeSet` of the reply writer, plus the signatures; returns the number of both. */
  write(lookup: Lookup, set: number, owner: Place, ttl: number): number {
    const written = this.#reply.writeSet(lookup, set, owner, ttl);
    if (!this.dnssecOk) return written;
    return written + this.writeSignatures(lookup, lookup.data.sets.typeOf(set), owner, ttl);
  }

  /** Writes only the signatures of the owner's set of that type, if they exist and are wanted. */
  writeSignatures(lookup: Lookup, type: number, owner: Place, ttl: number): number {
    const signatures = this.signaturesOf(lookup.data, type, owner.node);
    return signatures === NONE ? 0 : this.#reply.writeSet(lookup, signatures, owner, ttl);
  }

  /**
   * The set of signatures over the node's set of that type; NONE if there is none or the client does not want it.
   */
  signaturesOf(data: ZoneData, type: number, node: number): number {
    // What ANY finds where nothing else is are signatures, which have none.
    if (!this.dnssecOk || (type & SIGNATURES) !== 0) return NONE;
    return (data.flagsOf(node) & SHAPE_FLAG.signed) === 0 ? NONE : data.setAt(node, SIGNATURES | type);
  }
}
