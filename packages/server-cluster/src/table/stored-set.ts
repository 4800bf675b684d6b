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

/** The sets plus one: a new set, or its records added to the set of that type, without duplicates. */
export function withSet(sets: readonly StoredSet[], added: StoredSet): readonly StoredSet[] {
  if (added.records.length === 0) return sets;
  const existing = sets.find(({ type }) => type === added.type);
  if (existing === undefined) return [...sets, { type: added.type, records: distinct(added.records) }];
  const records = distinct([...existing.records, ...added.records]);
  return sets.map((set) => (set === existing ? { ...set, records } : set));
}

/** An RRset has no duplicates (RFC 2181, section 5). */
function distinct(records: readonly StoredRecord[]): readonly StoredRecord[] {
  if (records.length < 2) return records;
  const kept = new Map<string, StoredRecord>();
  for (const record of records) {
    const key = record.data.toString('latin1');
    if (!kept.has(key)) kept.set(key, record);
  }
  return [...kept.values()];
}

export function splitSignatures(sets: readonly StoredSet[]): readonly StoredSet[] {
  const signatures = sets.find(({ type }) => type === TYPE.RRSIG);
  if (signatures === undefined) return sets;
  const byCovered = Map.groupBy(signatures.records, ({ data }) =>
    data.length < 2 ? 0 : data.readUInt16BE(0),
  );
  const split = Array.from(byCovered, ([covered, records]) => ({ type: SIGNATURES | covered, records }));
  // Last, because type ANY gets the first set.
  return [...sets.filter((set) => set !== signatures), ...split];
}

export function joinSignatures(sets: readonly StoredSet[]): StoredSet[] {
  const plain = sets.filter(({ type }) => (type & SIGNATURES) === 0);
  const records = sets.filter(({ type }) => (type & SIGNATURES) !== 0).flatMap((set) => set.records);
  return records.length === 0 ? plain : [...plain, { type: TYPE.RRSIG, records }];
}
