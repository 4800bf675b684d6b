/** Adds name server addresses to the additional section: glue in a referral, or with NS records in an answer. */
import { MAX_LABELS, TYPE, u16 } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { findSet } from './find-set.ts';
import { Finder } from './finder.ts';
import { RECORD_HEAD } from './record-sets.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

export class AddressWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  readonly #finder = new Finder();
  readonly #labels = new Uint16Array(MAX_LABELS);

  constructor(reply: ReplyWriter, signed: SignedWriter) {
    this.#reply = reply;
    this.#signed = signed;
  }

  /**
   * Adds the A and AAAA records of the targets of the NS records in `[first, end)` that are in the zone of `apex`.
   */
  write(data: ZoneData, bytes: Uint8Array, start: number, first: number, end: number, apex: number): void {
    const reply = this.#reply;
    const finder = this.#finder;
    const labels = this.#labels;
    for (let at = first; at < end; ) {
      const target = at + RECORD_HEAD;
      at = target + u16(bytes, start + target - 2);
      const count = reply.locate(target, labels);
      finder.find(data, bytes, start, labels, count);
      const isUsable = finder.unmatched === 0 && finder.apex === apex && finder.redirection === NONE;
      if (!isUsable || !reply.canPointTo(labels[0] ?? 0)) continue;
      this.#writeSet(data, TYPE.A);
      this.#writeSet(data, TYPE.AAAA);
    }
  }

  #writeSet(data: ZoneData, type: number): void {
    const { node } = this.#finder;
    const reply = this.#reply;
    const set = findSet(data, data.names.shapeOf(node), type);
    if (set === NONE) return;
    // Glue at or below a zone cut is not signed, because it belongs to the child zone.
    reply.additionals += this.#signed.write(data, set, node, this.#labels, 0, 0, KEEP_TTL);
  }
}
