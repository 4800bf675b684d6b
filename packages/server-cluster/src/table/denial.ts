/**
 * Proves with NSEC or NSEC3 records of signed zones that a name or a type does not exist (RFC 4035, section 3.1.3;
 * RFC 5155, section 7.2). What proves it is collected while the answer is found, and written to the authority section
 * behind all answers.
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

/** Three for each of the names that are followed for a question, and for the one at the end. */
const MAX_PROOFS = 64;

export class DenialWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  readonly #index = new DenialIndex();
  readonly #search = new NameSearch();
  /** The names whose records are to be written, their zones, and where the zones' names are in the message. */
  readonly #nodes = new Int32Array(MAX_PROOFS);
  readonly #apexes = new Int32Array(MAX_PROOFS);
  readonly #origins = new Uint16Array(MAX_PROOFS);
  #count = 0;

  constructor(reply: ReplyWriter, signed: SignedWriter) {
    this.#reply = reply;
    this.#signed = signed;
  }

  /** There is no such name: neither itself nor a wildcard below the nearest name that exists. */
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

  /** A wildcard answers for the name, which does not exist itself. */
  wildcard(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const from = denials.hashing === null ? 0 : finder.unmatched - 1;
    this.#cover(data, denials, bytes, start, finder, labels, from, false);
  }

  /** The name, or the wildcard that stands for it, has no records of that type. */
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

  /** The delegation has no DS records: the zone below is not signed. */
  noDs(data: ZoneData, bytes: Uint8Array, start: number, finder: Finder, labels: Uint16Array): void {
    const denials = this.#denialsOf(data, finder);
    if (denials === undefined) return;
    const { cut, cutLabel } = finder;
    if (denials.hashing !== null) this.#matchOrOptOut(data, denials, bytes, start, finder, labels, cutLabel);
    else if (findSet(data, data.names.shapeOf(cut), TYPE.NSEC) !== NONE) this.#add(finder, labels, cut);
  }

  /** Writes what has been collected, each record once, and forgets it. */
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
    // Without a signature over its SOA record a zone is not signed, and nothing has to be looked for.
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

  /** The record that covers the name from a label on, or the wildcard below that name. */
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

  /** That the name has a record (which then says what it holds); else that it is in a span without signatures. */
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
   * The nearest name from label `from` on that has an NSEC3 record, and that the name one label longer does not exist
   * (RFC 5155, section 7.2.1). Returns where the labels of the former begin.
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

/** Labels of the name that was looked for. */
function labelCountOf({ names }: ZoneData, { apex, apexLabel }: Finder): number {
  let count = apexLabel;
  for (let node = apex; node !== names.root; node = names.parentOf(node)) count++;
  return count;
}
