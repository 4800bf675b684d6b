/**
 * Answers from the records of a `ZoneStore` as an authoritative server must (RFC 1034, section 4.3.2, RFC 2308,
 * RFC 4592, RFC 6604, RFC 8482). A zone begins at a name that has an SOA record and ends where a name below
 * has NS records.
 */
import { FLAG, RCODE } from '../wire/codes.ts';
import { TYPE } from '../wire/rdata.ts';
import { OUTSIDE } from './answers.ts';
import { NONE } from './arena.ts';
import { Finder } from './finder.ts';
import { MAX_LABELS } from './query-reader.ts';
import { RECORD_HEAD, SHAPE_FLAG, SHAPE_WORD } from './record-sets.ts';
import { KEEP_TTL, type ReplyWriter } from './reply-writer.ts';
import type { ZoneData } from './zone-data.ts';

/** CNAMEs followed for one question. Longer chains end in what was found until then. */
const MAX_CHAIN = 8;

/** IXFR, AXFR, MAILB, MAILA, TKEY, TSIG and OPT: these ask for something else than records (RFC 6895, section 3.1). */
export function isMetaType(type: number): boolean {
  return (type >= 249 && type <= 254) || type === 41;
}

export class ZoneResponder {
  readonly #reply: ReplyWriter;
  readonly #finder = new Finder();
  readonly #glueFinder = new Finder();
  readonly #labels = new Uint16Array(MAX_LABELS);
  readonly #glueLabels = new Uint16Array(MAX_LABELS);
  /** Aliases of this question so far, so that a loop ends where it closes. */
  readonly #aliases = new Int32Array(MAX_CHAIN + 1);

  constructor(reply: ReplyWriter) {
    this.#reply = reply;
  }

  /**
   * Writes the answer behind the question and returns its flags: response code and AA. `OUTSIDE` if there is
   * none, and then nothing is written.
   */
  answer(
    data: ZoneData,
    bytes: Uint8Array,
    start: number,
    question: Uint16Array,
    count: number,
    type: number,
  ): number {
    const finder = this.#finder;
    let labels = question;
    let labelCount = count;
    for (let depth = 0; ; depth++) {
      finder.find(data, bytes, start, labels, labelCount);
      const nothing = depth === 0 ? OUTSIDE : FLAG.authoritative;
      if (finder.unmatched > 0) {
        if (finder.apex === NONE) return nothing;
        if (finder.cut !== NONE) return this.#referral(data, bytes, start, labels, depth);
        if (!finder.toWildcard(data)) return this.#negative(data, labels, RCODE.NXDOMAIN);
      }
      const { node } = finder;
      // DS belongs to the zone above the cut (RFC 4035, section 3.1.4.1).
      if (finder.cut !== NONE && !(finder.cut === node && type === TYPE.DS)) {
        return this.#referral(data, bytes, start, labels, depth);
      }
      const shape = data.names.shapeOf(node);
      if (shape === NONE) return finder.apex === NONE ? nothing : this.#negative(data, labels, RCODE.NOERROR);
      const set = findSet(data, shape, type);
      if (set !== NONE) {
        this.#reply.answers += this.#write(data, set, node, labels, 0, finder.surplus);
        return FLAG.authoritative;
      }
      const flags = data.sets.arena.words[shape + SHAPE_WORD.flags] ?? 0;
      if ((flags & SHAPE_FLAG.cname) === 0) return this.#noData(data, labels, type);
      if (depth > MAX_CHAIN || this.#isKnown(node, depth)) return FLAG.authoritative;
      const target = this.#reply.at + RECORD_HEAD;
      this.#writeAlias(data, findSet(data, shape, TYPE.CNAME), node, labels);
      if (this.#reply.isFull) return FLAG.authoritative;
      this.#aliases[depth] = node;
      labels = this.#labels;
      labelCount = this.#reply.locate(target, labels);
    }
  }

  /** One alias, though a store may hold several, which a name must not have (RFC 2181, section 10.1). */
  #writeAlias(data: ZoneData, set: number, node: number, labels: Uint16Array): void {
    const reply = this.#reply;
    const first = reply.at;
    if (this.#write(data, set, node, labels, 0, this.#finder.surplus) > 1) reply.keepFirst(first);
    reply.answers++;
  }

  #isKnown(node: number, depth: number): boolean {
    for (let index = 0; index < depth; index++) if (this.#aliases[index] === node) return true;
    return false;
  }

  #write(
    data: ZoneData,
    set: number,
    node: number,
    labels: Uint16Array,
    owner: number,
    surplus: number,
  ): number {
    return this.#reply.writeSet(data.sets, data.names, set, node, labels, owner, surplus, KEEP_TTL);
  }

  /** A missing type. DS at the apex is for the zone above to deny, if that is ours too. */
  #noData(data: ZoneData, labels: Uint16Array, type: number): number {
    const finder = this.#finder;
    if (type === TYPE.DS && finder.apex === finder.node && finder.outerApex !== NONE) {
      finder.apex = finder.outerApex;
      finder.apexLabel = finder.outerApexLabel;
    }
    return this.#negative(data, labels, RCODE.NOERROR);
  }

  /** Adds the zone's SOA record, if there is a zone, with the time the answer may be kept (RFC 2308, section 3). */
  #negative(data: ZoneData, labels: Uint16Array, code: number): number {
    const { apex, apexLabel } = this.#finder;
    if (apex !== NONE) {
      const soa = findSet(data, data.names.shapeOf(apex), TYPE.SOA);
      const reply = this.#reply;
      const ttl = data.sets.negativeTtl(soa);
      reply.authorities += reply.writeSet(data.sets, data.names, soa, apex, labels, apexLabel, 0, ttl);
    }
    // The code is that of the chain's end, the authority that of its beginning (RFC 6604, section 2.1).
    return FLAG.authoritative | code;
  }

  /** The name servers of the zone below, and those of their addresses that are in our zone. */
  #referral(data: ZoneData, bytes: Uint8Array, start: number, labels: Uint16Array, depth: number): number {
    const { cut, cutLabel, cutSurplus, apex } = this.#finder;
    const reply = this.#reply;
    const first = reply.at;
    const servers = findSet(data, data.names.shapeOf(cut), TYPE.NS);
    reply.authorities += this.#write(data, servers, cut, labels, cutLabel, cutSurplus);
    const glue = this.#glueFinder;
    const glueLabels = this.#glueLabels;
    const end = reply.at;
    for (let at = first; at < end; ) {
      const target = at + RECORD_HEAD;
      at = target + ((bytes[start + target - 2] ?? 0) << 8) + (bytes[start + target - 1] ?? 0);
      const count = reply.locate(target, glueLabels);
      glue.find(data, bytes, start, glueLabels, count);
      if (glue.unmatched > 0 || glue.apex !== apex || !reply.canPointTo(glueLabels[0] ?? 0)) continue;
      for (let type: number = TYPE.A; type !== 0; type = type === TYPE.A ? TYPE.AAAA : 0) {
        const set = findSet(data, data.names.shapeOf(glue.node), type);
        if (set !== NONE) reply.additionals += this.#write(data, set, glue.node, glueLabels, 0, 0);
      }
    }
    return depth === 0 ? 0 : FLAG.authoritative;
  }
}

/** The record set of that type; for ANY, the first one (RFC 8482, section 4.1); NONE if there is none. */
export function findSet(data: ZoneData, shape: number, type: number): number {
  if (shape === NONE) return NONE;
  const { words } = data.sets.arena;
  const first = shape + SHAPE_WORD.head;
  if (type === TYPE.ANY) return words[first + 1] ?? NONE;
  const end = first + 2 * (words[shape + SHAPE_WORD.sets] ?? 0);
  for (let at = first; at < end; at += 2) if (words[at] === type) return words[at + 1] ?? NONE;
  return NONE;
}
