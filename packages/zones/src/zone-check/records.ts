/** The records of a zone by name, for the rules that look at more than one of them. */
import { LOWER_CASE, TYPE } from '@dinodns-bench/wire';

/** A record to check; where it stands is optional. Names are absolute and uncompressed. */
export interface CheckedRecord {
  readonly name: Uint8Array;
  readonly type: number;
  readonly ttl: number;
  readonly data: Uint8Array;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
}

/** What a name holds: the records of each type, in their order. */
export interface CheckedName {
  readonly name: Uint8Array;
  readonly types: ReadonlyMap<number, readonly CheckedRecord[]>;
}

export interface ZoneContents {
  readonly origin: string;
  /** By key, see `keyOf`. */
  readonly names: ReadonlyMap<string, CheckedName>;
  readonly outside: readonly CheckedRecord[];
}

/** A name as it is compared: its octets in lower case, as Latin-1 text. */
export function keyOf(name: Uint8Array): string {
  let key = '';
  for (const octet of name) key += String.fromCharCode(LOWER_CASE[octet] ?? 0);
  return key;
}

/** The name above this one; undefined for the root. */
export function keyAbove(key: string): string | undefined {
  const octets = key.charCodeAt(0);
  return octets === 0 ? undefined : key.slice(octets + 1);
}

/** The names between this one and the zone, the zone included, from the nearest on. */
export function* keysAbove(key: string, origin: string): Generator<string, void, void> {
  for (let above = key; above !== origin; ) {
    const next = keyAbove(above);
    if (next === undefined) return;
    above = next;
    yield above;
  }
}

export function isInside(key: string, origin: string): boolean {
  if (key === origin) return true;
  for (const above of keysAbove(key, origin)) if (above === origin) return true;
  return false;
}

/** Sorts records by name and type; those outside of the zone are kept apart. A record that comes twice counts once. */
export function contentsOf(zone: Uint8Array, records: Iterable<CheckedRecord>): ZoneContents {
  const origin = keyOf(zone);
  const names = new Map<string, { name: Uint8Array; types: Map<number, CheckedRecord[]> }>();
  const outside: CheckedRecord[] = [];
  for (const record of records) {
    const key = keyOf(record.name);
    const known = names.get(key);
    if (known === undefined && !isInside(key, origin)) {
      outside.push(record);
      continue;
    }
    const entry = known ?? { name: record.name, types: new Map<number, CheckedRecord[]>() };
    if (known === undefined) names.set(key, entry);
    const same = entry.types.get(record.type);
    if (same === undefined) entry.types.set(record.type, [record]);
    else if (!same.some(({ data }) => Buffer.compare(data, record.data) === 0)) same.push(record);
  }
  return { origin, names, outside };
}

/** Octets in front of the host name that a record's data has; undefined for types without one. */
const HOST_AT = new Map<number, number>([
  [TYPE.NS, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
]);

/** The key of the host that a record names, which must have an address; undefined for other types. */
export function hostOf({ type, data }: CheckedRecord): string | undefined {
  const at = HOST_AT.get(type);
  return at === undefined ? undefined : keyOf(data.subarray(at));
}
