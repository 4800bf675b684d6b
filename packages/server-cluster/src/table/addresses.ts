/** Adds name server addresses to the additional section: glue in a referral, or with NS records in an answer. */
import { MAX_LABELS, TYPE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { RECORD_HEAD, recordEnd, SHAPE_FLAG } from './block-layout.ts';
import { Lookup } from './find.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

export class AddressWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  /** A name server's name. */
  readonly #target: Lookup;

  constructor(reply: ReplyWriter, signed: SignedWriter, data: ZoneData) {
    this.#reply = reply;
    this.#signed = signed;
    this.#target = new Lookup(data);
    this.#target.labels = new Uint16Array(MAX_LABELS);
  }

  /** Adds the A and AAAA records of the targets of the NS records in `[first, end)` that are in the zone found. */
  write({ data, bytes, start, apex }: Lookup, first: number, end: number): void {
    const reply = this.#reply;
    const target = this.#target;
    target.data = data;
    target.bytes = bytes;
    target.start = start;
    for (let at = first; at < end; at = recordEnd(bytes, start + at) - start) {
      target.labelCount = reply.locate(at + RECORD_HEAD, target.labels);
      target.name.node = findInZone(target, apex.node);
      if (target.name.node === NONE || !reply.canPointTo(target.labels[0] ?? 0)) continue;
      this.#writeSet(TYPE.A);
      this.#writeSet(TYPE.AAAA);
    }
  }

  #writeSet(type: number): void {
    const target = this.#target;
    const set = target.data.setAt(target.name.node, type);
    if (set === NONE) return;
    // Glue at or below a zone cut is not signed, because it belongs to the child zone.
    this.#reply.additionals += this.#signed.write(target, set, target.name, KEEP_TTL);
  }
}

/**
 * What the zone at `apex` holds at the name, be it below a zone cut; NONE if nothing, or if a DNAME record redirects
 * the name.
 */
function findInZone({ data, bytes, start, labels, labelCount }: Lookup, apex: number): number {
  const { names } = data;
  let node = names.root;
  let isInside = node === apex;
  let isBelowCut = false;
  for (let label = labelCount - 1; label >= 0; label--) {
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
