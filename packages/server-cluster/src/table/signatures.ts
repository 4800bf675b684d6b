/**
 * RRSIG records beside the sets that they cover. A name's RRSIG set is stored as one set per type covered, so that
 * an answer's signatures are found like its records. To callers they are one set.
 */
import { TYPE } from '@dinodns-bench/wire';
import type { StoredRecord, StoredSet } from './stored-set.ts';

/** Added to the type covered. */
export const SIGNATURES = 0x2_0000;

export function splitSignatures(sets: readonly StoredSet[]): readonly StoredSet[] {
  const signatures = sets.find(({ type }) => type === TYPE.RRSIG);
  if (signatures === undefined) return sets;
  const byCovered = new Map<number, StoredRecord[]>();
  for (const record of signatures.records) {
    const covered = record.data.length < 2 ? 0 : record.data.readUInt16BE(0);
    const others = byCovered.get(covered);
    if (others === undefined) byCovered.set(covered, [record]);
    else others.push(record);
  }
  const split = Array.from(byCovered, ([covered, records]) => ({ type: SIGNATURES | covered, records }));
  // Last, because type ANY gets the first set.
  return [...sets.filter((set) => set !== signatures), ...split];
}

export function joinSignatures(sets: readonly StoredSet[]): StoredSet[] {
  const plain = sets.filter(({ type }) => (type & SIGNATURES) === 0);
  const records = sets.filter(({ type }) => (type & SIGNATURES) !== 0).flatMap((set) => set.records);
  return records.length === 0 ? plain : [...plain, { type: TYPE.RRSIG, records }];
}
