/**
 * A zone set: zones named by a pattern, all with the same records. It is never built in memory: zones are
 * generated one by one, and a lookup parses the number from the name.
 */
import { MAX_NAME_BYTES } from '@dinodns-bench/wire';
import { checkZoneSet } from './check.ts';
import { ZonesError } from './errors.ts';
import { normalizeName, ownerOfTarget, wireLength } from './names.ts';
import {
  isInRange,
  type NumberRange,
  nameOf,
  numberIn,
  numberRange,
  type Pattern,
  parsePattern,
} from './pattern.ts';
import {
  aliasOf,
  instantiate,
  type Plan,
  type PlannedRecord,
  planOf,
  type Redirection,
  redirectionOf,
} from './plan.ts';
import type { ResourceRecord } from './record-schema.ts';
import { isRecordType } from './records.ts';
import { parseSpec, type ZoneSetInput, type ZoneSetSpec, zoneSetSpecSchema } from './spec.ts';

export interface Zone {
  /** Lower case, without trailing dot. */
  readonly name: string;
  /** All records, SOA and NS first. */
  readonly records: readonly ResourceRecord[];
}

/** How an authoritative server for exactly these zones must answer. */
export type Lookup =
  /**
   * NOERROR with these records in the answer section. For another type at a CNAME, and for a name below a DNAME, they
   * are the chain as far as it stays in the zone, then the records at its end.
   */
  | { readonly kind: 'answer'; readonly records: readonly ResourceRecord[] }
  /** NOERROR with an empty answer section: the name exists but has no such records. */
  | { readonly kind: 'no-data'; readonly zone: string }
  /** NXDOMAIN: the zone exists, the name does not; with the DNAME and CNAME records that lead to the name, if any. */
  | { readonly kind: 'no-such-name'; readonly zone: string; readonly records?: readonly ResourceRecord[] }
  /** YXDOMAIN with this DNAME record: the name that results would be too long (RFC 6672 §2.2). */
  | { readonly kind: 'name-too-long'; readonly zone: string; readonly records: readonly ResourceRecord[] }
  /** The name is not in any zone: REFUSED or NXDOMAIN, depending on the server. */
  | { readonly kind: 'no-such-zone' };

export interface ZoneSet {
  readonly spec: ZoneSetSpec;
  /** Number of zones, at least 1. */
  readonly size: number;
  /** Names of all zones in ascending order. */
  names(): Iterable<string>;
  /** All zones in ascending order, generated one by one in constant memory. */
  zones(): Iterable<Zone>;
  /**
   * The correct answer, in constant time and memory whatever the size of the set. Letter case and a trailing dot
   * do not matter. For types that zone sets cannot hold, the answer is `no-data`.
   */
  lookup(name: string, type: string): Lookup;
}

function* namesIn(pattern: Pattern, range: NumberRange): Generator<string, void, void> {
  for (let number = range.first; number <= range.last; number += range.step) yield nameOf(pattern, number);
}

/**
 * Defines a zone set; without input, the published one: example1.com, example3.com … example199.com, each
 * with `A 127.0.0.1`. Throws a `ZonesError` (`E_ZONE_SET`) that lists every problem.
 */
export function defineZoneSet(input: ZoneSetInput = {}): ZoneSet {
  const { problems: own, valid } = parseSpec(input);
  const problems = [...own, ...checkZoneSet(valid)];
  if (problems.length > 0) throw new ZonesError('E_ZONE_SET', 'the zone set is not valid', problems);
  const spec = valid as ZoneSetSpec;
  const range = numberRange(spec.from, spec.to, spec.parity);
  if (range === undefined) throw new Error('defineZoneSet: the range has been checked');
  const pattern = parsePattern(spec.pattern);
  const plan = planOf(spec);
  const zone = (name: string): Zone => ({
    name,
    records: plan.records.map((record) => instantiate(record, name)),
  });
  const names = () => namesIn(pattern, range);
  const zoneSet: ZoneSet = {
    spec,
    size: range.count,
    names,
    *zones() {
      for (const name of names()) yield zone(name);
    },
    lookup: (name, type) => lookUp(placeOf(pattern, range, normalizeName(name)), plan, type.toUpperCase()),
  };
  templates.set(zoneSet, { size: range.count, names, zone });
  return zoneSet;
}

/** Zones whose records are in files alone: for formats that are given `zoneFiles`. */
export function zonesInFiles(names: readonly string[]): ZoneSet {
  return {
    spec: zoneSetSpecSchema.parse({ pattern: names.join(', '), from: 0, to: 0, parity: 'all' }),
    size: names.length,
    names: () => names,
    zones: () => names.map((name) => ({ name, records: [] })),
    lookup: () => ({ kind: 'no-such-zone' }),
  };
}

/** How to generate the zones of a set, for programs that generate a million of them in their own way. */
export interface ZoneTemplate {
  /** Number of names. */
  readonly size: number;
  /** In ascending order, lower case, without a trailing dot. */
  names(): Iterable<string>;
  /** The zone under any name, even one that is not in the set. */
  zone(name: string): Zone;
}

const templates = new WeakMap<object, ZoneTemplate>();

/** The template of a zone set from `defineZoneSet`; undefined for anything else, including copies. */
export function zoneTemplate(source: object): ZoneTemplate | undefined {
  return templates.get(source);
}

/** A zone of the set, and a name in it, relative to the zone. */
interface Place {
  readonly zone: string;
  readonly owner: string;
}

/** Splits a name into zone and relative name by the number of labels; undefined if it is in no zone of the set. */
function placeOf(pattern: Pattern, range: NumberRange, name: string): Place | undefined {
  let dot = name.length;
  for (let labels = 0; labels < pattern.labels; labels++) {
    if (dot <= 0) return undefined;
    dot = name.lastIndexOf('.', dot - 1);
  }
  const zone = name.slice(dot + 1);
  const number = numberIn(pattern, zone);
  if (number === undefined || !isInRange(range, number)) return undefined;
  return { zone, owner: dot === -1 ? '@' : name.slice(0, dot) };
}

function lookUp(place: Place | undefined, plan: Plan, type: string): Lookup {
  if (place === undefined) return { kind: 'no-such-zone' };
  const { zone, owner } = place;
  const redirection = redirectionOf(plan, owner);
  if (redirection !== undefined) return redirected(place, plan, type, redirection);
  if (!plan.owners.has(owner)) return { kind: 'no-such-name', zone };
  const records = answerOf(plan, owner, type).map((record) => instantiate(record, zone));
  return records.length === 0 ? { kind: 'no-data', zone } : { kind: 'answer', records };
}

/** The answer for a name below a DNAME record: the DNAME, the synthesised CNAME, and what that leads to. */
function redirected(place: Place, plan: Plan, type: string, redirection: Redirection): Lookup {
  const { zone, owner } = place;
  const dname = instantiate(redirection, zone);
  const alias = aliasOf(redirection, owner);
  const cname = instantiate(alias, zone);
  if (cname.type === 'CNAME' && wireLength(cname.data) > MAX_NAME_BYTES) {
    return { kind: 'name-too-long', zone, records: [dname] };
  }
  const aliases = [dname, cname];
  const next = ownerOfTarget(alias.data);
  if (next === undefined || type === 'CNAME') return { kind: 'answer', records: aliases };
  const end = lookUp({ zone, owner: next }, plan, type);
  const records = 'records' in end ? [...aliases, ...(end.records ?? [])] : aliases;
  if (end.kind === 'no-such-name' || end.kind === 'name-too-long') return { ...end, records };
  return { kind: 'answer', records };
}

/** Records of that type, after the CNAMEs that lead to them within the zone. */
export function answerOf(plan: Plan, owner: string, type: string): PlannedRecord[] {
  const types = plan.owners.get(owner);
  if (types === undefined) return [];
  const own = isRecordType(type) ? types.get(type) : undefined;
  if (own !== undefined) return [...own];
  const cname = types.get('CNAME')?.[0];
  if (cname?.type !== 'CNAME') return [];
  const next = ownerOfTarget(cname.data);
  return next === undefined ? [cname] : [cname, ...answerOf(plan, next, type)];
}
