/**
 * The canonical text of a zone, by which tests compare what was read: what `named-compilezone -s full` prints. Names are in
 * the order of RFC 4034, section 6.1. At each name, SOA and NS come first, then the other types by number, each followed by
 * its signatures. The records of an RRset are in the order of their bytes (section 6.3), one per line. NSEC3 records come last.
 */
import { compareLabels, lowerCaseName, namesIn, TYPE, typeName, typeNumber } from '@dinodns-bench/wire';
import { dataText, isWithin, type ZoneRecord, zoneFileName } from '../../src/index.ts';

/** Minimum length of a chunk but the last, in characters. */
const CHUNK_CHARACTERS = 64 * 1024;

/** Columns in which BIND writes the TTL and the data. Tab stops are eight columns apart. */
const TTL_COLUMN = 46;
const DATA_COLUMN = 64;
const TAB = 8;

/** The offsets of a name's labels, including the root. */
function labelStarts(name: Uint8Array): number[] {
  const starts = [0];
  for (let at = 0; (name[at] ?? 0) !== 0; starts.push(at)) at += (name[at] ?? 0) + 1;
  return starts;
}

/** Canonical order (RFC 4034, section 6.1): labels from the right, compared as bytes in lower case. */
function compareNames(a: Uint8Array, b: Uint8Array): number {
  const ours = labelStarts(a);
  const theirs = labelStarts(b);
  for (let label = 2; label <= ours.length && label <= theirs.length; label++) {
    const difference = compareLabels(a, ours.at(-label) ?? 0, b, theirs.at(-label) ?? 0);
    if (difference !== 0) return difference;
  }
  return ours.length - theirs.length;
}

/** An RRset: the records of one name and type. Signatures form a set for each type that they cover. */
interface RecordSet {
  /** In the letter case of the set's first record. */
  readonly name: Uint8Array;
  readonly type: number;
  ttl: number;
  /** In canonical order, without duplicates. */
  readonly data: readonly Uint8Array[];
}

/** The type that a signature covers; 0 for other records. */
function coveredBy(type: number, data: Uint8Array): number {
  return type === TYPE.RRSIG || type === TYPE.SIG ? ((data[0] ?? 0) << 8) | (data[1] ?? 0) : 0;
}

function rankOf({ type }: RecordSet, covered: number): number {
  const subject = type === TYPE.RRSIG ? covered : type;
  const rank = subject === TYPE.SOA ? 0 : subject === TYPE.NS ? 1 : subject + 2;
  return 2 * rank + (type === TYPE.RRSIG ? 1 : 0);
}

interface OpenSet extends RecordSet {
  readonly data: Uint8Array[];
  readonly covered: number;
  /** The last run of records with this owner that added to the set. */
  run: number;
}

/**
 * Gathers records into RRsets as BIND does. A set takes its TTL from its first record in the last run of records with
 * the same owner. Addresses of the name servers in a run (glue) do not end the run.
 */
class SetCollector {
  readonly owners = new Map<string, { readonly name: Buffer; readonly sets: OpenSet[] }>();
  #lastKey = '';
  #glueKey = '';
  #run = 0;
  #glueRun = 0;
  #runs = 0;
  readonly #nameServers = new Set<string>();

  /** The run that a record of this owner belongs to. */
  #runOf(key: string): number {
    if (key === this.#glueKey) return this.#glueRun;
    this.#glueKey = '';
    if (key === this.#lastKey) return this.#run;
    if (this.#nameServers.has(key)) {
      this.#glueKey = key;
      this.#glueRun = ++this.#runs;
      return this.#glueRun;
    }
    this.#nameServers.clear();
    this.#lastKey = key;
    this.#run = ++this.#runs;
    return this.#run;
  }

  add({ name, type, ttl, data }: ZoneRecord): void {
    const lower = lowerCaseName(name);
    const key = lower.toString('latin1');
    const run = this.#runOf(key);
    if (type === TYPE.NS && this.#glueKey === '')
      this.#nameServers.add(lowerCaseName(data).toString('latin1'));
    const owner = this.owners.get(key) ?? { name: lower, sets: [] };
    if (owner.sets.length === 0) this.owners.set(key, owner);
    const covered = coveredBy(type, data);
    const set = owner.sets.find((other) => other.type === type && other.covered === covered);
    if (set === undefined) {
      owner.sets.push({ name, type, ttl, data: [data], covered, run });
      return;
    }
    if (set.run !== run) set.ttl = ttl;
    set.run = run;
    set.data.push(data);
  }
}

/** Types with names that compare without regard to case (RFC 4034, section 6.2, except NSEC: RFC 6840, section 5.1). */
const TYPES_WITH_NAMES: ReadonlySet<number | undefined> = new Set(
  'NS MD MF CNAME SOA MB MG MR PTR MINFO MX RP AFSDB RT SIG PX NXT NAPTR KX SRV DNAME RRSIG'
    .split(' ')
    .map(typeNumber),
);

/** Data in canonical form: names in the data of the older types are in lower case; `data` itself if it has no such names. */
function canonicalData(type: number, data: Uint8Array): Uint8Array {
  if (!TYPES_WITH_NAMES.has(type)) return data;
  const canonical = Uint8Array.from(data);
  for (const [start, end] of namesIn(type, data))
    canonical.set(lowerCaseName(data.subarray(start, end)), start);
  return canonical;
}

/** Sorted, without duplicates. */
function distinct(type: number, data: readonly Uint8Array[]): Uint8Array[] {
  return data
    .map((bytes) => ({ bytes, canonical: canonicalData(type, bytes) }))
    .sort((one, other) => Buffer.compare(one.canonical, other.canonical))
    .filter(({ canonical }, at, sorted) => {
      const before = sorted[at - 1];
      return before === undefined || Buffer.compare(canonical, before.canonical) !== 0;
    })
    .map(({ bytes }) => bytes);
}

/**
 * The RRsets of a zone in canonical order. Records outside `zone` are omitted. Keeps all records in memory.
 */
function* canonicalSets(records: Iterable<ZoneRecord>, zone?: Uint8Array): Generator<RecordSet, void, void> {
  const collector = new SetCollector();
  for (const record of records) if (zone === undefined || isWithin(record.name, zone)) collector.add(record);
  const owners = [...collector.owners.values()].sort((a, b) => compareNames(a.name, b.name));
  const isHashed = (set: OpenSet) =>
    set.type === TYPE.NSEC3 || (set.type === TYPE.RRSIG && set.covered === TYPE.NSEC3);
  for (const hashed of [false, true]) {
    for (const { sets } of owners) {
      const ordered = sets
        .filter((set) => isHashed(set) === hashed)
        .sort((a, b) => rankOf(a, a.covered) - rankOf(b, b.covered));
      for (const { name, type, ttl, data } of ordered) {
        yield { name, type, ttl, data: distinct(type, data) };
      }
    }
  }
}

/** White space from one column to another, at least one character, as BIND writes it. */
function blanks(from: number, to: number): string {
  const end = Math.max(to, from + 1);
  const tabs = Math.floor(end / TAB) - Math.floor(from / TAB);
  return tabs > 0 ? '\t'.repeat(tabs) + ' '.repeat(end % TAB) : ' '.repeat(end - from);
}

function columnAfter(column: number, text: string): number {
  let at = column;
  for (const character of text) at += character === '\t' ? TAB - (at % TAB) : 1;
  return at;
}

/** One line of text for a record, without the line break. Throws a `DataError` if the data is not valid for its type. */
export function recordText(set: Omit<RecordSet, 'data'>, data: Uint8Array): string {
  let line = zoneFileName(set.name);
  let column = line.length;
  const add = (text: string, to: number) => {
    const space = blanks(column, to);
    line += space + text;
    column = columnAfter(column, space) + text.length;
  };
  add(String(set.ttl), TTL_COLUMN);
  add('IN', TTL_COLUMN);
  add(typeName(set.type), TTL_COLUMN);
  add(dataText(set.type, data), DATA_COLUMN);
  return line;
}

/** The text of a zone in canonical form, in chunks. */
export function* canonicalText(
  records: Iterable<ZoneRecord>,
  zone?: Uint8Array,
): Generator<string, void, void> {
  let chunk = '';
  for (const set of canonicalSets(records, zone)) {
    for (const data of set.data) {
      chunk += `${recordText(set, data)}\n`;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}
