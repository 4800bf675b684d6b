/**
 * Checks the parts of a specification against each other. Each part has already been checked on its own.
 */
import type { Problem } from '@dinodns-bench/program';
import { nameProblem, normalizeName, ownerOfTarget, resolveTarget } from './names.ts';
import {
  isInRange,
  type NumberRange,
  nameOf,
  numberIn,
  numberRange,
  type Parity,
  parsePattern,
  patternProblem,
} from './pattern.ts';
import { ownerName, type Plan, type PlannedRecord, planOf } from './plan.ts';
import { hostTarget, mapDataNames, type RecordType } from './records.ts';
import { redirectionOf } from './redirection.ts';
import type { ZoneSetSpec } from './spec.ts';
import { dataHex } from './wire.ts';

/** An answer must fit into a DNS message (RFC 1035 §4.2.2: 65,535 bytes over TCP), including header and names. */
const MAX_ANSWER_BYTES = 65_000;

/** What is wrong with a range, if anything. */
export function rangeProblem(from: number, to: number, parity: Parity): Problem | undefined {
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

/** All problems between parts that are valid on their own. */
export function checkZoneSet(spec: Partial<ZoneSetSpec>): Problem[] {
  // A wrong parity is a separate problem; the range can still be reversed.
  const { pattern, from, to, parity = 'all' } = spec;
  const problems: (Problem | undefined)[] = [];
  let range: NumberRange | undefined;
  if (from !== undefined && to !== undefined) {
    problems.push(rangeProblem(from, to, parity));
    range = numberRange(from, to, parity);
  }
  const ownPatternProblem = pattern === undefined ? undefined : patternProblem(pattern, range?.last);
  problems.push(ownPatternProblem);
  const { records, hosts, ttl } = spec;
  if (records !== undefined && hosts !== undefined && ttl !== undefined) {
    problems.push(...hostProblems(records, hosts));
    const plan = planOf({ pattern: '', from: 0, to: 0, parity: 'all', ttl, records, hosts });
    problems.push(...planProblems(plan));
    if (pattern !== undefined && ownPatternProblem === undefined && range !== undefined) {
      problems.push(...namesInSet(plan, pattern, range));
    }
  }
  return problems.filter((problem) => problem !== undefined);
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

/** Rules for the records of one zone. */
function planProblems(plan: Plan): Problem[] {
  return [
    ...placeProblems(plan),
    ...setProblems(plan),
    ...cnameProblems(plan),
    ...dnameProblems(plan),
    ...targetProblems(plan),
  ];
}

/** SOA and NS below the apex would be other zones or delegations. */
function placeProblems({ records }: Plan): Problem[] {
  return records
    .filter(({ name, type }) => name !== '@' && (type === 'SOA' || type === 'NS'))
    .map((record) => ({
      problem: `${labelOf(record)} would make that name a zone of its own`,
      fix: 'put SOA and NS records at the apex: omit the name',
    }));
}

/** Types of which a name may have only one record (RFC 1035 §5.2, RFC 2181 §10.1, RFC 6672 §2.4). */
const SINGLE_TYPES: readonly RecordType[] = ['SOA', 'CNAME', 'DNAME'];

/** RFC 2181 §5: records of an RRset have different data and the same TTL. */
function setProblems({ owners }: Plan): Problem[] {
  const problems: Problem[] = [];
  for (const types of owners.values()) {
    for (const records of types.values()) {
      const [first] = records;
      if (first === undefined) continue;
      const data = records.map((record) => dataHex(record));
      if (new Set(data).size < data.length) {
        problems.push({
          problem: `two records ${labelOf(first)} are the same`,
          fix: 'keep one of them (RFC 2181 §5)',
        });
      }
      if (records.some(({ ttl }) => ttl !== first.ttl)) {
        problems.push({
          problem: `the records ${labelOf(first)} differ in TTL`,
          fix: 'give all of them the same TTL (RFC 2181 §5.2)',
        });
      }
      const bytes = data.reduce((sum, hex) => sum + hex.length / 2 + 12, 0);
      if (bytes > MAX_ANSWER_BYTES) {
        problems.push({
          problem: `the ${records.length} records ${labelOf(first)} take ${bytes} bytes`,
          fix: `keep them below ${MAX_ANSWER_BYTES}: they have to fit into one DNS message`,
        });
      }
      if (SINGLE_TYPES.includes(first.type) && records.length > 1) {
        problems.push({
          problem: `there are ${records.length} records ${labelOf(first)}`,
          fix: 'keep one of them: a name has at most one',
        });
      }
    }
  }
  return problems;
}

/** RFC 1034 §3.6.2: a name with a CNAME has no other records, so a CNAME cannot be at the apex with SOA and NS. */
function cnameProblems(plan: Plan): Problem[] {
  const problems: Problem[] = [];
  for (const [name, types] of plan.owners) {
    const cname = types.get('CNAME')?.[0];
    if (cname?.type !== 'CNAME') continue;
    if (name === '@') {
      problems.push({
        problem: 'there is a CNAME at the apex, beside the SOA and NS records',
        fix: 'give the CNAME a name within the zone ("www CNAME …"), or use A and AAAA records (RFC 1912 §2.4)',
      });
    } else if (types.size > 1) {
      const others = [...types.keys()].filter((type) => type !== 'CNAME');
      problems.push({
        problem: `${name} has a CNAME beside ${others.join(', ')}`,
        fix: 'keep the CNAME or the others: a name with a CNAME has nothing else (RFC 1034 §3.6.2)',
      });
    } else {
      problems.push(...chainProblem(plan, name, cname.data));
    }
  }
  return problems;
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

/** RFC 6672 §2.4: there are no names below a DNAME; nor may it lead back to itself. */
function dnameProblems(plan: Plan): Problem[] {
  const names = [...plan.owners.keys()];
  return names
    .filter((name) => plan.owners.get(name)?.has('DNAME'))
    .flatMap((name) => {
      const below = names.find((other) => redirectionOf(plan, other)?.name === name);
      const label = name === '@' ? 'the DNAME at the zone' : `the DNAME at ${name}`;
      const problems: Problem[] = [];
      if (below !== undefined) {
        problems.push({
          problem: `${label} has ${below} below it`,
          fix: 'remove the DNAME or the names below it: servers would never answer them (RFC 6672 §2.4)',
        });
      }
      if (isLoop(plan, name)) {
        problems.push({
          problem: `${label} leads back to itself`,
          fix: 'point it at a name that is not at or below it',
        });
      }
      return problems;
    });
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

/** Hosts in the zone that records refer to need an address there (RFC 1912 §2.3, RFC 2181 §10.3); BIND enforces this. */
function targetProblems(plan: Plan): Problem[] {
  return plan.records.flatMap((record) => {
    const target = hostTarget(record);
    const owner = target === undefined ? undefined : ownerOfTarget(target);
    if (target === undefined || owner === undefined) return [];
    const types = plan.owners.get(owner);
    if (types?.has('A') || types?.has('AAAA')) return [];
    const why = types?.has('CNAME') ? 'is a CNAME' : 'has no address';
    return [
      {
        problem: `${labelOf(record)} refers to ${target}, which ${why} in the zone`,
        fix: `add "${owner === '@' ? '' : `${owner} `}A 192.0.2.1" with the right address, or refer to a name outside the zone`,
      },
    ];
  });
}

/** Checks the lengths of all names in the zone with the longest name, and targets that seem to be in a zone of the set. */
function namesInSet(plan: Plan, patternText: string, range: NumberRange): Problem[] {
  const pattern = parsePattern(patternText);
  const zone = nameOf(pattern, range.last);
  const problems = new Map<string, Problem>();
  const add = (key: string, problem: Problem | undefined) => {
    if (problem !== undefined) problems.set(key, problem);
  };
  for (const owner of plan.owners.keys()) {
    if (owner !== '@') add(owner, nameProblem(ownerName(owner, zone), 'the name'));
  }
  for (const record of plan.records) {
    mapDataNames(record, (target) => {
      if (target.endsWith('{zone}')) add(target, nameProblem(resolveTarget(target, zone), 'the target'));
      else add(target, literalTarget(plan, target, pattern, range));
      return target;
    });
  }
  return [...problems.values()];
}

/** The target `mail.example1.com` in every zone of the set is almost certainly a mistake: `mail.{zone}` was meant. */
function literalTarget(
  plan: Plan,
  target: string,
  pattern: ReturnType<typeof parsePattern>,
  range: NumberRange,
): Problem | undefined {
  const labels = normalizeName(target).split('.');
  const number = numberIn(pattern, labels.slice(-pattern.labels).join('.'));
  if (number === undefined || !isInRange(range, number)) return undefined;
  const owner = labels.slice(0, -pattern.labels).join('.') || '@';
  if (plan.owners.has(owner)) return undefined;
  return {
    problem: `the target "${target}" is in a zone of this set, which has no "${owner}"`,
    fix: `write "${owner}.{zone}" and add its address ("${owner} A 192.0.2.1"), or use a name outside the set`,
  };
}
