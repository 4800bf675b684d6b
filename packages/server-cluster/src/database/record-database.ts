/**
 * What a database has to do to hold a server's records: give the record sets of owner names, several at once. Everything
 * that makes an authoritative answer of them is in `database-store.ts`.
 */
import { canonicalName } from '@dinodns-bench/wire';
import { ServerError } from '../errors.ts';
import type { ZoneSource } from '../options.ts';

/** The records of one name and type: `data` as the framework has it (dns-packet), in JSON; `ttl` in seconds. */
export interface RecordSet {
  readonly ttl: number;
  readonly data: readonly unknown[];
}

/** The record sets of one name by their types, as JSON text; `{}` for a name without records that has names below it. */
export type Entry = string;

export interface RecordDatabase {
  /**
   * The entries of these names, in the same order; null where there is none. Names are in lower case without a trailing
   * dot. One round trip, whatever their number.
   */
  read(names: readonly string[]): readonly (Entry | null)[] | Promise<readonly (Entry | null)[]>;
  /** Makes these the only entries, at once for every reader. Several processes may do it with the same entries. */
  fill(entries: ReadonlyMap<string, Entry>): void | Promise<void>;
  close(): void;
}

/** Types that need more than the sets of a name: referrals, redirections, signatures. */
const UNSUPPORTED = new Set(['DNAME', 'DS', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'DNSKEY']);

function demandSupported(
  zone: string,
  { name, type }: { readonly name: string; readonly type: string },
): void {
  const isCut = type === 'NS' && canonicalName(name) !== canonicalName(zone);
  if (!isCut && !UNSUPPORTED.has(type)) return;
  throw new ServerError(
    'E_UNSUPPORTED',
    `A database cannot serve the ${type} record of "${name}": it has no delegations, redirections or signatures.`,
    'Omit the record, or serve the zone from memory: omit --store.',
  );
}

/** Every name strictly between `name` and its zone exists as well (RFC 4592, section 2.2.2). */
function namesUpTo(name: string, zone: string): string[] {
  const names = [name];
  for (let rest = name; rest !== zone && rest.includes('.'); ) {
    rest = rest.slice(rest.indexOf('.') + 1);
    names.push(rest);
  }
  return names;
}

/** The entries of all zones. Throws a `ServerError` for records that cannot be served from a database. */
export function entriesOf(source: ZoneSource): Map<string, Entry> {
  const sets = new Map<string, Map<string, { ttl: number; data: unknown[] }>>();
  for (const zone of source.zones()) {
    const apex = canonicalName(zone.name);
    for (const record of zone.records) {
      demandSupported(zone.name, record);
      const owner = canonicalName(record.name);
      for (const name of namesUpTo(owner, apex)) if (!sets.has(name)) sets.set(name, new Map());
      const types = sets.get(owner);
      const set = types?.get(record.type) ?? { ttl: record.ttl, data: [] };
      set.data.push(record.data);
      types?.set(record.type, set);
    }
  }
  return new Map(Array.from(sets, ([name, types]) => [name, JSON.stringify(Object.fromEntries(types))]));
}
