/**
 * Writes the answer for what was found in the records of a `ZoneStore`, as an authoritative server must (RFC 1034, section 4.3.2, RFC
 * 2308, RFC 4592, RFC 6604, RFC 6672, RFC 8482). A zone starts at a name with an SOA record and ends at its zone cuts: names below it
 * with NS records.
 */

import type { QueryReader } from '@dinodns-bench/wire';
import * as wire from '@dinodns-bench/wire';
import { AddressWriter } from './addresses.ts';
import { AliasChain } from './alias-chain.ts';
import * as arena from './arena.ts';
import * as layout from './block-layout.ts';
import { DenialWriter } from './denial.ts';
import { Lookup } from './find.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { Source } from './responder.ts';
import * as responder from './responder.ts';
import { SignedWriter } from './signed-writer.ts';
import { SIGNATURES } from './stored-set.ts';
import type { ZoneData } from './zone-data.ts';

// Copied: README.md, "Hot code".
const { CLASS, FLAG, MAX_LABELS, RCODE, TYPE } = wire;
const { NONE } = arena;
const { SHAPE_FLAG } = layout;
const { OUTSIDE, FOUND, ALIAS } = responder;

const CLASS_ANY = 255;

/** Names at which sets may be accompanied by signatures or addresses. */
const ACCOMPANIED = SHAPE_FLAG.signed | SHAPE_FLAG.ns;

/** IXFR, AXFR, MAILB, MAILA, TKEY, TSIG and OPT: these ask for something else than records (RFC 6895, section 3.1). */
export function asksForNoRecords(type: number): boolean {
  return (type >= 249 && type <= 254) || type === 41;
}

/** What may replace its records at once, as a `ZoneStore` does. */
interface Zones {
  readonly data: ZoneData;
}

export class ZoneWriter implements Source {
  readonly #zones: Zones;
  readonly #reply: ReplyWriter;
  readonly #lookup: Lookup;
  /** Those of the name that an alias leads to. */
  readonly #labels = new Uint16Array(MAX_LABELS);
  readonly #signed: SignedWriter;
  readonly #addresses: AddressWriter;
  readonly #chain: AliasChain;
  readonly #denial: DenialWriter;
  #isAuthoritative = true;

  constructor(zones: Zones, reply: ReplyWriter) {
    this.#zones = zones;
    this.#reply = reply;
    this.#lookup = new Lookup(zones.data);
    this.#signed = new SignedWriter(reply);
    this.#chain = new AliasChain(reply, this.#signed, this.#lookup);
    this.#addresses = new AddressWriter(reply, this.#signed, zones.data);
    this.#denial = new DenialWriter(reply, this.#signed, this.#lookup);
  }

  find(bytes: Uint8Array, start: number, query: QueryReader): number {
    const { class: questionClass, type } = query;
    if (questionClass !== CLASS.IN && questionClass !== CLASS_ANY) return OUTSIDE;
    if (asksForNoRecords(type)) return OUTSIDE;
    const lookup = this.#lookup;
    this.#isAuthoritative = questionClass === CLASS.IN;
    this.#signed.dnssecOk = query.dnssecOk;
    lookup.begin(this.#zones.data, bytes, start, query);
    lookup.find(0);
    return lookup.isOutside() ? OUTSIDE : FOUND;
  }

  /** With DO, answers from signed zones include signatures and denial of existence. */
  write(): number {
    const flags = this.#writeChain();
    if (this.#signed.dnssecOk) this.#denial.flush();
    // An answer for class ANY is never authoritative (RFC 1035, section 6.2).
    return this.#isAuthoritative ? flags : flags & ~FLAG.authoritative;
  }

  /** Writes what was found, and finds and writes one name after the other as long as aliases lead on. */
  #writeChain(): number {
    const lookup = this.#lookup;
    this.#chain.begin();
    for (let depth = 0; ; depth++) {
      // DS belongs to the parent (RFC 4035, section 3.1.4.1).
      if (lookup.type === TYPE.DS) lookup.toParentSide();
      const flags = this.#writeFound(depth);
      if (flags !== ALIAS) return flags;
      // What comes next would have to point to names that no pointer reaches.
      if (!this.#reply.canPointToNext()) return FLAG.authoritative;
      lookup.labels = this.#labels;
      lookup.labelCount = this.#reply.locate(this.#chain.target, this.#labels);
      lookup.find(0);
      // What has been written so far is the answer.
      if (lookup.isOutside()) return FLAG.authoritative;
    }
  }

  /** Writes what was found for one name. Returns the flags, or `ALIAS` if the answer goes on at the chain's target. */
  #writeFound(depth: number): number {
    const lookup = this.#lookup;
    const { cut } = lookup;
    if (lookup.redirection.node !== NONE) return this.#redirected();
    if (lookup.unmatched > 0) {
      if (cut.node !== NONE) return this.#referral(depth);
      if (!lookup.toWildcard()) return this.#noName();
    }
    if (cut.node !== NONE && !(cut.node === lookup.name.node && lookup.type === TYPE.DS)) {
      return this.#referral(depth);
    }
    const set = lookup.set();
    return set === NONE ? this.#withoutSet() : this.#positive(set);
  }

  /** Follows the DNAME record above the name. */
  #redirected(): number {
    const chain = this.#chain;
    const lookup = this.#lookup;
    if (chain.isClosed() || chain.isGrowing()) return FLAG.authoritative;
    if (!chain.redirect()) return FLAG.authoritative | (this.#reply.isFull ? 0 : RCODE.YXDOMAIN);
    // The synthesized CNAME record is the answer.
    return lookup.type === TYPE.CNAME ? FLAG.authoritative : ALIAS;
  }

  /** Answers for a name that does not hold the type asked for: follows a CNAME record, or says that there is nothing. */
  #withoutSet(): number {
    const lookup = this.#lookup;
    const { flags, type } = lookup;
    if (type === TYPE.RRSIG && (flags & SHAPE_FLAG.signed) !== 0) return this.#allSignatures();
    if ((flags & SHAPE_FLAG.cname) === 0) return this.#noData();
    if (this.#chain.isClosed()) return FLAG.authoritative;
    if (lookup.unmatched > 0) this.#denial.wildcard();
    return this.#chain.follow() ? ALIAS : FLAG.authoritative;
  }

  #positive(set: number): number {
    const lookup = this.#lookup;
    const { name, data } = lookup;
    const reply = this.#reply;
    const first = reply.at;
    if (data.sets.typeOf(set) === TYPE.DNAME && this.#chain.hasApplied(name.node)) return FLAG.authoritative;
    reply.answers += reply.writeSet(lookup, set, name, KEEP_TTL);
    if ((lookup.flags & ACCOMPANIED) !== 0) this.#accompany(set, first);
    return FLAG.authoritative;
  }

  /**
   * Adds what accompanies a set of records, which begin at `first`: with DO its signatures, and with NS records, which a resolver
   * may prime with (RFC 9609), also their addresses.
   */
  #accompany(set: number, first: number): void {
    const lookup = this.#lookup;
    const reply = this.#reply;
    const end = reply.at;
    const type = lookup.data.sets.typeOf(set);
    if (this.#signed.dnssecOk && (lookup.flags & SHAPE_FLAG.signed) !== 0) {
      reply.answers += this.#signed.writeSignatures(lookup, type, lookup.name, KEEP_TTL);
      if (lookup.unmatched > 0) this.#denial.wildcard();
    }
    if (type !== TYPE.NS || lookup.apex.node === NONE || reply.isFull) return;
    this.#denial.flush();
    reply.endRequired();
    this.#addresses.write(lookup, first, end);
  }

  /** Writes the signatures of all sets of the name. */
  #allSignatures(): number {
    const lookup = this.#lookup;
    const { name, data } = lookup;
    for (const set of data.sets.setsOf(data.names.shapeOf(name.node))) {
      const type = data.sets.typeOf(set);
      if ((type & SIGNATURES) === 0) continue;
      const isOfDname = type === (SIGNATURES | TYPE.DNAME);
      if (isOfDname && this.#signed.dnssecOk && this.#chain.hasApplied(name.node)) continue;
      this.#reply.answers += this.#reply.writeSet(lookup, set, name, KEEP_TTL);
    }
    return FLAG.authoritative;
  }

  #noName(): number {
    this.#denial.noName();
    return this.#negative(RCODE.NXDOMAIN);
  }

  #noData(): number {
    this.#denial.noType();
    return this.#negative(RCODE.NOERROR);
  }

  /** Adds the zone's SOA record, if there is a zone, with the negative TTL (RFC 2308, section 3). */
  #negative(code: number): number {
    const lookup = this.#lookup;
    const { apex, data } = lookup;
    if (apex.node !== NONE) {
      const soa = data.setAt(apex.node, TYPE.SOA);
      this.#reply.authorities += this.#signed.write(lookup, soa, apex, data.sets.negativeTtl(soa));
    }
    // The RCODE is that of the chain's end, AA that of its start (RFC 6604, section 2.1).
    return FLAG.authoritative | code;
  }

  /** With DO: writes the DS records of a delegation, or the proof that there are none (RFC 4035, section 3.1.4). */
  #delegationSigner(): void {
    const lookup = this.#lookup;
    const { data, apex, cut } = lookup;
    // Only a signed zone can say anything about DS records.
    if (this.#signed.signaturesOf(data, TYPE.SOA, apex.node) === NONE) return;
    const ds = data.setAt(cut.node, TYPE.DS);
    if (ds === NONE) this.#denial.noDs();
    else this.#reply.authorities += this.#signed.write(lookup, ds, cut, KEEP_TTL);
    this.#denial.flush();
  }

  /** Writes the child's name servers, and those of their addresses that are in our zone. */
  #referral(depth: number): number {
    const lookup = this.#lookup;
    const { cut, data } = lookup;
    const reply = this.#reply;
    const first = reply.at;
    reply.authorities += reply.writeSet(lookup, data.setAt(cut.node, TYPE.NS), cut, KEEP_TTL);
    const end = reply.at;
    this.#delegationSigner();
    this.#addresses.write(lookup, first, end);
    return depth === 0 ? 0 : FLAG.authoritative;
  }
}
