/**
 * Checks the parts of a specification against each other. Each part has already been checked on its own.
 */
import type { Problem } from '@dinodns-bench/program';
import { encodeData, encodeName, partsOf, TYPE } from '@dinodns-bench/wire';
import { nameProblem, normalizeName, ownerOfTarget, resolveTarget, ZONE_PLACEHOLDER } from './names.ts';
import {
  isInRange,
  type NumberRange,
  nameOf,
  numberIn,
  numberRange,
  type Parity,
  type Pattern,
  parsePattern,
  patternProblem,
} from './pattern.ts';
import { instantiate, ownerName, type Plan, type PlannedRecord, planOf, redirectionOf } from './plan.ts';
import type { ZoneSetSpec } from './spec.ts';
import { checkZone } from './zone-check/zone-check.ts';

/** An answer must fit into a DNS message (RFC 1035 §4.2.2: 65,535 bytes over TCP), including header and names. */
const MAX_ANSWER_BYTES = 65_000;

/** What is wrong with a range, if anything. */
function rangeProblem(from: number, to: number, parity: Parity): Problem | undefined {
  if (from > to) {
    return {
      problem: `the range is reversed: from ${from} to ${to}`,
      fix: `give the smaller number first: from ${to} to ${from}`,
    };
  }
  if (numberRange(from, to, parity) === undefined) {
    return {
      problem: `there is no ${parity} number from ${from} to ${to}`,
      fix: `use parity "all", or a range with ${parity === 'odd' ? 'an odd' : 'an even'} number in it`,
    };
  }
  return undefined;
}

/** The zones that a specification names, where all of that is known; or what is wrong with it. */
export function checkNames(spec: Partial<Pick<ZoneSetSpec, 'pattern' | 'from' | 'to' | 'parity'>>) {
  // A wrong parity is a separate problem; the range can still be reversed.
  const { pattern, from, to, parity = 'all' } = spec;
  const isKnown = from !== undefined && to !== undefined;
  const range = isKnown ? numberRange(from, to, parity) : undefined;
  const problems = [
    isKnown ? rangeProblem(from, to, parity) : undefined,
    pattern === undefined ? undefined : patternProblem(pattern, range?.last),
  ].filter((problem) => problem !== undefined);
  const isSound = problems.length === 0 && pattern !== undefined && range !== undefined;
  return { problems, set: isSound ? { pattern: parsePattern(pattern), range } : undefined };
}

/** All problems between parts that are valid on their own. */
export function checkZoneSet(spec: Partial<ZoneSetSpec>): Problem[] {
  const { problems, set } = checkNames(spec);
  const { records, hosts, ttl } = spec;
  if (records !== undefined && hosts !== undefined && ttl !== undefined) {
    problems.push(...hostProblems(records, hosts));
    const plan = planOf({ pattern: '', from: 0, to: 0, parity: 'all', ttl, records, hosts });
    // Without a set, the shortest of all names.
    const tooLong = lengthProblems(plan, set === undefined ? 'x' : nameOf(set.pattern, set.range.last));
    problems.push(...tooLong, ...(tooLong.length > 0 ? [] : zoneProblems(plan)));
    problems.push(
      ...delegationProblems(plan),
      ...setProblems(plan),
      ...chainProblems(plan),
      ...loopProblems(plan),
    );
    if (set !== undefined) problems.push(...targetsInSet(plan, set.pattern, set.range));
  }
  return problems;
}

function hostProblems(records: ZoneSetSpec['records'], hosts: readonly string[]): Problem[] {
  if (hosts.length === 0) return [];
  const problems: Problem[] = [];
  if (!records.some(({ name, type }) => name === '@' && (type === 'A' || type === 'AAAA'))) {
    problems.push({
      problem: `the hosts ${hosts.join(', ')} would have no records: they share the zone's A and AAAA records, and there are none`,
      fix: 'add a record of type A or AAAA without a name, or give each host records of its own ("www A 192.0.2.1")',
    });
  }
  if (hosts.includes('@')) {
    problems.push({
      problem: 'the host "@" is the zone itself',
      fix: 'omit it: the zone always has its records',
    });
  }
  const twice = hosts.find((host, index) => hosts.indexOf(host) !== index);
  if (twice !== undefined)
    problems.push({ problem: `the host "${twice}" is given twice`, fix: 'give it once' });
  return problems;
}

function labelOf({ name, type }: PlannedRecord): string {
  return name === '@' ? `${type} at the zone` : `${type} at ${name}`;
}

const NO_APEX_CNAME =
  'give the CNAME a name within the zone ("www CNAME …"), or use A and AAAA records (RFC 1912 §2.4)';

/** Stands for the name of the zone: no other name has this character, and none is shorter. */
const STAND_IN = '@';

/** What makes any zone with these records unsound. */
function zoneProblems({ records }: Plan): Problem[] {
  const zone = records.map((record) => {
    const { name, type, ttl, data } = instantiate(record, STAND_IN);
    return { name: encodeName(name), type: TYPE[type], ttl, data: encodeData(type, data) };
  });
  return checkZone(encodeName(STAND_IN), zone).map(({ rule, problem, fix }) => ({
    problem: problem.replaceAll(`${STAND_IN}.`, ZONE_PLACEHOLDER),
    // SOA and NS records are added to every zone, so those cannot go.
    fix: rule === 'cname-and-other' && problem.startsWith(`${STAND_IN}. `) ? NO_APEX_CNAME : fix,
  }));
}

/** The zones of a set have no delegations. */
function delegationProblems({ records }: Plan): Problem[] {
  return records
    .filter(({ name, type }) => name !== '@' && type === 'NS')
    .map((record) => ({
      problem: `${labelOf(record)} would make that name a zone of its own`,
      fix: 'put NS records at the apex: omit the name',
    }));
}

/** RFC 2181 §5: records of an RRset have different data. */
function setProblems({ owners }: Plan): Problem[] {
  const problems: Problem[] = [];
  for (const types of owners.values()) {
    for (const records of types.values()) {
      const [first] = records;
      if (first === undefined) continue;
      const data = records.map((record) => encodeData(record.type, record.data).toString('latin1'));
      if (new Set(data).size < data.length) {
        problems.push({
          problem: `two records ${labelOf(first)} are the same`,
          fix: 'keep one of them (RFC 2181 §5)',
        });
      }
      const bytes = data.reduce((sum, bytes) => sum + bytes.length + 12, 0);
      if (bytes > MAX_ANSWER_BYTES) {
        problems.push({
          problem: `the ${records.length} records ${labelOf(first)} take ${bytes} bytes`,
          fix: `keep them below ${MAX_ANSWER_BYTES}: they have to fit into one DNS message`,
        });
      }
    }
  }
  return problems;
}

function chainProblems(plan: Plan): Problem[] {
  return [...plan.owners].flatMap(([name, types]) => {
    const cname = types.get('CNAME')?.[0];
    return cname?.type === 'CNAME' ? chainProblem(plan, name, cname.data) : [];
  });
}

/** A chain must end at a name with records, or outside the zone. */
function chainProblem(plan: Plan, start: string, target: string): Problem[] {
  const seen = [start];
  let next = ownerOfTarget(target);
  while (next !== undefined) {
    if (seen.includes(next)) {
      // Every name in the loop gets here; the alphabetically first one reports it.
      if (next !== start || seen.some((name) => name < start)) return [];
      return [
        {
          problem: `the CNAMEs ${[...seen, next].join(' → ')} form a loop`,
          fix: 'point one of them at a name with an address',
        },
      ];
    }
    seen.push(next);
    const types = plan.owners.get(next);
    if (types === undefined) {
      return [
        {
          problem: `the CNAME at ${start} points at ${next}, which the zone does not have`,
          fix: `add a record for it, such as "${next} A 192.0.2.1"`,
        },
      ];
    }
    const cname = types.get('CNAME')?.[0];
    next = cname?.type === 'CNAME' ? ownerOfTarget(cname.data) : undefined;
  }
  return [];
}

/** A DNAME must not lead back to itself. */
function loopProblems(plan: Plan): Problem[] {
  return plan.records
    .filter(({ name, type }) => type === 'DNAME' && isLoop(plan, name))
    .map((record) => ({
      problem: `the ${labelOf(record)} leads back to itself`,
      fix: 'point it at a name that is not at or below it',
    }));
}

/** Whether a name below the DNAME at `start` is redirected to names below it again. */
function isLoop(plan: Plan, start: string): boolean {
  const seen = new Set<string>();
  let name: string | undefined = start;
  while (name !== undefined && !seen.has(name)) {
    seen.add(name);
    const dname: PlannedRecord | undefined = plan.owners.get(name)?.get('DNAME')?.[0];
    const target: string | undefined = dname?.type === 'DNAME' ? ownerOfTarget(dname.data) : undefined;
    // One label stands for any name below the target.
    name = target === undefined ? undefined : redirectionOf(plan, target === '@' ? 'x' : `x.${target}`)?.name;
  }
  return name === start;
}

/** Names that are too long in this zone. */
function lengthProblems(plan: Plan, zone: string): Problem[] {
  const owners = [...plan.owners.keys()].filter((owner) => owner !== '@');
  const targets = namesOf(plan).filter((target) => target.endsWith(ZONE_PLACEHOLDER));
  return [
    ...owners.map((owner) => nameProblem(ownerName(owner, zone), 'the name')),
    ...targets.map((target) => nameProblem(resolveTarget(target, zone), 'the target')),
  ].filter((problem) => problem !== undefined);
}

/** The names in the data of all records. */
function namesOf({ records }: Plan): string[] {
  const parts = records.flatMap(({ type, data }) => partsOf(type, data));
  return [...new Set(parts.filter(({ kind }) => kind === 'name').map(({ value }) => String(value)))];
}

/** The target `mail.example1.com` in every zone of the set is almost certainly a mistake: `mail.{zone}` was meant. */
function targetsInSet(plan: Plan, pattern: Pattern, range: NumberRange): Problem[] {
  return namesOf(plan).flatMap((target) => {
    const labels = normalizeName(target).split('.');
    const number = numberIn(pattern, labels.slice(-pattern.labels).join('.'));
    const owner = labels.slice(0, -pattern.labels).join('.') || '@';
    if (number === undefined || !isInRange(range, number) || plan.owners.has(owner)) return [];
    return {
      problem: `the target "${target}" is in a zone of this set, which has no "${owner}"`,
      fix: `write "${owner}.{zone}" and add its address ("${owner} A 192.0.2.1"), or use a name outside the set`,
    };
  });
}
