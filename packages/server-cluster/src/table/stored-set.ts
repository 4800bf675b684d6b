/**
 * Record sets as they are given to a store and read from it. A name's RRSIG set is stored as one set per type covered, so that an
 * answer's signatures are found like its records. To callers they are one set.
 */
import { TYPE } from '@dinodns-bench/wire';

/** Added to the type covered by a set of signatures. */
export const SIGNATURES = 0x2_0000;

/** One record: `data` uncompressed. */
export interface StoredRecord {
  /** In seconds. */
  readonly ttl: number;
  readonly data: Buffer;
}

export interface StoredSet {
  readonly type: number;
  readonly records: readonly StoredRecord[];
}

/** The sets plus one: a new set, or its records added to the set of that type. */
export function withSet(sets: readonly StoredSet[], added: StoredSet): readonly StoredSet[] {
  if (added.records.length === 0) return sets;
  const existing = sets.find(({ type }) => type === added.type);
  if (existing === undefined) return [...sets, asSet(added)];
  const joined = asSet({ ...added, records: [...existing.records, ...added.records] });
  return sets.map((set) => (set === existing ? joined : set));
}

/**
 * An RRset has no duplicates, and one TTL, here that of its first record (RFC 2181, sections 5 and 5.2). Signatures have that of
 * the first one for the same type, as if they were a set of their own.
 */
function asSet({ type, records }: StoredSet): StoredSet {
  if (records.length < 2) return { type, records };
  const kept = new Map<string, StoredRecord>();
  const ttls = new Map<number, number>();
  for (const record of records) {
    const key = record.data.toString('latin1');
    if (kept.has(key)) continue;
    const part = type === TYPE.RRSIG ? typeCovered(record) : type;
    const ttl = ttls.get(part) ?? record.ttl;
    ttls.set(part, ttl);
    kept.set(key, { ttl, data: record.data });
  }
  return { type, records: [...kept.values()] };
}

/** Of a signature. */
function typeCovered({ data }: StoredRecord): number {
  return data.length < 2 ? 0 : data.readUInt16BE(0);
}

export function splitSignatures(sets: readonly StoredSet[]): readonly StoredSet[] {
  const signatures = sets.find(({ type }) => type === TYPE.RRSIG);
  if (signatures === undefined) return sets;
  const byCovered = Map.groupBy(signatures.records, typeCovered);
  const split = Array.from(byCovered, ([covered, records]) => ({ type: SIGNATURES | covered, records }));
  // Last, because type ANY gets the first set.
  return [...sets.filter((set) => set !== signatures), ...split];
}

export function joinSignatures(sets: readonly StoredSet[]): StoredSet[] {
  const plain = sets.filter(({ type }) => (type & SIGNATURES) === 0);
  const records = sets.filter(({ type }) => (type & SIGNATURES) !== 0).flatMap((set) => set.records);
  return records.length === 0 ? plain : [...plain, { type: TYPE.RRSIG, records }];
}
