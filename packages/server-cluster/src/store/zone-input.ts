/** Records as given to a store, and their conversion to bytes. */
import { messageOf } from '@dinodns-bench/program';
import { encodeName } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import type { StoredSet } from '../table/stored-set.ts';
import { encodeData } from '../wire/rdata.ts';
import { typeNumber } from '../wire/types.ts';

export interface RecordInput {
  readonly name: string;
  readonly type: string;
  /** In seconds. */
  readonly ttl: number;
  readonly data: unknown;
}

/** A zone as `@dinodns-bench/zones` yields it. */
export interface ZoneInput {
  readonly name: string;
  readonly records: Iterable<RecordInput>;
}

/** A record of class IN; names are absolute and uncompressed. */
export interface WireRecord {
  readonly name: Buffer;
  readonly type: number;
  /** In seconds. */
  readonly ttl: number;
  readonly data: Buffer;
}

/** A record with its names in wire format. Throws a TypeError that names an invalid record. */
export function toRecord({ name, type, ttl, data }: RecordInput): WireRecord {
  try {
    if (!Number.isInteger(ttl) || ttl < 0 || ttl > 0x7fff_ffff) {
      throw new RangeError(`the TTL ${ttl} is not a whole number from 0 to 2147483647 (RFC 2181, section 8)`);
    }
    const owner = encodeName(name);
    // The types of `dns-packet` are a union over all record types; the encoder is what checks the data.
    const bytes = encodeData({ name, type, data } as SupportedAnswer);
    if (bytes.length > 0xffff)
      throw new RangeError(`the data has ${bytes.length} bytes; the maximum is 65535`);
    return { name: owner, type: typeNumber(type), ttl, data: bytes };
  } catch (error) {
    const problem = `The ${type} record of "${name}" cannot be encoded: ${messageOf(error)}`;
    throw new TypeError(problem, { cause: error });
  }
}

/** Records of one name and type. Throws as `toRecord`. */
export function toSet(name: string, type: string, ttl: number, items: readonly unknown[]): StoredSet {
  return { type: typeNumber(type), records: items.map((data) => toRecord({ name, type, ttl, data })) };
}
