/**
 * The records of every zone of a set, stored once with names relative to the zone; formats and lookups use them.
 * The zones of a set differ only in their names.
 */
import { joinParts, partsOf } from '@dinodns-bench/wire';
import { resolveTarget } from './names.ts';
import type { RecordData, ResourceRecord, TypedData } from './record-schema.ts';
import type { RecordType } from './records.ts';
import type { ZoneSetSpec } from './spec.ts';

/** `name` is relative to the zone (`@`: its apex); names in `data` may end in `{zone}`. */
export type PlannedRecord = TypedData & { readonly name: string; readonly ttl: number };

export interface Plan {
  /** In the order of zone files: SOA and NS of the apex first. */
  readonly records: readonly PlannedRecord[];
  /** Every name that exists, with its records by type; empty non-terminals (RFC 8020) have none. */
  readonly owners: ReadonlyMap<string, ReadonlyMap<RecordType, readonly PlannedRecord[]>>;
  readonly soa: PlannedRecord & { readonly type: 'SOA' };
  /** Whether any name below the apex exists. */
  readonly apexOnly: boolean;
}

/**
 * The SOA of zones that specify none. `.invalid` never exists (RFC 6761 §6.4), needs no address in the zone and cannot be
 * mistaken for a real server. The timers are within the ranges that RFC 1912 §2.2 recommends: refresh 20 minutes to
 * 12 hours, retry a fraction of that, expire two to four weeks. `minimum` is the TTL of negative answers, for
 * which RFC 2308 §5 recommends one to three hours; the SOA's own TTL lowers it. The serial is constant,
 * because equal specifications must give equal files.
 */
export const DEFAULT_SOA: Readonly<RecordData['SOA']> = {
  mname: 'ns.invalid',
  rname: 'hostmaster.invalid',
  serial: 1,
  refresh: 7200,
  retry: 3600,
  expire: 1_209_600,
  minimum: 3600,
};

/** Records of the zone itself and of its hosts, from the specification. */
function givenRecords(spec: ZoneSetSpec): PlannedRecord[] {
  const own = spec.records.map((record): PlannedRecord => ({ ...record, ttl: record.ttl ?? spec.ttl }));
  const shared = own.filter(({ name, type }) => name === '@' && (type === 'A' || type === 'AAAA'));
  const below = new Set(spec.hosts.filter((host) => host !== '@'));
  return [...own, ...[...below].flatMap((host) => shared.map((record) => ({ ...record, name: host })))];
}

const isAuthority = ({ name, type }: PlannedRecord) => name === '@' && (type === 'SOA' || type === 'NS');

/** A zone needs one SOA and at least one NS (RFC 1035 §5.2, RFC 1912 §2.8); missing ones are added. */
function authority(given: readonly PlannedRecord[], ttl: number): PlannedRecord[] {
  const own = given.filter(isAuthority);
  const soas = own.filter(({ type }) => type === 'SOA');
  const nameServers = own.filter(({ type }) => type === 'NS');
  const [soa] = soas;
  const [first] = nameServers;
  const mname = first?.type === 'NS' ? first.data : DEFAULT_SOA.mname;
  return [
    ...(soas.length > 0 ? soas : [{ name: '@', ttl, type: 'SOA', data: { ...DEFAULT_SOA, mname } } as const]),
    ...(nameServers.length > 0
      ? nameServers
      : [{ name: '@', ttl, type: 'NS', data: soa?.type === 'SOA' ? soa.data.mname : mname } as const]),
  ];
}

function addOwner(owners: Map<string, Map<RecordType, PlannedRecord[]>>, name: string) {
  let types = owners.get(name);
  if (types === undefined) {
    types = new Map();
    owners.set(name, types);
    // Every name between this one and the apex exists as well, if only as an empty non-terminal.
    const dot = name.indexOf('.');
    if (dot !== -1) addOwner(owners, name.slice(dot + 1));
  }
  return types;
}

/** The plan of a validated specification. */
export function planOf(spec: ZoneSetSpec): Plan {
  const given = givenRecords(spec);
  const records = [...authority(given, spec.ttl), ...given.filter((record) => !isAuthority(record))];
  const owners = new Map<string, Map<RecordType, PlannedRecord[]>>();
  for (const record of records) {
    const types = addOwner(owners, record.name);
    types.set(record.type, [...(types.get(record.type) ?? []), record]);
  }
  const soa = records.find((record) => record.type === 'SOA');
  if (soa === undefined) throw new Error('planOf: a plan always has a SOA record');
  return { records, owners, soa, apexOnly: owners.size === 1 };
}

/** The absolute name of an owner in `zone`. */
export function ownerName(owner: string, zone: string): string {
  return owner === '@' ? zone : `${owner}.${zone}`;
}

/** The same record with `change` applied to every domain name in its data. */
export function mapDataNames(record: TypedData, change: (name: string) => string): TypedData {
  const parts = partsOf(record.type, record.data).map((part) =>
    part.kind === 'name' ? { ...part, value: change(String(part.value)) } : part,
  );
  return { type: record.type, data: joinParts(parts) } as TypedData;
}

/** The record in `zone`. */
export function instantiate(record: PlannedRecord, zone: string): ResourceRecord {
  const typed = mapDataNames(record, (name) => resolveTarget(name, zone));
  return { name: ownerName(record.name, zone), ttl: record.ttl, ...typed };
}

/** A DNAME record in a plan (RFC 6672). Names are relative to the zone. */
export type Redirection = PlannedRecord & { readonly type: 'DNAME' };

/** The ancestors of a name, from its parent to the apex, `@`. */
function* namesAbove(owner: string): Generator<string, void, void> {
  if (owner === '@') return;
  for (let dot = owner.indexOf('.'); dot !== -1; dot = owner.indexOf('.', dot + 1))
    yield owner.slice(dot + 1);
  yield '@';
}

/** The topmost DNAME record above a name. A DNAME record does not redirect its own owner name. */
export function redirectionOf({ owners }: Plan, owner: string): Redirection | undefined {
  let topmost: Redirection | undefined;
  for (const above of namesAbove(owner)) {
    const record = owners.get(above)?.get('DNAME')?.[0];
    if (record?.type === 'DNAME') topmost = record;
  }
  return topmost;
}

/** The CNAME record that is synthesised from a DNAME record for a name below it. */
export function aliasOf(redirection: Redirection, owner: string): PlannedRecord & { readonly type: 'CNAME' } {
  const { name, ttl, data } = redirection;
  const prefix = name === '@' ? owner : owner.slice(0, -name.length - 1);
  return { name: owner, ttl, type: 'CNAME', data: data === '.' ? prefix : `${prefix}.${data}` };
}
