/**
 * Answers from the records of a `ZoneStore` as an authoritative server must (RFC 1034, section 4.3.2, RFC 2308,
 * RFC 4592, RFC 6604, RFC 6672, RFC 8482). A zone starts at a name with an SOA record and ends at its zone cuts:
 * names below it with NS records.
 */
import { FLAG, MAX_LABELS, type QueryReader, RCODE, TYPE } from '@dinodns-bench/wire';
import { AddressWriter } from './addresses.ts';
import { AliasChain } from './alias-chain.ts';
import { OUTSIDE } from './answers.ts';
import { NONE } from './arena.ts';
import { SHAPE_FLAG, SHAPE_WORD } from './block-layout.ts';
import { DenialWriter } from './denial.ts';
import { findSet } from './find-set.ts';
import { Finder } from './finder.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import { SIGNATURES } from './signatures.ts';
import { SignedWriter } from './signed-writer.ts';
import type { ZoneData } from './zone-data.ts';

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
    const chain = this.#chain;
    let { labels, labelCount } = query;
    chain.begin();
    for (let depth = 0; ; depth++) {
      finder.find(data, bytes, start, labels, labelCount, 0);
      // DS belongs to the parent (RFC 4035, section 3.1.4.1).
      if (type === TYPE.DS) finder.toParentSide(data, bytes, start, labels, labelCount);
      const nothing = depth === 0 ? OUTSIDE : FLAG.authoritative;
      if (finder.redirection !== NONE) {
        if (chain.isClosed(labels) || chain.isGrowing(finder)) return FLAG.authoritative;
        const target = chain.redirect(data, finder, labels);
        if (target === 0) return FLAG.authoritative | (this.#reply.isFull ? 0 : RCODE.YXDOMAIN);
        // The synthesized CNAME record is the answer.
        if (type === TYPE.CNAME) return FLAG.authoritative;
        labels = this.#labels;
        labelCount = this.#reply.locate(target, labels);
        continue;
      }
      if (finder.unmatched > 0) {
        if (finder.apex === NONE) return nothing;
        if (finder.cut !== NONE) return this.#referral(data, bytes, start, labels, depth);
        if (!finder.toWildcard(data)) {
          this.#denial.noName(data, bytes, start, finder, labels);
          return this.#negative(data, labels, RCODE.NXDOMAIN);
        }
      }
      const { node } = finder;
      if (finder.cut !== NONE && !(finder.cut === node && type === TYPE.DS)) {
        return this.#referral(data, bytes, start, labels, depth);
      }
      const shape = data.names.shapeOf(node);
      if (shape === NONE) {
        if (finder.apex === NONE) return nothing;
        return this.#noData(data, bytes, start, labels);
      }
      const set = findSet(data, shape, type);
      if (set !== NONE) return this.#positive(data, bytes, start, set, labels);
      const { flags } = finder;
      if (type === TYPE.RRSIG && (flags & SHAPE_FLAG.signed) !== 0) return this.#allSignatures(data, labels);
      if ((flags & SHAPE_FLAG.cname) === 0) return this.#noData(data, bytes, start, labels);
      if (chain.isClosed(labels)) return FLAG.authoritative;
      if (finder.unmatched > 0) this.#denial.wildcard(data, bytes, start, finder, labels);
      const target = chain.follow(data, finder, labels);
      if (target === 0) return FLAG.authoritative;
      labels = this.#labels;
      labelCount = this.#reply.locate(target, labels);
    }
  }

  /**
   * Writes the records asked for; with NS records, which a resolver may prime with (RFC 9609), also their
   * addresses.
   */
  #positive(data: ZoneData, bytes: Uint8Array, start: number, set: number, labels: Uint16Array): number {
    const { node, surplus, apex, unmatched, flags } = this.#finder;
    const reply = this.#reply;
    const first = reply.at;
    reply.answers += reply.writeSet(data.sets, data.names, set, node, labels, 0, surplus, KEEP_TTL);
    const end = reply.at;
    if (this.#signed.dnssecOk && (flags & SHAPE_FLAG.signed) !== 0) {
      const type = data.sets.typeOf(set);
      reply.answers += this.#signed.writeSignatures(data, type, node, labels, 0, surplus, KEEP_TTL);
      if (unmatched > 0) this.#denial.wildcard(data, bytes, start, this.#finder, labels);
    }
    if (
      (flags & SHAPE_FLAG.ns) !== 0 &&
      data.sets.typeOf(set) === TYPE.NS &&
      apex !== NONE &&
      !reply.isFull
    ) {
      this.#denial.flush(data);
      reply.endRequired();
      this.#addresses.write(data, bytes, start, first, end, apex);
    }
    return FLAG.authoritative;
  }

  /** Writes the signatures of all sets of the name. */
  #allSignatures(data: ZoneData, labels: Uint16Array): number {
    const { node, surplus } = this.#finder;
    const { words } = data.sets.arena;
    const shape = data.names.shapeOf(node);
    const first = shape + SHAPE_WORD.head;
    const end = first + 2 * (words[shape + SHAPE_WORD.sets] ?? 0);
    for (let at = first; at < end; at += 2) {
      if (((words[at] ?? 0) & SIGNATURES) === 0) continue;
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
