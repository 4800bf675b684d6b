/** Record sets as they are given to a store and read from it. */

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
export function distinct(records: readonly StoredRecord[]): readonly StoredRecord[] {
  if (records.length < 2) return records;
  const kept = new Map<string, StoredRecord>();
  for (const record of records) {
    const key = record.data.toString('latin1');
    if (!kept.has(key)) kept.set(key, record);
  }
  return [...kept.values()];
}
