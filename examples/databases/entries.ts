/** What the database holds: one JSON text per name, with the record sets of that name by type. */
import { open } from 'node:fs/promises';

/** The records of one name and type: `data` as in dns-packet, `ttl` in seconds. */
export interface RecordSet {
  readonly ttl: number;
  readonly data: readonly unknown[];
}
export type Sets = Readonly<Record<string, RecordSet>>;

/** The key that a filled database has besides the names. No name ends with a dot here. */
export const FILLED = '.';

/** Lower case, without the dot at the end; the root is the empty text. */
export function canonicalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function isRecordSet(value: unknown): value is RecordSet {
  if (typeof value !== 'object' || value === null) return false;
  const { ttl, data } = value as Partial<RecordSet>;
  return Number.isInteger(ttl) && Number(ttl) >= 0 && Array.isArray(data);
}

/** The sets in a text. Throws for a text that no fill wrote. */
export function setsOf(text: string): Sets {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (Object.values(value).every(isRecordSet)) return value as Sets;
  }
  throw new Error(`The database holds "${text.slice(0, 80)}", which is not an entry.`);
}

/** These need more than the sets of a name: referrals, redirections, signatures. */
const UNSUPPORTED = new Set(['DNAME', 'DS', 'RRSIG', 'NSEC', 'NSEC3', 'NSEC3PARAM', 'DNSKEY']);

/** The name and all names between it and its zone, which exist as well (RFC 4592, section 2.2.2). */
function namesUpTo(name: string, apex: string): string[] {
  const names = [name];
  for (let rest = name; rest !== apex && rest.includes('.'); ) {
    rest = rest.slice(rest.indexOf('.') + 1);
    names.push(rest);
  }
  return names;
}

interface Zone {
  readonly name: string;
  readonly records: readonly { name: string; type: string; ttl: number; data: unknown }[];
}

/** The zones of a `zones.ndjson`: a line that says how many there are, and a line for each. */
async function* zonesIn(file: string): AsyncGenerator<Zone> {
  await using handle = await open(file);
  let [expected, count] = [0, -1];
  for await (const line of handle.readLines()) {
    const value = JSON.parse(line);
    if (++count === 0) expected = value.zones;
    else yield value;
  }
  if (count !== expected) throw new Error(`${file} has ${count} of ${expected} zones: it is not complete.`);
  if (count === 0) throw new Error(`${file} holds no zones. The database keeps what it has.`);
}

/**
 * The entries of a `zones.ndjson` (`dinodns-zones generate --format dinodns-json`). Rejects for records that these stores
 * cannot serve, and for a file without zones.
 */
export async function entriesOf(zonesFile: string): Promise<Map<string, string>> {
  const names = new Map<string, Map<string, { ttl: number; data: unknown[] }>>();
  for await (const zone of zonesIn(zonesFile)) {
    const apex = canonicalName(zone.name);
    for (const { name, type, ttl, data } of zone.records) {
      const owner = canonicalName(name);
      if (UNSUPPORTED.has(type) || (type === 'NS' && owner !== apex)) {
        throw new Error(
          `Zone "${zone.name}": these stores cannot serve the ${type} record of "${name}". Omit it.`,
        );
      }
      for (const each of namesUpTo(owner, apex)) if (!names.has(each)) names.set(each, new Map());
      const sets = names.get(owner);
      const set = sets?.get(type) ?? { ttl, data: [] };
      set.data.push(data);
      sets?.set(type, set);
    }
  }
  const entries = new Map(
    Array.from(names, ([name, sets]) => [name, JSON.stringify(Object.fromEntries(sets))] as const),
  );
  return entries.set(FILLED, JSON.stringify({ names: names.size, at: new Date().toISOString() }));
}
