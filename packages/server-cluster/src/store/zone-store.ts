/**
 * A store for DinoDNS that answers as an authoritative server must. Its records are in typed arrays, a few dozen
 * bytes per zone. The handler in the framework's chain and the answer table in front of it both answer from them.
 */

import { EventEmitter } from 'node:events';
import { encodeName, FLAG, lowerCaseName, TYPE } from '@dinodns-bench/wire';
import type { Store } from 'dinodns/plugins/storage/index.js';
import type { ZoneData as DataOf, SupportedRecordType } from 'dinodns/types/dns.js';
import type { DNSRequest, DNSResponse, NextFunction } from 'dinodns/types/server.js';
import { NONE } from '../table/arena.ts';
import { labelOffsets } from '../table/name-tree.ts';
import { RecordLoader } from '../table/record-loader.ts';
import { type StoredRecord, type StoredSet, withSet } from '../table/stored-set.ts';
import { closeZone, holderOf, openZone } from '../table/zone-cuts.ts';
import { ZoneData } from '../table/zone-data.ts';
import { decodeData } from '../wire/rdata.ts';
import { prepare } from '../wire/response.ts';
import { typeNumber } from '../wire/types.ts';
import { type StoredAnswer, StoreView } from './view.ts';
import { toRecord, toSet, type WireRecord, type ZoneInput } from './zone-input.ts';

/** Default TTL of records, in seconds. */
const DEFAULT_TTL_SECONDS = 3600;

/**
 * Names compare case-insensitively (ASCII). A name with an SOA record is the apex of a zone. Within a zone,
 * nonexistent names get NXDOMAIN and missing types NODATA, both with that SOA record; CNAMEs are followed,
 * wildcards synthesised, delegations answered with referrals. Names outside of all zones go to the next handler,
 * unless they have records of their own.
 */
export class ZoneStore extends EventEmitter implements Store {
  #data = new ZoneData();
  #view = new StoreView(this.#data);
  #loader = new RecordLoader(this.#data);

  /** The records as an answer table reads them. `replaceWith` replaces this object. */
  get data(): ZoneData {
    return this.#data;
  }

  /**
   * Adds all records of a zone. If it has an SOA record at its name, here or already in the store, and none elsewhere,
   * its records stay apart from those of the zones above and below it: at a zone cut, DS is answered from the parent.
   * Throws a RangeError or TypeError that names the invalid record.
   */
  addZone(zone: ZoneInput): void {
    const records = Array.from(zone.records, toRecord);
    const name = lowerCaseName(encodeName(zone.name));
    this.#loader.begin(name, this.#apexFor(name, records));
    // Those of a name together: each time that a name returns, all that it holds is written anew.
    const byOwner = Map.groupBy(records, ({ name: owner }) => lowerCaseName(owner).toString('latin1'));
    for (const record of [...byOwner.values()].flat()) {
      const { type, ttl, data } = record;
      this.#loader.add(record.name, 0, record.name.length, type, ttl, data, 0, data.length);
    }
    this.#loader.flush();
  }

  /** Replaces the records of one name and type. `ttl` in seconds. */
  set<T extends SupportedRecordType>(
    name: string,
    type: T,
    data: DataOf[T] | DataOf[T][],
    ttl: number = DEFAULT_TTL_SECONDS,
  ): void {
    const set = toSet(name, type, ttl, Array.isArray(data) ? data : [data]);
    this.#change(name, set.type, (sets) =>
      withSet(
        sets.filter((other) => other.type !== set.type),
        set,
      ),
    );
  }

  append<T extends SupportedRecordType>(
    name: string,
    type: T,
    data: DataOf[T],
    ttl: number = DEFAULT_TTL_SECONDS,
  ): void {
    const set = toSet(name, type, ttl, [data]);
    this.#change(name, set.type, (sets) => withSet(sets, set));
  }

  /** Removes one record, all records of a type, or all records of a name. */
  delete<T extends SupportedRecordType>(name: string, type?: T, data?: DataOf[T]): void {
    const bytes = encodeName(name);
    const node = this.#data.names.find(bytes);
    if (node === NONE) return;
    if (type === undefined) {
      const side = this.#data.names.parentSideOf(node);
      if (side !== NONE) this.#data.writeNode(side, bytes, []);
      this.#data.writeNode(node, bytes, []);
    } else {
      const removed = data === undefined ? undefined : toSet(name, type, 0, [data]).records[0];
      const kept = (record: StoredRecord) => removed !== undefined && !record.data.equals(removed.data);
      const number = typeNumber(type);
      this.#change(name, number, (sets) =>
        sets
          .map((set) => (set.type === number ? { ...set, records: set.records.filter(kept) } : set))
          .filter(({ records }) => records.length > 0),
      );
    }
    closeZone(this.#data, bytes);
  }

  /**
   * The data of a name and type, or of all types; null if there is none. Wildcards apply. The data is decoded from
   * the wire, so a TXT record is a list of buffers, however it was set.
   */
  get<T extends SupportedRecordType>(name: string, type?: T): DataOf[T][] | null {
    const number = type === undefined ? undefined : typeNumber(type);
    const node = holderOf(this.#data, this.#nodeFor(encodeName(name)), number ?? TYPE.ANY);
    const found = (node === NONE ? [] : this.#data.readNode(node))
      .filter((set) => number === undefined || set.type === number)
      .flatMap((set) => set.records.map((record) => decodeData(set.type, record.data) as DataOf[T]));
    return found.length === 0 ? null : found;
  }

  /** Takes over all records of another store at once. The other store must not be used afterwards. */
  replaceWith(other: ZoneStore): void {
    this.#use(other.#data);
    other.#use(new ZoneData());
  }

  #use(data: ZoneData): void {
    this.#data = data;
    this.#view = new StoreView(data);
    this.#loader = new RecordLoader(data);
  }

  /** Answers a question about the store's names. Always calls `next`, as the framework's store does. */
  readonly handler = (request: DNSRequest, response: DNSResponse, next: NextFunction): void => {
    const question = request.packet.raw.questions?.[0];
    if (!response.finished && question !== undefined) {
      const { name, type, class: questionClass = 'IN' } = question;
      const answer =
        questionClass === 'IN' || questionClass === 'ANY'
          ? this.lookup(name, type, isDnssecOk(request))
          : null;
      if (answer !== null) {
        // An answer for class ANY is never authoritative (RFC 1035, section 6.2).
        const authoritative = answer.authoritative && questionClass === 'IN' ? FLAG.authoritative : 0;
        response.packet.flags = (response.packet.flags & ~0xf) | authoritative | answer.rcode;
        prepare(response.packet.raw, answer.sections);
        response.resolve();
      }
    }
    next();
  };

  /**
   * The answer for a name and type; null if it is not this store's to give. With `dnssecOk`, answers from signed
   * zones include signatures and denial of existence. Default: without.
   */
  lookup(name: string, type: string, dnssecOk = false): StoredAnswer | null {
    return this.#view.lookup(name, type, dnssecOk);
  }

  /** The node of a zone whose records are to be kept apart; NONE if they are not. */
  #apexFor(name: Buffer, records: readonly WireRecord[]): number {
    const data = this.#data;
    const apexes = records.filter(({ type }) => type === TYPE.SOA);
    if (apexes.some((soa) => !lowerCaseName(soa.name).equals(name))) return NONE;
    if (apexes.length > 0) return openZone(data, name);
    const node = data.names.find(name);
    return node !== NONE && data.isApex(node) ? node : NONE;
  }

  /** Replaces what holds a name's records of a type. */
  #change(name: string, type: number, changed: (sets: readonly StoredSet[]) => readonly StoredSet[]): void {
    const bytes = encodeName(name);
    const { names } = this.#data;
    const node = holderOf(this.#data, names.ensure(bytes), type);
    this.#data.writeNode(node, bytes, changed(this.#data.readNode(node)));
  }

  /** The name's node, or that of the wildcard that matches it. */
  #nodeFor(name: Uint8Array): number {
    const { names } = this.#data;
    let node = names.root;
    for (const at of labelOffsets(name).reverse()) {
      const child = names.child(node, name, at);
      if (child === NONE) return names.wildcardBelow(node);
      node = child;
    }
    return node;
  }
}

/** Whether the query sets DO (RFC 3225). */
function isDnssecOk(request: DNSRequest): boolean {
  return request.packet.raw.additionals?.some((record) => record.type === 'OPT' && record.flag_do) === true;
}
