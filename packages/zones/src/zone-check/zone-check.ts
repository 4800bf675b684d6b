/**
 * Checks a zone as a whole: even if every record is valid, the zone may be impossible to serve, or not mean what it
 * should. Errors are what most of BIND, NSD, Knot DNS and PowerDNS refuse; warnings are what some of them refuse or
 * warn about. test/zone-check/zone-check.servers.test.ts compares their verdicts.
 */
import { lowerCaseName, namesAt, nameText, TYPE, typeName } from '@dinodns-bench/wire';

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

export interface ZoneFinding {
  /** Stable, for programs: `no-soa`, `cname-and-other`, … */
  readonly rule: string;
  /** `error`: the zone must not be served. */
  readonly severity: 'error' | 'warning';
  /** What is wrong, after the place if that is known: `example.zone:7: …`. */
  readonly problem: string;
  readonly fix: string;
  /** The record that it is about, if there is one. */
  readonly record?: CheckedRecord;
}

/** Types of which a name has at most one record (RFC 1035, section 5.2; RFC 2181, section 10.1; RFC 6672, section 2.4). */
const SINGLE_TYPES = new Map<number, 'two-soa' | 'two-cname' | 'two-dname'>([
  [TYPE.SOA, 'two-soa'],
  [TYPE.CNAME, 'two-cname'],
  [TYPE.DNAME, 'two-dname'],
]);
/** Types that may be beside a CNAME record (RFC 4035, section 2.5; RFC 2535 for SIG, KEY and NXT). */
const BESIDE_CNAME: readonly number[] = [TYPE.CNAME, TYPE.RRSIG, TYPE.NSEC, TYPE.SIG, TYPE.KEY, TYPE.NXT];
/** What the parent zone holds at a zone cut, including addresses, which may be glue. */
const AT_CUT: readonly number[] = [TYPE.NS, TYPE.DS, TYPE.NSEC, TYPE.RRSIG, TYPE.A, TYPE.AAAA];
const GLUE: readonly number[] = [TYPE.A, TYPE.AAAA];
/**
 * Iterations of NSEC3 beyond this serve nobody: RFC 9276 (section 3.1) asks for 0, and BIND and Knot Resolver treat a zone with
 * more than 50 as unsigned (CVE-2023-50868). Each costs a hash for every label of a name that does not exist: 65,535 of them
 * take 70 ms of one CPU for each query.
 */
export const MAX_NSEC3_ITERATIONS = 50;
const WILDCARD_LABEL = '\x01*';

const ALONE_FIX = 'keep one of them';
const HOST_FIX = 'add an A or AAAA record for it, or point to another host';

/** What each rule means for the zone, and how its findings are mended. */
const RULES = {
  'no-soa': ['error', 'add "@ SOA …", or give the correct name of the zone'],
  'no-ns': ['error', 'add an NS record for each name server of the zone (RFC 1912, section 2.8)'],
  'nsec3-iterations': ['error', 'sign the zone with 0 iterations (RFC 9276, section 3.1)'],
  'outside-zone': ['warning', 'move it to the zone that it belongs to, or end the name without a dot'],
  'two-soa': ['error', ALONE_FIX],
  'two-cname': ['error', ALONE_FIX],
  'two-dname': ['error', ALONE_FIX],
  'ttl-differs': ['warning', 'give all of them the same TTL (RFC 2181, section 5.2)'],
  'cname-and-other': ['error', 'keep the CNAME record or the others (RFC 1034, section 3.6.2)'],
  'soa-below': ['error', 'move it to a zone of its own'],
  'ds-at-apex': ['warning', 'put it into the parent zone (RFC 4035, section 2.4)'],
  'ds-without-ns': ['warning', 'add the NS records of the delegation, or remove it'],
  'wildcard-ns': ['warning', 'name each delegation (RFC 4592, section 4.2)'],
  'dname-at-cut': ['warning', 'put it into the child zone (RFC 6672, section 2.3)'],
  occluded: ['warning', 'put them into the child zone'],
  'below-dname': ['error', 'remove the DNAME record or the names below it (RFC 6672, section 2.4)'],
  'host-is-alias': ['warning', HOST_FIX],
  'no-address': ['warning', HOST_FIX],
} as const satisfies Record<string, readonly [ZoneFinding['severity'], fix: string]>;

/**
 * What is wrong with a zone: errors first, in the order of the rules. `origin` is the zone's name. Records may come in any
 * order; places are used if they are known.
 */
export function checkZone(origin: Uint8Array, records: Iterable<CheckedRecord>): readonly ZoneFinding[] {
  const found = [...findingsOf(contentsOf(origin, records))];
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  return [...errors, ...warnings];
}

type Findings = Generator<ZoneFinding, void, void>;

function* findingsOf(contents: ZoneContents): Findings {
  yield* apexFindings(contents);
  yield* hashFindings(contents);
  for (const record of contents.outside)
    yield finding('outside-zone', record, `the ${labelOf(record)} is outside the zone and is ignored`);
  for (const [key, types] of contents.names) {
    yield* nameFindings(contents, key, types);
    yield* placeFindings(contents, key, types);
    yield* hostFindings(contents, types);
  }
}

function finding(rule: keyof typeof RULES, record: CheckedRecord | undefined, problem: string): ZoneFinding {
  const [severity, fix] = RULES[rule];
  if (record === undefined) return { rule, severity, problem, fix };
  const { file, line } = record;
  const place = file === undefined ? '' : `${file}:${line === undefined ? '' : `${line}:`} `;
  return { rule, severity, problem: place + problem, fix, record };
}

function textOf(key: string): string {
  const name = nameText(Buffer.from(key, 'latin1'), 0);
  return name === '.' ? name : `${name}.`;
}

function labelOf(record: CheckedRecord): string {
  return `${typeName(record.type)} record at ${textOf(keyOf(record.name))}`;
}

/** A zone has one SOA record, and NS records, at its name (RFC 1035, section 5.2). */
function* apexFindings({ names, origin }: ZoneContents): Findings {
  const types = names.get(origin);
  if (!types?.has(TYPE.SOA)) yield finding('no-soa', undefined, `${textOf(origin)} has no SOA record`);
  if (!types?.has(TYPE.NS)) yield finding('no-ns', undefined, `${textOf(origin)} has no NS record`);
}

/** What is wrong with a record of NSEC3 or NSEC3PARAM; undefined if nothing is. */
export function hashFinding(record: CheckedRecord): ZoneFinding | undefined {
  if (record.type !== TYPE.NSEC3 && record.type !== TYPE.NSEC3PARAM) return undefined;
  // Hash algorithm and flags come first (RFC 5155, section 3.2).
  const iterations = ((record.data[2] ?? 0) << 8) | (record.data[3] ?? 0);
  if (iterations <= MAX_NSEC3_ITERATIONS) return undefined;
  const limit = `${typeName(record.type)} has ${iterations} iterations, and ${MAX_NSEC3_ITERATIONS} are allowed`;
  return finding('nsec3-iterations', record, limit);
}

/** The first of them: a signed zone has one for each name. */
function* hashFindings({ names }: ZoneContents): Findings {
  for (const types of names.values()) {
    for (const record of [...(types.get(TYPE.NSEC3PARAM) ?? []), ...(types.get(TYPE.NSEC3) ?? [])]) {
      const found = hashFinding(record);
      if (found === undefined) continue;
      yield found;
      return;
    }
  }
}

/** Rules for the records of one name. */
function* nameFindings({ origin }: ZoneContents, key: string, types: RecordsByType): Findings {
  for (const [type, records] of types) {
    const [first, second] = records;
    const rule = SINGLE_TYPES.get(type);
    if (rule !== undefined && second !== undefined)
      yield finding(rule, second, `there is a second ${labelOf(second)}`);
    const other = records.find(({ ttl }) => ttl !== first?.ttl);
    if (other !== undefined && type !== TYPE.RRSIG) {
      const problem = `the TTL ${other.ttl} of the ${labelOf(other)} differs from ${first?.ttl}`;
      yield finding('ttl-differs', other, problem);
    }
  }
  const cname = types.get(TYPE.CNAME)?.[0];
  const besides = [...types.keys()].find((type) => !BESIDE_CNAME.includes(type));
  if (cname !== undefined && besides !== undefined) {
    const later = [cname, ...(types.get(besides) ?? [])].reduce((one, other) =>
      (other.line ?? 0) > (one.line ?? 0) ? other : one,
    );
    const problem = `${textOf(key)} has a CNAME record beside ${typeName(besides)}`;
    yield finding('cname-and-other', later, problem);
  }
  const soa = types.get(TYPE.SOA)?.[0];
  if (soa !== undefined && key !== origin)
    yield finding('soa-below', soa, `the ${labelOf(soa)} is not at the zone's name`);
  const ds = types.get(TYPE.DS)?.[0];
  if (ds === undefined) return;
  if (key === origin) yield finding('ds-at-apex', ds, `the ${labelOf(ds)} is at the zone's own name`);
  else if (!types.has(TYPE.NS))
    yield finding('ds-without-ns', ds, `the ${labelOf(ds)} has no NS records beside it`);
}

/** Rules for where a name is: below a DNAME record, at or below a delegation, or a wildcard. */
function* placeFindings({ names, origin }: ZoneContents, key: string, types: RecordsByType): Findings {
  const first = types.values().next().value?.[0];
  const ns = types.get(TYPE.NS)?.[0];
  const dname = types.get(TYPE.DNAME)?.[0];
  const isCut = ns !== undefined && key !== origin;
  if (ns !== undefined && key.startsWith(WILDCARD_LABEL))
    yield finding('wildcard-ns', ns, `the ${labelOf(ns)} delegates a wildcard`);
  if (isCut && dname !== undefined)
    yield finding('dname-at-cut', dname, `the ${labelOf(dname)} is at a delegation, and has no effect`);
  const stray = isCut
    ? [...types.keys()].find((type) => !AT_CUT.includes(type) && type !== TYPE.DNAME)
    : undefined;
  if (stray !== undefined) {
    const problem = `${textOf(key)} is delegated, so its ${typeName(stray)} records are never served`;
    yield finding('occluded', types.get(stray)?.[0], problem);
  }
  for (const above of keysAbove(key, origin)) {
    const upper = names.get(above);
    const isDelegated = above !== origin && upper?.has(TYPE.NS) === true;
    if (upper?.has(TYPE.DNAME) === true && !isDelegated) {
      yield finding('below-dname', first, `${textOf(key)} is below the DNAME record at ${textOf(above)}`);
      return;
    }
    const hidden = [...types.keys()].find((type) => !GLUE.includes(type) && type !== TYPE.RRSIG);
    if (isDelegated && hidden !== undefined) {
      const problem = `${textOf(key)} is below the delegation of ${textOf(above)}, so its ${typeName(hidden)} records are never served`;
      yield finding('occluded', types.get(hidden)?.[0], problem);
      return;
    }
  }
}

/** Hosts in the zone that records point to need an address, and must not be aliases (RFC 2181, section 10.3). */
function* hostFindings(contents: ZoneContents, types: RecordsByType): Findings {
  for (const record of [...types.values()].flat()) {
    const host = hostOf(record);
    if (host === undefined || !isInside(host, contents.origin)) continue;
    const rule = hostRule(contents, host, record.type);
    const why = rule === 'host-is-alias' ? 'is an alias' : 'has no address in the zone';
    if (rule !== undefined)
      yield finding(rule, record, `the ${labelOf(record)} points to ${textOf(host)}, which ${why}`);
  }
}

/** The rule that a host within the zone breaks, if any. */
function hostRule(
  { names, origin }: ZoneContents,
  host: string,
  type: number,
): 'host-is-alias' | 'no-address' | undefined {
  const types = names.get(host);
  if (types?.has(TYPE.CNAME)) return 'host-is-alias';
  if (types?.has(TYPE.A) || types?.has(TYPE.AAAA)) return undefined;
  const isElsewhere = [...keysAbove(host, origin)].some((above) => {
    const upper = names.get(above);
    // The child zone answers for names below a cut, but its name servers need glue here; wildcards and DNAME records answer too.
    const isCut = above !== origin && upper?.has(TYPE.NS) === true && type !== TYPE.NS;
    return isCut || upper?.has(TYPE.DNAME) === true || names.has(WILDCARD_LABEL + above);
  });
  return isElsewhere ? undefined : 'no-address';
}

/** What a name holds: the records of each type, in their order. */
type RecordsByType = ReadonlyMap<number, readonly CheckedRecord[]>;

interface ZoneContents {
  readonly origin: string;
  /** By key, see `keyOf`. */
  readonly names: ReadonlyMap<string, RecordsByType>;
  readonly outside: readonly CheckedRecord[];
}

/** The form in which names are compared: their bytes in lower case, as Latin-1 text. */
function keyOf(name: Uint8Array): string {
  return lowerCaseName(name).toString('latin1');
}

/** The ancestors of a name up to the zone's own name, nearest first. */
function* keysAbove(key: string, origin: string): Generator<string, void, void> {
  for (let above = key; above !== origin && above.charCodeAt(0) !== 0; ) {
    above = above.slice(above.charCodeAt(0) + 1);
    yield above;
  }
}

function isInside(key: string, origin: string): boolean {
  return key === origin || [...keysAbove(key, origin)].includes(origin);
}

/** From this many records of one type at one name on, a further one is looked up instead of compared with each. */
const MAX_COMPARED = 8;

const latin1Of = (data: Uint8Array): string =>
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
  const known = long.get(same) ?? new Set(same.map((other) => latin1Of(other.data)));
  long.set(same, known);
  const text = latin1Of(data);
  if (known.has(text)) return;
  known.add(text);
  same.push(record);
}

/** Groups records by name and type; those outside the zone are kept apart. Duplicates count once. */
function contentsOf(zone: Uint8Array, records: Iterable<CheckedRecord>): ZoneContents {
  const origin = keyOf(zone);
  const names = new Map<string, Map<number, CheckedRecord[]>>();
  const outside: CheckedRecord[] = [];
  const long: LongLists = new Map();
  for (const record of records) {
    const key = keyOf(record.name);
    const known = names.get(key);
    if (known === undefined && !isInside(key, origin)) {
      outside.push(record);
      continue;
    }
    const types = known ?? new Map<number, CheckedRecord[]>();
    if (known === undefined) names.set(key, types);
    const same = types.get(record.type);
    if (same === undefined) types.set(record.type, [record]);
    else addOnce(same, record, long);
  }
  return { origin, names, outside };
}

/** Offset in bytes of the host name in the data of the types that have one. */
const HOST_AT = new Map([TYPE.NS, TYPE.MX, TYPE.SRV].map((type) => [Number(type), namesAt(type).before]));

/** The key of the host that a record points to, which must have an address; undefined for other types. */
function hostOf({ type, data }: CheckedRecord): string | undefined {
  const at = HOST_AT.get(type);
  return at === undefined ? undefined : keyOf(data.subarray(at));
}
