/**
 * Proves with a signed zone's NSEC or NSEC3 records that a name or a type does not exist (RFC 4035, section 3.1.3;
 * RFC 5155, section 7.2). Proofs are collected while the answer is found, and written to the authority section
 * after all answers.
 */
import { TYPE } from '@dinodns-bench/wire';
import { NONE } from './arena.ts';
import type { Lookup } from './find.ts';
import { NameSearch } from './name-search.ts';
import type { ReplyWriter } from './reply-writer.ts';
import type { SignedWriter } from './signed-writer.ts';

/** Three for each name followed for a question, and for the final one. */
const MAX_PROOFS = 64;

export class DenialWriter {
  readonly #reply: ReplyWriter;
  readonly #signed: SignedWriter;
  readonly #lookup: Lookup;
  readonly #search: NameSearch;
  /** The owners of the records to write, their zones, and the offsets of the zones' names in the message. */
  readonly #nodes = new Int32Array(MAX_PROOFS);
  readonly #apexes = new Int32Array(MAX_PROOFS);
  readonly #origins = new Uint16Array(MAX_PROOFS);
  #count = 0;
  /** The zone of the current proof: its apex, how many labels come before that, and where its name is in the message. */
  #apex = NONE;
  #apexLabel = 0;
  #origin = 0;
  #isHashed = false;

  constructor(reply: ReplyWriter, signed: SignedWriter, lookup: Lookup) {
    this.#reply = reply;
    this.#signed = signed;
    this.#lookup = lookup;
    this.#search = new NameSearch(lookup);
  }

  /** Proves that a name does not exist: neither the name nor a wildcard below its closest encloser. */
  noName(): void {
    if (!this.#begin()) return;
    const { unmatched } = this.#lookup;
    if (this.#isHashed) this.#cover(this.#closestEncloser(unmatched), true);
    else {
      this.#cover(0, false);
      this.#cover(unmatched, true);
    }
  }

  /** Proves that the name itself does not exist, because a wildcard answers for it. */
  wildcard(): void {
    if (!this.#begin()) return;
    this.#cover(this.#isHashed ? this.#lookup.unmatched - 1 : 0, false);
  }

  /** Proves that the name, or the wildcard that matches it, has no records of that type. */
  noType(): void {
    if (!this.#begin()) return;
    const { data, name, unmatched } = this.#lookup;
    const isWildcard = unmatched > 0;
    if (!this.#isHashed) {
      const hasOwn = data.setAt(name.node, TYPE.NSEC) !== NONE;
      if (hasOwn) this.#add(name.node);
      if (!hasOwn || isWildcard) this.#cover(0, false);
      // A wildcard that exists only because of a name below it (RFC 4592, section 2.2.2).
      if (!hasOwn && isWildcard) this.#cover(unmatched, true);
    } else if (isWildcard) this.#add(this.#search.matching(this.#closestEncloser(unmatched), true));
    else this.#matchOrOptOut(0);
  }

  /** Proves that the delegation has no DS records: the child zone is not signed. */
  noDs(): void {
    if (!this.#begin()) return;
    const { cut, data } = this.#lookup;
    if (this.#isHashed) this.#matchOrOptOut(cut.label);
    else if (data.setAt(cut.node, TYPE.NSEC) !== NONE) this.#add(cut.node);
  }

  /** Writes the collected proofs, each record once, and clears them. */
  flush(): void {
    const { data } = this.#lookup;
    for (let index = 0; index < this.#count; index++) {
      const node = this.#nodes[index] ?? NONE;
      const apex = this.#apexes[index] ?? NONE;
      const origin = this.#origins[index] ?? 0;
      const plain = data.setAt(node, TYPE.NSEC);
      const set = plain === NONE ? data.setAt(node, TYPE.NSEC3) : plain;
      if (set === NONE) continue;
      const reply = this.#reply;
      reply.authorities += reply.writeNamed(data, set, node, apex, origin);
      const signatures = this.#signed.signaturesOf(data, data.sets.typeOf(set), node);
      if (signatures === NONE) continue;
      reply.authorities += reply.writeNamed(data, signatures, node, apex, origin);
    }
    this.#count = 0;
  }

  /** Prepares a proof about the name found. False if none is wanted, or there are no records for it. */
  #begin(): boolean {
    const { data, apex, labels } = this.#lookup;
    if (!this.#signed.dnssecOk || apex.node === NONE) return false;
    // Without a signature over its SOA record a zone is not signed, so there is nothing to look for.
    if (this.#signed.signaturesOf(data, TYPE.SOA, apex.node) === NONE) return false;
    const denials = data.denials.of(apex.node);
    if (denials === undefined) return false;
    this.#isHashed = denials.hashing !== null;
    this.#apex = apex.node;
    this.#apexLabel = apex.label;
    this.#origin = labels[apex.label] ?? 0;
    this.#search.begin(denials);
    return true;
  }

  /** Adds the record that this node owns, unless it is NONE. */
  #add(node: number): void {
    if (node === NONE || this.#count === MAX_PROOFS) return;
    for (let index = 0; index < this.#count; index++) if (this.#nodes[index] === node) return;
    this.#nodes[this.#count] = node;
    this.#apexes[this.#count] = this.#apex;
    this.#origins[this.#count] = this.#origin;
    this.#count++;
  }

  /** Adds the record that covers the name from a label on, or the wildcard below that name. */
  #cover(from: number, isWildcard: boolean): void {
    this.#add(this.#search.covering(from, isWildcard));
  }

  /** Adds the name's own record, which lists its types; else the one that shows it to be in an opt-out span. */
  #matchOrOptOut(from: number): void {
    const node = this.#search.matching(from, false);
    if (node !== NONE) this.#add(node);
    else this.#closestEncloser(from + 1);
  }

  /**
   * Finds the nearest name from label `from` on that has an NSEC3 record, and proves that the name one label
   * longer does not exist (RFC 5155, section 7.2.1). Returns where the labels of the former begin.
   */
  #closestEncloser(from: number): number {
    for (let label = from; label <= this.#apexLabel; label++) {
      const node = this.#search.matching(label, false);
      if (node === NONE) continue;
      this.#add(node);
      this.#cover(label - 1, false);
      return label;
    }
    return from;
  }
}
