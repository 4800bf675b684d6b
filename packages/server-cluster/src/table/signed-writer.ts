/** Writes record sets and, with DO, their signatures after them (RFC 4035, section 3.1.1). */
import { NONE } from './arena.ts';
import { SHAPE_FLAG, SHAPE_WORD } from './block-layout.ts';
import { findSet } from './find-set.ts';
import type { ReplyWriter } from './reply-writer.ts';
import { SIGNATURES } from './signatures.ts';
import type { ZoneData } from './zone-data.ts';

export class SignedWriter {
  readonly #reply: ReplyWriter;
  /** Whether the client wants signatures. */
  dnssecOk = false;

  constructor(reply: ReplyWriter) {
    this.#reply = reply;
  }

  /** Like `writeSet` of the reply writer, plus the signatures; returns the number of both. */
  write(
    data: ZoneData,
    set: number,
    node: number,
    labels: Uint16Array,
    owner: number,
    surplus: number,
    ttl: number,
  ): number {
    const written = this.#reply.writeSet(data.sets, data.names, set, node, labels, owner, surplus, ttl);
    if (!this.dnssecOk) return written;
    return written + this.writeSignatures(data, data.sets.typeOf(set), node, labels, owner, surplus, ttl);
  }

  /** Writes only the signatures of the node's set of that type, if they exist and are wanted. */
  writeSignatures(
    data: ZoneData,
    type: number,
    node: number,
    labels: Uint16Array,
    owner: number,
    surplus: number,
    ttl: number,
  ): number {
    const signatures = this.signaturesOf(data, type, node);
    if (signatures === NONE) return 0;
    return this.#reply.writeSet(data.sets, data.names, signatures, node, labels, owner, surplus, ttl);
  }

  /**
   * The set of signatures over the node's set of that type; NONE if there is none or the client does not want it.
   */
  signaturesOf(data: ZoneData, type: number, node: number): number {
    const shape = data.names.shapeOf(node);
    // What ANY finds where nothing else is are signatures, which have none.
    if (!this.dnssecOk || shape === NONE || (type & SIGNATURES) !== 0) return NONE;
    const flags = data.sets.arena.words[shape + SHAPE_WORD.flags] ?? 0;
    return (flags & SHAPE_FLAG.signed) === 0 ? NONE : findSet(data, shape, SIGNATURES | type);
  }
}
