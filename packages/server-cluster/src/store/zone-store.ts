/**
 * A store for DinoDNS that answers as an authoritative server must, at the cost of a look-up in a map: the
 * answer of a name is worked out and encoded when it is asked for the first time, and kept until the store
 * changes. What is kept is bounded by the names and types that the store holds, not by what clients ask.
 */
import { EventEmitter } from 'node:events';
import type { Store } from 'dinodns/plugins/storage/index.js';
import type { SupportedAnswer, SupportedRecordType, ZoneData } from 'dinodns/types/dns.js';
import type { DNSRequest, DNSResponse, NextFunction } from 'dinodns/types/server.js';
import { FLAG } from '../wire/codes.ts';
import { canonicalKey, canonicalName } from '../wire/names.ts';
import { encodeBody, prepare } from '../wire/sections.ts';
import { compile, type StoredAnswer, synthesise } from './answer.ts';
import { type NameNode, NameTree } from './names-tree.ts';
import { nameError, position, referral, resolveAt, wildcardBelow } from './resolve.ts';

/** TTL in seconds of records that are set without one. */
export const DEFAULT_TTL_SECONDS = 3600;

/** A zone as `@dinodns-bench/zones` yields it. */
export interface ZoneInput {
  readonly name: string;
  readonly records: Iterable<{
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  }>;
}

/** Question types that ask for something else than records (RFC 6895, section 3.1), but for ANY. */
const META_TYPES = new Set(['AXFR', 'IXFR', 'TKEY', 'TSIG', 'OPT', 'UNKNOWN_253', 'UNKNOWN_254']);

function isMissing<T>(value: T | null | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/**
 * Names are compared without regard to ASCII case. A name with an SOA record is the apex of a zone; inside
 * of zones, names that do not exist get NXDOMAIN and missing types an empty answer, both with that SOA
 * record; CNAMEs are followed, wildcards synthesised, delegations referred to. Names outside of all zones
 * are passed on to the next handler, unless they have records of their own.
 */
export class ZoneStore extends EventEmitter implements Store {
  readonly #tree = new NameTree();
  #generation = 0;

  /** Adds all records of a zone. Throws a RangeError or TypeError that names the record that is wrong. */
  addZone(zone: ZoneInput): void {
    for (const { name, type, ttl, data } of zone.records) {
      this.#add(toRecord(name, type, ttl, data));
    }
  }

  /** Replaces the records of one name and type. `ttl` in seconds. */
  set<T extends SupportedRecordType>(
    name: string,
    type: T,
    data: ZoneData[T] | ZoneData[T][],
    ttl: number = DEFAULT_TTL_SECONDS,
  ): void {
    const records = (Array.isArray(data) ? data : [data]).map((item) => toRecord(name, type, ttl, item));
    this.delete(name, type);
    for (const record of records) this.#add(record);
  }

  append<T extends SupportedRecordType>(
    name: string,
    type: T,
    data: ZoneData[T],
    ttl: number = DEFAULT_TTL_SECONDS,
  ): void {
    this.#add(toRecord(name, type, ttl, data));
  }

  /** Removes one record, all records of a type, or all records of a name. */
  delete<T extends SupportedRecordType>(name: string, type?: T, data?: ZoneData[T]): void {
    const node = this.#tree.get(canonicalName(name));
    if (node?.records === undefined) return;
    this.#generation++;
    if (type === undefined) node.records.clear();
    else if (data === undefined) node.records.delete(type);
    else removeRecord(node.records, toRecord(name, type, 0, data));
    this.#tree.prune(node);
  }

  /** The data of a name and type, or of all types; null if there is none. Wildcards are looked up too. */
  get<T extends SupportedRecordType>(name: string, type?: T): ZoneData[T][] | null {
    const key = canonicalName(name);
    let node = this.#tree.get(key);
    if (node === undefined) {
      const encloser = this.#tree.closestEncloser(key);
      node = encloser && this.#tree.get(wildcardBelow(encloser));
    }
    const records =
      type === undefined ? [...(node?.records?.values() ?? [])].flat() : node?.records?.get(type);
    if (records === undefined || records.length === 0) return null;
    return records.map((record) => record.data as ZoneData[T]);
  }

  /** Answers a question about the store's names; calls `next` in any case, as the framework's store does. */
  readonly handler = (request: DNSRequest, response: DNSResponse, next: NextFunction): void => {
    const question = request.packet.raw.questions?.[0];
    if (!response.finished && question !== undefined) {
      const { name, type, class: questionClass = 'IN' } = question;
      const answer = questionClass === 'IN' || questionClass === 'ANY' ? this.lookup(name, type) : null;
      if (answer !== null) {
        // Never authoritative for every class there is (RFC 1035, section 6.2).
        const authoritative = answer.authoritative && questionClass === 'IN' ? FLAG.authoritative : 0;
        response.packet.flags = (response.packet.flags & ~0xf) | authoritative | answer.rcode;
        prepare(response.packet.raw, answer.sections);
        response.resolve();
      }
    }
    next();
  };

  /**
   * The answer to a question whose name was read from the wire; null if no zone of ours is asked for, or
   * something that is not a record (a zone transfer, say).
   */
  lookup(name: string, type: string): StoredAnswer | null {
    const key = canonicalKey(name);
    const node = this.#tree.get(key);
    if (node !== undefined) {
      return this.#fresh(node).answers?.get(type) ?? this.#compileAt(node, type);
    }
    const encloser = this.#tree.closestEncloser(key);
    if (encloser === undefined || META_TYPES.has(type)) return null;
    return this.#fresh(encloser).nameError ?? this.#below(encloser, name, type);
  }

  #add(record: SupportedAnswer): void {
    this.#generation++;
    const node = this.#tree.ensure(record.name);
    node.records ??= new Map();
    const existing = node.records.get(record.type);
    if (existing === undefined) node.records.set(record.type, [record]);
    else if (!existing.some((other) => sameData(other, record))) existing.push(record);
  }

  #fresh(node: NameNode): NameNode {
    if (node.generation !== this.#generation) {
      node.generation = this.#generation;
      node.answers = undefined;
      node.noData = undefined;
      node.nameError = undefined;
    }
    return node;
  }

  #compileAt(node: NameNode, type: string): StoredAnswer | null {
    if (META_TYPES.has(type)) return null;
    const isAlias = node.has('CNAME');
    // Every type that the name lacks has the same answer, so that clients cannot make us keep 65,536.
    const isKept = type === 'ANY' || node.has(type as SupportedRecordType);
    if (!isKept && !isAlias && node.noData !== undefined && type !== 'DS') return node.noData;
    const found = resolveAt(this.#tree, node, type);
    const answer = found === null ? null : compile(found, node.key);
    if (isKept || (isAlias && (node.answers?.size ?? 0) < MAX_ALIAS_TYPES)) {
      if (answer !== null) {
        node.answers ??= new Map();
        node.answers.set(type, answer);
      }
    } else if (!isAlias && type !== 'DS') {
      node.noData = answer;
    }
    return answer;
  }

  /** The answer for a name that does not exist, below one that does. */
  #below(encloser: NameNode, name: string, type: string): StoredAnswer | null {
    const { apex, cut } = position(encloser);
    if (apex === undefined) return null;
    if (cut !== undefined) {
      encloser.nameError = compile(referral(this.#tree, cut), null);
      return encloser.nameError;
    }
    const wildcard = this.#tree.get(wildcardBelow(encloser));
    if (wildcard === undefined) {
      encloser.nameError = compile(nameError(encloser), null);
      return encloser.nameError;
    }
    const answer = this.#fresh(wildcard).answers?.get(type) ?? this.#compileAt(wildcard, type);
    return isMissing(answer) ? null : synthesise(answer, wildcard.key, name);
  }
}

/** Types kept for an alias, whose answer depends on the type: more than clients ask in earnest. */
const MAX_ALIAS_TYPES = 16;

function removeRecord(records: Map<SupportedRecordType, SupportedAnswer[]>, record: SupportedAnswer): void {
  const remaining = records.get(record.type)?.filter((other) => !sameData(other, record)) ?? [];
  if (remaining.length === 0) records.delete(record.type);
  else records.set(record.type, remaining);
}

/** Whether two records of one name and type hold the same data (RFC 2181, section 5). */
function sameData(one: SupportedAnswer, other: SupportedAnswer): boolean {
  const data = (record: SupportedAnswer) => encodeBody(record).subarray(8);
  return data(one).equals(data(other));
}

function toRecord(name: string, type: string, ttl: number, data: unknown): SupportedAnswer {
  // The types of `dns-packet` are a union over all record types; the encoder is what checks the data.
  const record = { name: canonicalName(name), type, class: 'IN', ttl, data } as SupportedAnswer;
  try {
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > 0x7fff_ffff) {
      throw new RangeError(`the TTL ${ttl} is not a whole number from 0 to 2147483647 (RFC 2181, section 8)`);
    }
    encodeBody(record);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`The ${type} record of "${name}" cannot be encoded: ${reason}`, { cause: error });
  }
  return record;
}
