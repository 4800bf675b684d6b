/**
 * Answers from a database, asked once for each question (and once for each link of a CNAME chain): the name, the names
 * above it, and the wildcards that could match it. Nothing is kept between questions, so that what the database
 * holds is served at once. RFC 1034, section 4.3.2, and RFC 4592, without delegations.
 */
import { canonicalName, FLAG, RCODE } from '@dinodns-bench/wire';
import type { SupportedAnswer } from 'dinodns/types/dns.js';
import type { DNSRequest, DNSResponse } from 'dinodns/types/server.js';
import type { RecordDatabase, RecordSet } from './record-database.ts';

/** A longer chain of CNAME records is a loop, or as good as one. */
const MAX_CHAIN = 8;

/** The records of a name by their types. */
type Sets = Readonly<Record<string, RecordSet>>;

/** The answer to a question about a zone in the database. */
export interface DatabaseAnswer {
  readonly rcode: number;
  readonly answers: readonly SupportedAnswer[];
  readonly authorities: readonly SupportedAnswer[];
}

function recordsOf(name: string, type: string, { ttl, data }: RecordSet): SupportedAnswer[] {
  // The types of `dns-packet` are a union over all record types; what was stored is what the zones held.
  return data.map((item) => ({ name, type, ttl, class: 'IN', data: item }) as SupportedAnswer);
}

/** `a.b.c` → `a.b.c`, `b.c`, `c`. */
function withParents(name: string): string[] {
  const labels = name.split('.');
  return labels.map((_label, index) => labels.slice(index).join('.'));
}

interface Path {
  /** The zone that the name is in. */
  readonly apex: string;
  readonly soa: RecordSet;
  /** What the name has, itself or by a wildcard; null if it does not exist. */
  readonly sets: Sets | null;
}

/** The zone of a name and what it holds for it; null if the database has no zone that the name is in. */
async function findPath(database: RecordDatabase, name: string): Promise<Path | null> {
  const path = withParents(name);
  const wildcards = path.slice(1).map((parent) => `*.${parent}`);
  const entries = await database.read([...path, ...wildcards]);
  const found = entries.map((text): Sets | null => (text === null ? null : JSON.parse(text)));
  const depth = path.findIndex((_name, index) => found[index]?.SOA !== undefined);
  const [apex, soa] = [path[depth], found[depth]?.SOA];
  if (apex === undefined || soa === undefined) return null;
  // RFC 4592, section 3.3.1: only the wildcard at the closest name that exists counts.
  const closest = path.findIndex((_name, index) => found[index] !== null);
  const sets = closest === 0 ? found[0] : found[path.length + closest - 1];
  return { apex, soa, sets: sets ?? null };
}

/** RFC 2308, section 3: with the SOA record, whose TTL is at most its `minimum`. */
function negative(rcode: number, answers: readonly SupportedAnswer[], { apex, soa }: Path): DatabaseAnswer {
  const records = recordsOf(apex, 'SOA', soa).map((record) => {
    const minimum = record.type === 'SOA' ? (record.data.minimum ?? soa.ttl) : soa.ttl;
    return { ...record, ttl: Math.min(soa.ttl, minimum) };
  });
  return { rcode, answers, authorities: records };
}

/** The answer to a question; null if the name is outside of all zones. Rejects if the database cannot be asked. */
export async function lookUp(
  database: RecordDatabase,
  name: string,
  type: string,
): Promise<DatabaseAnswer | null> {
  const answers: SupportedAnswer[] = [];
  for (let owner = name; ; ) {
    const path = await findPath(database, canonicalName(owner));
    if (path === null)
      return answers.length === 0 ? null : { rcode: RCODE.NOERROR, answers, authorities: [] };
    const { sets } = path;
    if (sets === null) return negative(RCODE.NXDOMAIN, answers, path);
    const wanted = type === 'ANY' ? Object.keys(sets) : [type];
    for (const each of wanted) {
      const set = sets[each];
      if (set !== undefined) answers.push(...recordsOf(owner, each, set));
    }
    const target = sets.CNAME?.data[0];
    if (wanted.some((each) => sets[each] !== undefined))
      return { rcode: RCODE.NOERROR, answers, authorities: [] };
    if (sets.CNAME === undefined || typeof target !== 'string') return negative(RCODE.NOERROR, answers, path);
    answers.push(...recordsOf(owner, 'CNAME', sets.CNAME));
    if (answers.length > MAX_CHAIN) return { rcode: RCODE.SERVFAIL, answers: [], authorities: [] };
    owner = target;
  }
}

/** Answers a request: from the database, REFUSED for a name outside of all zones, SERVFAIL if it cannot be asked. */
export async function answerFrom(
  database: RecordDatabase,
  request: DNSRequest,
  response: DNSResponse,
): Promise<void> {
  const question = request.packet.raw.questions?.[0];
  const answer =
    question === undefined
      ? null
      : await lookUp(database, question.name, question.type).catch(() => undefined);
  if (answer === undefined) return response.errors.serverFailure();
  if (answer === null) return response.errors.refused();
  const { raw } = response.packet;
  response.packet.flags = (response.packet.flags & ~0xf) | FLAG.authoritative | answer.rcode;
  raw.answers = [...answer.answers];
  raw.authorities = [...answer.authorities];
  response.resolve();
}
