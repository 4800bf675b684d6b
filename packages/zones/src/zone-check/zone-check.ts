/**
 * Checks a zone as a whole: even if every record is valid, the zone may be impossible to serve, or not mean what it
 * should. Errors are what most of BIND, NSD, Knot DNS and PowerDNS refuse; warnings are what some of them refuse or
 * warn about. test/zone-check/zone-check.servers.test.ts compares their verdicts.
 */
import { nameText, TYPE, typeName } from '@dinodns-bench/wire';
import {
  type CheckedName,
  type CheckedRecord,
  contentsOf,
  hostOf,
  isInside,
  keyOf,
  keysAbove,
  type ZoneContents,
} from './records.ts';

export type { CheckedRecord } from './records.ts';

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

export interface ZoneCheck {
  /** Errors first, in the order of the rules. */
  readonly findings: readonly ZoneFinding[];
  readonly isServable: boolean;
  /** Records to omit, because they are outside the zone. */
  readonly ignored: readonly CheckedRecord[];
}

/** Types of which a name has at most one record (RFC 1035, section 5.2; RFC 2181, section 10.1; RFC 6672, section 2.4). */
const SINGLE_TYPES: readonly number[] = [TYPE.SOA, TYPE.CNAME, TYPE.DNAME];
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

/** `origin`: the zone's name. Records may come in any order; places are used if they are known. */
export function checkZone(origin: Uint8Array, records: Iterable<CheckedRecord>): ZoneCheck {
  const contents = contentsOf(origin, records);
  const found = [
    ...apexFindings(contents),
    ...hashFindings(contents),
    ...contents.outside.map(outsideFinding),
    ...[...contents.names].flatMap(([key, name]) => [
      ...nameFindings(contents, key, name),
      ...placeFindings(contents, key, name),
      ...hostFindings(contents, name),
    ]),
  ];
  const errors = found.filter(({ severity }) => severity === 'error');
  const warnings = found.filter(({ severity }) => severity === 'warning');
  return { findings: [...errors, ...warnings], isServable: errors.length === 0, ignored: contents.outside };
}

function finding(
  severity: ZoneFinding['severity'],
  rule: string,
  record: CheckedRecord | undefined,
  problem: string,
  fix: string,
): ZoneFinding {
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
function apexFindings({ names, origin }: ZoneContents): ZoneFinding[] {
  const apex = names.get(origin);
  const found: ZoneFinding[] = [];
  if (apex?.types.get(TYPE.SOA) === undefined) {
    const fix = `add "@ SOA …", or give the correct name of the zone`;
    found.push(finding('error', 'no-soa', undefined, `${textOf(origin)} has no SOA record`, fix));
  }
  if (apex?.types.get(TYPE.NS) === undefined) {
    const fix = 'add an NS record for each name server of the zone (RFC 1912, section 2.8)';
    found.push(finding('error', 'no-ns', undefined, `${textOf(origin)} has no NS record`, fix));
  }
  return found;
}

/** What is wrong with a record of NSEC3 or NSEC3PARAM; undefined if nothing is. */
export function hashFinding(record: CheckedRecord): ZoneFinding | undefined {
  if (record.type !== TYPE.NSEC3 && record.type !== TYPE.NSEC3PARAM) return undefined;
  // Hash algorithm and flags come first (RFC 5155, section 3.2).
  const iterations = ((record.data[2] ?? 0) << 8) | (record.data[3] ?? 0);
  if (iterations <= MAX_NSEC3_ITERATIONS) return undefined;
  const limit = `${typeName(record.type)} has ${iterations} iterations, and ${MAX_NSEC3_ITERATIONS} are allowed`;
  return finding(
    'error',
    'nsec3-iterations',
    record,
    limit,
    'sign the zone with 0 iterations (RFC 9276, section 3.1)',
  );
}

/** The first of them: a signed zone has one for each name. */
function hashFindings({ names }: ZoneContents): ZoneFinding[] {
  for (const { types } of names.values()) {
    for (const record of [...(types.get(TYPE.NSEC3PARAM) ?? []), ...(types.get(TYPE.NSEC3) ?? [])]) {
      const found = hashFinding(record);
      if (found !== undefined) return [found];
    }
  }
  return [];
}

function outsideFinding(record: CheckedRecord): ZoneFinding {
  const fix = 'move it to the zone that it belongs to, or end the name without a dot';
  return finding(
    'warning',
    'outside-zone',
    record,
    `the ${labelOf(record)} is outside the zone and is ignored`,
    fix,
  );
}

/** Rules for the records of one name. */
function nameFindings({ origin }: ZoneContents, key: string, { types }: CheckedName): ZoneFinding[] {
  const found: ZoneFinding[] = [];
  for (const [type, records] of types) {
    const [first, second] = records;
    if (SINGLE_TYPES.includes(type) && second !== undefined) {
      const rule = `two-${typeName(type).toLowerCase()}`;
      found.push(finding('error', rule, second, `there is a second ${labelOf(second)}`, 'keep one of them'));
    }
    const other = records.find(({ ttl }) => ttl !== first?.ttl);
    if (other !== undefined && type !== TYPE.RRSIG) {
      const fix = 'give all of them the same TTL (RFC 2181, section 5.2)';
      found.push(
        finding(
          'warning',
          'ttl-differs',
          other,
          `the TTL ${other.ttl} of the ${labelOf(other)} differs from ${first?.ttl}`,
          fix,
        ),
      );
    }
  }
  const cname = types.get(TYPE.CNAME)?.[0];
  const besides = [...types.keys()].find((type) => !BESIDE_CNAME.includes(type));
  if (cname !== undefined && besides !== undefined) {
    const later = [cname, ...(types.get(besides) ?? [])].reduce((one, other) =>
      (other.line ?? 0) > (one.line ?? 0) ? other : one,
    );
    const fix = 'keep the CNAME record or the others (RFC 1034, section 3.6.2)';
    found.push(
      finding(
        'error',
        'cname-and-other',
        later,
        `${textOf(key)} has a CNAME record beside ${typeName(besides)}`,
        fix,
      ),
    );
  }
  const soa = types.get(TYPE.SOA)?.[0];
  if (soa !== undefined && key !== origin) {
    found.push(
      finding(
        'error',
        'soa-below',
        soa,
        `the ${labelOf(soa)} is not at the zone's name`,
        'move it to a zone of its own',
      ),
    );
  }
  const ds = types.get(TYPE.DS)?.[0];
  if (ds !== undefined && key === origin) {
    found.push(
      finding(
        'warning',
        'ds-at-apex',
        ds,
        `the ${labelOf(ds)} is at the zone's own name`,
        'put it into the parent zone (RFC 4035, section 2.4)',
      ),
    );
  } else if (ds !== undefined && !types.has(TYPE.NS)) {
    found.push(
      finding(
        'warning',
        'ds-without-ns',
        ds,
        `the ${labelOf(ds)} has no NS records beside it`,
        'add the NS records of the delegation, or remove it',
      ),
    );
  }
  return found;
}

/** Rules for where a name is: below a DNAME record, at or below a delegation, or a wildcard. */
function placeFindings({ names, origin }: ZoneContents, key: string, { types }: CheckedName): ZoneFinding[] {
  const found: ZoneFinding[] = [];
  const first = types.values().next().value?.[0];
  const ns = types.get(TYPE.NS)?.[0];
  const dname = types.get(TYPE.DNAME)?.[0];
  if (ns !== undefined && key.startsWith(WILDCARD_LABEL)) {
    found.push(
      finding(
        'warning',
        'wildcard-ns',
        ns,
        `the ${labelOf(ns)} delegates a wildcard`,
        'name each delegation (RFC 4592, section 4.2)',
      ),
    );
  }
  if (ns !== undefined && dname !== undefined && key !== origin) {
    found.push(
      finding(
        'warning',
        'dname-at-cut',
        dname,
        `the ${labelOf(dname)} is at a delegation, and has no effect`,
        'put it into the child zone (RFC 6672, section 2.3)',
      ),
    );
  }
  const isCut = ns !== undefined && key !== origin;
  const stray = isCut
    ? [...types.keys()].find((type) => !AT_CUT.includes(type) && type !== TYPE.DNAME)
    : undefined;
  if (stray !== undefined) {
    const record = types.get(stray)?.[0];
    found.push(
      finding(
        'warning',
        'occluded',
        record,
        `${textOf(key)} is delegated, so its ${typeName(stray)} records are never served`,
        'put them into the child zone',
      ),
    );
  }
  for (const above of keysAbove(key, origin)) {
    const upper = names.get(above)?.types;
    const isDelegated = above !== origin && upper?.has(TYPE.NS) === true;
    if (upper?.has(TYPE.DNAME) === true && !isDelegated) {
      const fix = 'remove the DNAME record or the names below it (RFC 6672, section 2.4)';
      found.push(
        finding(
          'error',
          'below-dname',
          first,
          `${textOf(key)} is below the DNAME record at ${textOf(above)}`,
          fix,
        ),
      );
      break;
    }
    const hidden = [...types.keys()].find((type) => !GLUE.includes(type) && type !== TYPE.RRSIG);
    if (isDelegated && hidden !== undefined) {
      const problem = `${textOf(key)} is below the delegation of ${textOf(above)}, so its ${typeName(hidden)} records are never served`;
      found.push(
        finding('warning', 'occluded', types.get(hidden)?.[0], problem, 'put them into the child zone'),
      );
      break;
    }
  }
  return found;
}

/** Hosts in the zone that records point to need an address, and must not be aliases (RFC 2181, section 10.3). */
function hostFindings(contents: ZoneContents, { types }: CheckedName): ZoneFinding[] {
  const found: ZoneFinding[] = [];
  for (const records of types.values()) {
    for (const record of records) {
      const host = hostOf(record);
      if (host === undefined || !isInside(host, contents.origin)) continue;
      const why = hostProblem(contents, host, record.type);
      if (why === undefined) continue;
      found.push(
        finding(
          'warning',
          why.rule,
          record,
          `the ${labelOf(record)} points to ${textOf(host)}, which ${why.text}`,
          'add an A or AAAA record for it, or point to another host',
        ),
      );
    }
  }
  return found;
}

function hostProblem(
  { names, origin }: ZoneContents,
  host: string,
  type: number,
): { rule: string; text: string } | undefined {
  const types = names.get(host)?.types;
  if (types?.has(TYPE.CNAME)) return { rule: 'host-is-alias', text: 'is an alias' };
  if (types?.has(TYPE.A) || types?.has(TYPE.AAAA)) return undefined;
  const [, ...uppers] = [host, ...keysAbove(host, origin)];
  const isElsewhere = uppers.some((above) => {
    const upper = names.get(above)?.types;
    // The child zone answers for names below a cut, but its name servers need glue here; wildcards and DNAME records answer too.
    const isCut = above !== origin && upper?.has(TYPE.NS) === true && type !== TYPE.NS;
    return isCut || upper?.has(TYPE.DNAME) === true || names.has(WILDCARD_LABEL + above);
  });
  return isElsewhere ? undefined : { rule: 'no-address', text: 'has no address in the zone' };
}
