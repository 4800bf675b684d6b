/** Records as given to a store, and their conversion to bytes. */
import { canonicalName, encodeName } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import { distinct, type StoredRecord, type StoredSet } from '../table/stored-set.ts';
import { encodeData } from '../wire/rdata.ts';
import { typeNumber } from '../wire/types.ts';

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

/** The record sets of one name; `owner` is in lower case. */
export interface OwnerSets {
  readonly owner: Buffer;
  readonly sets: StoredSet[];
}

/** The records of a zone by name and type. Throws a RangeError or TypeError that names the invalid record. */
export function groupRecords(zone: ZoneInput): OwnerSets[] {
  const owners = new Map<string, Map<number, StoredRecord[]>>();
  for (const { name, type, ttl, data } of zone.records) {
    const set = toSet(name, type, ttl, [data]);
    const key = canonicalName(name);
    const types = owners.get(key) ?? new Map<number, StoredRecord[]>();
    const records = types.get(set.type) ?? [];
    records.push(...set.records);
    owners.set(key, types.set(set.type, records));
  }
  return Array.from(owners, ([key, types]) => ({
    owner: encodeName(key),
    sets: Array.from(types, ([type, records]) => ({ type, records: distinct(records) })),
  }));
}

/** The records as bytes. Throws a TypeError that names the invalid record. */
export function toSet(name: string, type: string, ttl: number, items: readonly unknown[]): StoredSet {
  try {
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > 0x7fff_ffff) {
      throw new RangeError(`the TTL ${ttl} is not a whole number from 0 to 2147483647 (RFC 2181, section 8)`);
    }
    encodeName(name);
    // The types of `dns-packet` are a union over all record types; the encoder is what checks the data.
    const records = items.map((data) => {
      const bytes = encodeData({ name, type, data } as SupportedAnswer);
      if (bytes.length > 0xffff)
        throw new RangeError(`the data has ${bytes.length} bytes; the maximum is 65535`);
      return { ttl, data: bytes };
    });
    return { type: typeNumber(type), records };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`The ${type} record of "${name}" cannot be encoded: ${reason}`, { cause: error });
  }
}
