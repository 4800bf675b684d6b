/** The records of a zone by name, for rules that look at more than one record. */
import { lowerCaseName, namesAt, TYPE } from '@dinodns-bench/wire';

/** A record to check; its place is optional. Names are absolute and uncompressed. */
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

/** The form in which names are compared: their bytes in lower case, as Latin-1 text. */
export function keyOf(name: Uint8Array): string {
  return lowerCaseName(name).toString('latin1');
}

/** The ancestors of a name up to the zone's own name, nearest first. */
export function* keysAbove(key: string, origin: string): Generator<string, void, void> {
  for (let above = key; above !== origin && above.charCodeAt(0) !== 0; ) {
    above = above.slice(above.charCodeAt(0) + 1);
    yield above;
  }
}

export function isInside(key: string, origin: string): boolean {
  if (key === origin) return true;
  for (const above of keysAbove(key, origin)) if (above === origin) return true;
  return false;
}

/** From this many records of one type at one name on, a further one is looked up instead of compared with each. */
const MAX_COMPARED = 8;

const textOf = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1');

/** The data of lists that have become long. */
type LongLists = Map<readonly CheckedRecord[], Set<string>>;

/** Adds a record to those of its name and type, unless it is there already. */
function addOnce(same: CheckedRecord[], record: CheckedRecord, long: LongLists): void {
  const { data } = record;
  if (same.length < MAX_COMPARED) {
    if (!same.some((other) => Buffer.compare(other.data, data) === 0)) same.push(record);
    return;
  }
  const known = long.get(same) ?? new Set(same.map((other) => textOf(other.data)));
  long.set(same, known);
  const text = textOf(data);
  if (known.has(text)) return;
  known.add(text);
  same.push(record);
}

/** Groups records by name and type; those outside the zone are kept apart. Duplicates count once. */
export function contentsOf(zone: Uint8Array, records: Iterable<CheckedRecord>): ZoneContents {
  const origin = keyOf(zone);
  const names = new Map<string, { name: Uint8Array; types: Map<number, CheckedRecord[]> }>();
  const outside: CheckedRecord[] = [];
  const long: LongLists = new Map();
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
    else addOnce(same, record, long);
  }
  return { origin, names, outside };
}

/** Offset in bytes of the host name in the data of the types that have one. */
const HOST_AT = new Map([TYPE.NS, TYPE.MX, TYPE.SRV].map((type) => [Number(type), namesAt(type).before]));

/** The key of the host that a record points to, which must have an address; undefined for other types. */
export function hostOf({ type, data }: CheckedRecord): string | undefined {
  const at = HOST_AT.get(type);
  return at === undefined ? undefined : keyOf(data.subarray(at));
}
