/**
 * Proves with a signed zone's NSEC or NSEC3 records that a name or a type does not exist (RFC 4035, section 3.1.3;
 * RFC 5155, section 7.2). Proofs are collected while the answer is found, and written to the authority section
 * after all answers.
 */
import { TYPE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import { DenialIndex, type Denials } from './denial-index.ts';
import { findSet } from './find-set.ts';
import type { Finder } from './finder.ts';
import { NameSearch } from './name-search.ts';
import type { ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

/** Three for each name followed for a question, and for the final one. */
const MAX_PROOFS = 64;

export class DenialWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  readonly #index = new DenialIndex();
  readonly #search = new NameSearch();
  /** The owners of the records to write, their zones, and the offsets of the zones' names in the message. */
  readonly #nodes = new Int32Array(MAX_PROOFS);
  readonly #apexes = new Int32Array(MAX_PROOFS);
  readonly #origins = new Uint16Array(MAX_PROOFS);
  #count = 0;

  constructor(reply: ReplyWriter, signed: SignedWriter) {
    this.#reply = reply;
    this.#signed = signed;
  }

  /** Proves that a name does not exist: neither the name nor a wildcard below its closest encloser. */
  noName(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const { unmatched } = finder;
    if (denials.hashing === null) {
      this.#cover(data, denials, bytes, start, finder, labels, 0, false);
      this.#cover(data, denials, bytes, start, finder, labels, unmatched, true);
    } else {
      const encloser = this.#closestEncloser(data, denials, bytes, start, finder, labels, unmatched);
      this.#cover(data, denials, bytes, start, finder, labels, encloser, true);
    }
  }

  /** Proves that the name itself does not exist, because a wildcard answers for it. */
  wildcard(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const from = denials.hashing === null ? 0 : finder.unmatched - 1;
    this.#cover(data, denials, bytes, start, finder, labels, from, false);
  }

  /** Proves that the name, or the wildcard that matches it, has no records of that type. */
  noType(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const { node, unmatched } = finder;
    const isWildcard = unmatched > 0;
    if (denials.hashing === null) {
      const own = findSet(data, data.names.shapeOf(node), TYPE.NSEC);
      if (own !== NONE) this.#add(finder, labels, node);
      if (own === NONE || isWildcard) this.#cover(data, denials, bytes, start, finder, labels, 0, false);
    } else if (isWildcard) {
      const encloser = this.#closestEncloser(data, denials, bytes, start, finder, labels, unmatched);
      const wildcard = this.#find(data, denials, bytes, start, finder, labels, encloser, true, true);
      if (wildcard !== NONE) this.#add(finder, labels, wildcard);
    } else this.#matchOrOptOut(data, denials, bytes, start, finder, labels, 0);
  }

  /** Proves that the delegation has no DS records: the child zone is not signed. */
  noDs(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const { cut, cutLabel } = finder;
    if (denials.hashing !== null) this.#matchOrOptOut(data, denials, bytes, start, finder, labels, cutLabel);
    else if (findSet(data, data.names.shapeOf(cut), TYPE.NSEC) !== NONE) this.#add(finder, labels, cut);
  }

  /** Writes the collected proofs, each record once, and clears them. */
  flush(data: ZoneData): void {
    for (let index = 0; index < this.#count; index++) {
      const node = this.#nodes[index] ?? NONE;
      const apex = this.#apexes[index] ?? NONE;
      const origin = this.#origins[index] ?? 0;
      const shape = data.names.shapeOf(node);
      const plain = findSet(data, shape, TYPE.NSEC);
      const set = plain === NONE ? findSet(data, shape, TYPE.NSEC3) : plain;
      if (set === NONE) continue;
      const reply = this.#reply;
      reply.authorities += reply.writeNamed(data.sets, data.names, set, node, apex, origin);
      const signatures = this.#signed.signaturesOf(data, data.sets.typeOf(set), node);
      if (signatures === NONE) continue;
      reply.authorities += reply.writeNamed(data.sets, data.names, signatures, node, apex, origin);
    }
    this.#count = 0;
  }

  #denialsOf(data: ZoneData, { apex }: Finder): Denials | undefined {
    if (!this.#signed.dnssecOk || apex === NONE) return undefined;
    // Without a signature over its SOA record a zone is not signed, so there is nothing to look for.
    if (this.#signed.signaturesOf(data, TYPE.SOA, apex) === NONE) return undefined;
    return this.#index.of(data, apex);
  }

  #add({ apex, apexLabel }: Finder, labels: Uint16Array, node: number): void {
    for (let index = 0; index < this.#count; index++) if (this.#nodes[index] === node) return;
    if (this.#count === MAX_PROOFS) return;
    this.#nodes[this.#count] = node;
    this.#apexes[this.#count] = apex;
    this.#origins[this.#count] = labels[apexLabel] ?? 0;
    this.#count++;
  }

  #find(
    data: ZoneData,
    denials: Denials,
    bytes: Uint8Array,
    start: number,
    finder: Finder,
    labels: Uint16Array,
    from: number,
    isWildcard: boolean,
    isExact: boolean,
  ): number {
    const count = labelCountOf(data, finder);
    const search = this.#search;
    return denials.hashing === null
      ? search.nsec(data, denials, bytes, start, labels, from, count, isWildcard)
      : search.nsec3(data, denials, bytes, start, labels, from, count, isWildcard, isExact);
  }

  /** Adds the record that covers the name from a label on, or the wildcard below that name. */
  #cover(
    data: ZoneData,
    denials: Denials,
    bytes: Uint8Array,
    start: number,
    finder: Finder,
    labels: Uint16Array,
    from: number,
    isWildcard: boolean,
  ): void {
    const node = this.#find(data, denials, bytes, start, finder, labels, from, isWildcard, false);
    if (node !== NONE) this.#add(finder, labels, node);
  }

  /** Adds the name's own record, which lists its types; else the one that shows it to be in an opt-out span. */
  #matchOrOptOut(
    data: ZoneData,
    denials: Denials,
    bytes: Uint8Array,
    start: number,
    finder: Finder,
    labels: Uint16Array,
    from: number,
  ): void {
    const node = this.#find(data, denials, bytes, start, finder, labels, from, false, true);
    if (node !== NONE) this.#add(finder, labels, node);
    else this.#closestEncloser(data, denials, bytes, start, finder, labels, from + 1);
  }

  /**
   * Finds the nearest name from label `from` on that has an NSEC3 record, and proves that the name one label
   * longer does not exist (RFC 5155, section 7.2.1). Returns where the labels of the former begin.
   */
  #closestEncloser(
    data: ZoneData,
    denials: Denials,
    bytes: Uint8Array,
    start: number,
    finder: Finder,
    labels: Uint16Array,
    from: number,
  ): number {
    let label = from;
    let node = NONE;
    for (; label <= finder.apexLabel; label++) {
      node = this.#find(data, denials, bytes, start, finder, labels, label, false, true);
      if (node !== NONE) break;
    }
    if (node === NONE) return from;
    this.#add(finder, labels, node);
    this.#cover(data, denials, bytes, start, finder, labels, label - 1, false);
    return label;
  }
}

/** Number of labels of the queried name. */
function labelCountOf({ names }: ZoneData, { apex, apexLabel }: Finder): number {
  let count = apexLabel;
  for (let node = apex; node !== names.root; node = names.parentOf(node)) count++;
  return count;
}
