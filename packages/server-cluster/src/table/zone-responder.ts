/**
 * Answers from the records of a `ZoneStore` as an authoritative server must (RFC 1034, section 4.3.2, RFC 2308,
 * RFC 4592, RFC 6604, RFC 6672, RFC 8482). A zone starts at a name with an SOA record and ends at its zone cuts:
 * names below it with NS records.
 */

import type { QueryReader } from '@dinodns-bench/wire';
import * as wire from '@dinodns-bench/wire';
import { AddressWriter } from './addresses.ts';
import { AliasChain } from './alias-chain.ts';
import { OUTSIDE } from './answers.ts';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import { DenialWriter } from './denial.ts';
import { findSet } from './find-set.ts';
import { Finder } from './finder.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import { SIGNATURES } from './signatures.ts';
import { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

// Copies, because V8 compiles a module's own constants into the code and loads imported ones anew at each use.
const { FLAG, MAX_LABELS, RCODE, TYPE } = wire;
const { NONE } = arena;
const { SHAPE_FLAG, SHAPE_WORD } = layout;

/** Not flags: the answer so far ends with a CNAME record whose target comes next. */
const ALIAS = -2;

/** Names at which sets may be accompanied by signatures or addresses. */
const ACCOMPANIED = SHAPE_FLAG.signed | SHAPE_FLAG.ns;

/** The flags if the name is in no zone; after an alias, what has been written so far is the answer. */
function nothing(depth: number): number {
  return depth === 0 ? OUTSIDE : FLAG.authoritative;
}

/** IXFR, AXFR, MAILB, MAILA, TKEY, TSIG and OPT: these ask for something else than records (RFC 6895, section 3.1). */
export function asksForNoRecords(type: number): boolean {
  return (type >= 249 && type <= 254) || type === 41;
}

export class ZoneResponder {
  readonly #reply: ReplyWriter;
  readonly #finder = new Finder();
  readonly #labels = new Uint16Array(MAX_LABELS);
  readonly #signed: SignedWriter;
  readonly #addresses: AddressWriter;
  readonly #chain: AliasChain;
  readonly #denial: DenialWriter;

  constructor(reply: ReplyWriter) {
    this.#reply = reply;
    this.#signed = new SignedWriter(reply);
    this.#chain = new AliasChain(reply, this.#signed);
    this.#addresses = new AddressWriter(reply, this.#signed);
    this.#denial = new DenialWriter(reply, this.#signed);
  }

  /**
   * Writes the answer after the question and returns its flags: RCODE and AA. If there is none, returns `OUTSIDE`
   * and writes nothing. With DO, answers from signed zones include signatures and denial of existence.
   */
  answer(data: ZoneData, bytes: Uint8Array, start: number, query: QueryReader): number {
    this.#signed.dnssecOk = query.dnssecOk;
    const flags = this.#answer(data, bytes, start, query);
    if (query.dnssecOk) this.#denial.flush(data);
    return flags;
  }

  #answer(data: ZoneData, bytes: Uint8Array, start: number, query: QueryReader): number {
    const { type } = query;
    const finder = this.#finder;
    let { labels, labelCount } = query;
    this.#chain.begin();
    for (let depth = 0; ; depth++) {
      finder.find(data, bytes, start, labels, labelCount, 0);
      // DS belongs to the parent (RFC 4035, section 3.1.4.1).
      if (type === TYPE.DS) finder.toParentSide(data, bytes, start, labels, labelCount);
      const flags = this.#answerName(data, bytes, start, labels, type, depth);
      if (flags !== ALIAS) return flags;
      // What comes next would have to point to names that no pointer reaches.
      if (!this.#reply.canPointToNext()) return FLAG.authoritative;
      labels = this.#labels;
      labelCount = this.#reply.locate(this.#chain.target, labels);
    }
  }

  /** Answers for the name found. Returns what `answer` does, or `ALIAS` if the answer goes on at the chain's target. */
  #answerName(
    data: ZoneData,
    bytes: Uint8Array,
    start: number,
    labels: Uint16Array,
    type: number,
    depth: number,
  ): number {
    const finder = this.#finder;
    if (finder.redirection !== NONE) return this.#redirected(data, labels, type);
    if (finder.unmatched > 0) {
      if (finder.apex === NONE) return nothing(depth);
      if (finder.cut !== NONE) return this.#referral(data, bytes, start, labels, depth);
      if (!finder.toWildcard(data)) return this.#noName(data, bytes, start, labels);
    }
    if (finder.cut !== NONE && !(finder.cut === finder.node && type === TYPE.DS)) {
      return this.#referral(data, bytes, start, labels, depth);
    }
    const set = findSet(data, data.names.shapeOf(finder.node), type);
    if (set === NONE) return this.#withoutSet(data, bytes, start, labels, type, depth);
    return this.#positive(data, bytes, start, set, labels);
  }

  /** Follows the DNAME record above the name. */
  #redirected(data: ZoneData, labels: Uint16Array, type: number): number {
    const chain = this.#chain;
    if (chain.isClosed(labels) || chain.isGrowing(this.#finder)) return FLAG.authoritative;
    if (!chain.redirect(data, this.#finder, labels)) {
      return FLAG.authoritative | (this.#reply.isFull ? 0 : RCODE.YXDOMAIN);
    }
    // The synthesized CNAME record is the answer.
    return type === TYPE.CNAME ? FLAG.authoritative : ALIAS;
  }

  /** Answers for a name that does not hold the type asked for: follows a CNAME record, or says that there is nothing. */
  #withoutSet(
    data: ZoneData,
    bytes: Uint8Array,
    start: number,
    labels: Uint16Array,
    type: number,
    depth: number,
  ): number {
    const finder = this.#finder;
    const { flags } = finder;
    if (finder.apex === NONE && data.names.shapeOf(finder.node) === NONE) return nothing(depth);
    if (type === TYPE.RRSIG && (flags & SHAPE_FLAG.signed) !== 0) return this.#allSignatures(data, labels);
    if ((flags & SHAPE_FLAG.cname) === 0) return this.#noData(data, bytes, start, labels);
    if (this.#chain.isClosed(labels)) return FLAG.authoritative;
    if (finder.unmatched > 0) this.#denial.wildcard(data, bytes, start, finder, labels);
    return this.#chain.follow(data, finder, labels) ? ALIAS : FLAG.authoritative;
  }

  #positive(data: ZoneData, bytes: Uint8Array, start: number, set: number, labels: Uint16Array): number {
    const { node, surplus, flags } = this.#finder;
    const reply = this.#reply;
    const first = reply.at;
    if (data.sets.typeOf(set) === TYPE.DNAME && this.#chain.hasApplied(node)) return FLAG.authoritative;
    reply.answers += reply.writeSet(data.sets, data.names, set, node, labels, 0, surplus, KEEP_TTL);
    if ((flags & ACCOMPANIED) !== 0) this.#accompany(data, bytes, start, set, labels, first);
    return FLAG.authoritative;
  }

  /**
   * Adds what accompanies a set of records, which begin at `first`: with DO its signatures, and with NS records, which a resolver
   * may prime with (RFC 9609), also their addresses.
   */
  #accompany(
    data: ZoneData,
    bytes: Uint8Array,
    start: number,
    set: number,
    labels: Uint16Array,
    first: number,
  ): void {
    const { node, surplus, apex, unmatched, flags } = this.#finder;
    const reply = this.#reply;
    const end = reply.at;
    const type = data.sets.typeOf(set);
    if (this.#signed.dnssecOk && (flags & SHAPE_FLAG.signed) !== 0) {
      reply.answers += this.#signed.writeSignatures(data, type, node, labels, 0, surplus, KEEP_TTL);
      if (unmatched > 0) this.#denial.wildcard(data, bytes, start, this.#finder, labels);
    }
    if (type !== TYPE.NS || apex === NONE || reply.isFull) return;
    this.#denial.flush(data);
    reply.endRequired();
    this.#addresses.write(data, bytes, start, first, end, apex);
  }

  /** Writes the signatures of all sets of the name. */
  #allSignatures(data: ZoneData, labels: Uint16Array): number {
    const { node, surplus } = this.#finder;
    const { words } = data.sets.arena;
    const shape = data.names.shapeOf(node);
    const first = shape + SHAPE_WORD.head;
    const end = first + 2 * (words[shape + SHAPE_WORD.sets] ?? 0);
    for (let at = first; at < end; at += 2) {
      const type = words[at] ?? 0;
      if ((type & SIGNATURES) === 0) continue;
      if (type === (SIGNATURES | TYPE.DNAME) && this.#signed.dnssecOk && this.#chain.hasApplied(node))
        continue;
      const set = words[at + 1] ?? NONE;
      this.#reply.answers += this.#reply.writeSet(
        data.sets,
        data.names,
        set,
        node,
        labels,
        0,
        surplus,
        KEEP_TTL,
      );
    }
    return FLAG.authoritative;
  }

  #noName(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array): number {
    this.#denial.noName(data, bytes, start, this.#finder, labels);
    return this.#negative(data, labels, RCODE.NXDOMAIN);
  }

  #noData(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array): number {
    this.#denial.noType(data, bytes, start, this.#finder, labels);
    return this.#negative(data, labels, RCODE.NOERROR);
  }

  /** Adds the zone's SOA record, if there is a zone, with the negative TTL (RFC 2308, section 3). */
  #negative(data: ZoneData, labels: Uint16Array, code: number): number {
    const { apex, apexLabel } = this.#finder;
    if (apex !== NONE) {
      const soa = findSet(data, data.names.shapeOf(apex), TYPE.SOA);
      const reply = this.#reply;
      const ttl = data.sets.negativeTtl(soa);
      reply.authorities += this.#signed.write(data, soa, apex, labels, apexLabel, 0, ttl);
    }
    // The RCODE is that of the chain's end, AA that of its start (RFC 6604, section 2.1).
    return FLAG.authoritative | code;
  }

  /** With DO: writes the DS records of a delegation, or the proof that there are none (RFC 4035, section 3.1.4). */
  #delegationSigner(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array): void {
    const finder = this.#finder;
    // Only a signed zone can say anything about DS records.
    if (this.#signed.signaturesOf(data, TYPE.SOA, finder.apex) === NONE) return;
    const { cut, cutLabel, cutSurplus } = finder;
    const ds = findSet(data, data.names.shapeOf(cut), TYPE.DS);
    if (ds === NONE) this.#denial.noDs(data, bytes, start, finder, labels);
    else this.#reply.authorities += this.#signed.write(data, ds, cut, labels, cutLabel, cutSurplus, KEEP_TTL);
    this.#denial.flush(data);
  }

  /** Writes the child's name servers, and those of their addresses that are in our zone. */
  #referral(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array, depth: number): number {
    const { cut, cutLabel, cutSurplus, apex } = this.#finder;
    const reply = this.#reply;
    const first = reply.at;
    const servers = findSet(data, data.names.shapeOf(cut), TYPE.NS);
    reply.authorities += reply.writeSet(
      data.sets,
      data.names,
      servers,
      cut,
      labels,
      cutLabel,
      cutSurplus,
      KEEP_TTL,
    );
    const end = reply.at;
    this.#delegationSigner(data, bytes, start, labels);
    this.#addresses.write(data, bytes, start, first, end, apex);
    return depth === 0 ? 0 : FLAG.authoritative;
  }
}
