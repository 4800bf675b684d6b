/**
 * A workload: the names and types to query, and their order. Like a zone set, it is generated on the fly.
 */
import { type Problem, suggestion } from '@dinodns-bench/program';
import { z } from 'zod';
import { checkNames } from './check.ts';
import { ZonesError } from './errors.ts';
import { nameProblem } from './names.ts';
import { MAX_NUMBER, nameOf, numberRange, PARITIES, parsePattern } from './pattern.ts';
import { ownerName } from './plan.ts';
import { parseByKey } from './problems.ts';
import { ownerSchema } from './record-schema.ts';
import { QUERY_TYPES } from './records.ts';
import type { ZoneSet } from './zone-set.ts';
import { lineChunks } from './zone-text.ts';

const typeSchema = z.string().transform((value, context) => {
  const type = value.toUpperCase();
  if (QUERY_TYPES.includes(type)) return type;
  const fix = suggestion(value, QUERY_TYPES);
  context.addIssue({ code: 'custom', message: `unknown query type "${value}"`, params: { fix } });
  return z.NEVER;
});

/** A workload may go beyond the largest zone set, so that half of its names do not exist. */
const MAX_QUERIED_NUMBER = 2 * MAX_NUMBER + 1;
const numberSchema = z.int().min(0).max(MAX_QUERIED_NUMBER);

const workloadSpecSchema = z.strictObject({
  /** A name for reports: letters, digits, dots, hyphens and underscores. Derived from the other keys by default. */
  name: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .optional(),
  /** Name of the zones; `{X}` is replaced by the number. */
  pattern: z.string().default('example{X}.com'),
  /** First and last number, both included. */
  from: numberSchema.default(1),
  to: numberSchema.default(200),
  parity: z.enum(PARITIES).default('all'),
  /** Names within each zone; `@` is the zone itself. */
  hosts: z.array(ownerSchema).min(1).readonly().default(['@']),
  /** Every name is queried for each of these types. */
  types: z.array(typeSchema).min(1).readonly().default(['A']),
});

export type WorkloadSpec = z.output<typeof workloadSpecSchema>;
export type WorkloadInput = z.input<typeof workloadSpecSchema>;

const numberHelp = `give a whole number from 0 to ${MAX_QUERIED_NUMBER.toLocaleString('en')}`;
const HELP = {
  name: 'use letters, digits, dots, hyphens and underscores, at most 100',
  pattern: 'give a name with {X} where the number goes, such as "example{X}.com"',
  from: numberHelp,
  to: numberHelp,
  parity: `use one of ${PARITIES.join(', ')}`,
  hosts: 'give names within the zone, such as "www", or "@" for the zone itself',
  types: `use one of ${QUERY_TYPES.join(', ')}`,
};

export interface Query {
  /** Without a trailing dot. */
  readonly name: string;
  readonly type: string;
}

export interface Workload {
  readonly spec: WorkloadSpec;
  /** Number of queries, at least 1. */
  readonly size: number;
  /** Letters, digits, dots, hyphens and underscores, as file names and keys allow. `published` for the default. */
  readonly name: string;
  /** One line for reports. */
  readonly description: string;
  /** All queries in order, generated one by one: by number, then by host, then by type. */
  queries(): Iterable<Query>;
}

function crossProblems(spec: Partial<WorkloadSpec>): Problem[] {
  const { problems, set } = checkNames(spec);
  if (set === undefined) return problems;
  const zone = nameOf(set.pattern, set.range.last);
  return (spec.hosts ?? [])
    .map((host) => nameProblem(ownerName(host, zone), 'the name'))
    .filter((problem) => problem !== undefined);
}

/** Makes a workload; without input the published one: X from 1 to 200, type A. Throws `ZonesError` (`E_WORKLOAD`). */
export function defineWorkload(input: WorkloadInput = {}): Workload {
  const parsed = parseByKey(workloadSpecSchema, input, HELP, { hosts: 'host', types: 'type' });
  const problems = [...parsed.problems, ...crossProblems(parsed.valid)];
  if (problems.length > 0) throw new ZonesError('E_WORKLOAD', 'the workload is not valid', problems);
  const spec = parsed.valid as WorkloadSpec;
  const range = numberRange(spec.from, spec.to, spec.parity);
  if (range === undefined) throw new Error('defineWorkload: the range has been checked');
  const size = range.count * spec.hosts.length * spec.types.length;
  return {
    spec,
    size,
    name: spec.name ?? derivedName(spec),
    description: describe(spec, size),
    queries: () => queriesOf(spec),
  };
}

function* queriesOf(spec: WorkloadSpec): Generator<Query, void, void> {
  const pattern = parsePattern(spec.pattern);
  const range = numberRange(spec.from, spec.to, spec.parity);
  if (range === undefined) return;
  for (let number = range.first; number <= range.last; number += range.step) {
    const zone = nameOf(pattern, number);
    for (const host of spec.hosts) {
      const name = ownerName(host, zone);
      for (const type of spec.types) yield { name, type };
    }
  }
}

/** A query file in dnsperf's format, one name and type per line: the text in chunks, in constant memory. */
export function renderQueryFile(workload: Workload): Iterable<string> {
  return lineChunks(linesOf(workload));
}

function* linesOf(workload: Workload): Generator<string, void, void> {
  for (const { name, type } of workload.queries()) yield `${name} ${type}`;
}

function derivedName(spec: WorkloadSpec): string {
  const parts = [spec.pattern.replace('{X}', 'X'), `${spec.from}-${spec.to}`];
  if (spec.parity !== 'all') parts.push(spec.parity);
  if (spec.hosts.length !== 1 || spec.hosts[0] !== '@')
    parts.push(...spec.hosts.map((host) => (host === '@' ? 'apex' : host)));
  parts.push(...spec.types);
  const name = parts.join('-');
  return name === 'exampleX.com-1-200-A' ? 'published' : name;
}

function describe(spec: WorkloadSpec, size: number): string {
  const parity = spec.parity === 'all' ? '' : ` ${spec.parity}`;
  const only = spec.hosts.length === 1 && spec.hosts[0] === '@';
  const hosts = only ? '' : `, names ${spec.hosts.join(', ')}`;
  const types = `type${spec.types.length === 1 ? '' : 's'} ${spec.types.join(', ')}`;
  return `${spec.pattern} for${parity} X from ${spec.from} to ${spec.to}${hosts}, ${types}, in order: ${size} quer${size === 1 ? 'y' : 'ies'}`;
}

/**
 * The workload that matches a zone set as the published workload matches the published set: the same pattern and twice
 * as many names, half of which exist. The missing names are the even (odd) numbers between and after odd (even) ones;
 * if every number is a zone, they are as many numbers after the last zone. A pattern that is the name of one zone gives no others.
 */
export function workloadFor(zoneSet: ZoneSet): WorkloadInput {
  const { pattern, from, to, parity } = zoneSet.spec;
  const range = numberRange(from, to, parity);
  if (range === undefined) throw new Error('workloadFor: a zone set is never empty');
  const missing = parsePattern(pattern).isName ? 0 : parity === 'all' ? range.count : 1;
  return { pattern, from: range.first, to: range.last + missing, parity: 'all' };
}
