/** Adds name server addresses to the additional section: glue in a referral, or with NS records in an answer. */
import { MAX_LABELS, TYPE, u16 } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { RECORD_HEAD, SHAPE_FLAG } from './block-layout.ts';
import { findSet } from './find-set.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

export class AddressWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
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
    const labels = this.#labels;
    for (let at = first; at < end; ) {
      const target = at + RECORD_HEAD;
      at = target + u16(bytes, start + target - 2);
      const count = reply.locate(target, labels);
      const node = findInZone(data, bytes, start, labels, count, apex);
      if (node === NONE || !reply.canPointTo(labels[0] ?? 0)) continue;
      this.#writeSet(data, TYPE.A, node);
      this.#writeSet(data, TYPE.AAAA, node);
    }
  }

  #writeSet(data: ZoneData, type: number, node: number): void {
    const reply = this.#reply;
    const set = findSet(data, data.names.shapeOf(node), type);
    if (set === NONE) return;
    // Glue at or below a zone cut is not signed, because it belongs to the child zone.
    reply.additionals += this.#signed.write(data, set, node, this.#labels, 0, 0, KEEP_TTL);
  }
}

/**
 * What the zone at `apex` holds at the name, be it below a zone cut; NONE if nothing, or if a DNAME record redirects
 * the name.
 */
function findInZone(
  data: ZoneData,
  bytes: Uint8Array,
  start: number,
  labels: Uint16Array,
  count: number,
  apex: number,
): number {
  const { names } = data;
  let node = names.root;
  let isInside = node === apex;
  let isBelowCut = false;
  for (let label = count - 1; label >= 0; label--) {
    // DNAME records below a cut are the child's.
    if (isInside && !isBelowCut && (data.flagsOf(node) & SHAPE_FLAG.dname) !== 0) return NONE;
    node = names.child(node, bytes, start + (labels[label] ?? 0));
    if (node === NONE) return NONE;
    if (node === apex) isInside = true;
    else if (isInside) {
      if ((data.flagsOf(node) & SHAPE_FLAG.soa) !== 0) node = names.parentSideOf(node);
      if (node === NONE) return NONE;
      if ((data.flagsOf(node) & SHAPE_FLAG.ns) !== 0) isBelowCut = true;
    }
  }
  return isInside ? node : NONE;
}
