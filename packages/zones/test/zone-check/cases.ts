/**
 * Classes of broken zones, with our findings and the verdicts of BIND (named-checkzone), NSD (nsd-checkzone), Knot DNS
 * (semantic checks) and PowerDNS (pdnsutil check-zone): `refuses`, `warns` or `loads`.
 */

import { encodeData, encodeName, typeNumber } from '@dinodns-bench/wire';
import type { CheckedRecord } from '../../src/index.ts';
import { mapDataNames } from '../../src/plan.ts';
import type { TypedData } from '../../src/record-schema.ts';
import { parseRecordText } from '../../src/record-text.ts';

export type Verdict = 'refuses' | 'warns' | 'loads';

export interface ZoneCase {
  /** A label: the zone is `<name>.test.` */
  readonly name: string;
  readonly lines: readonly string[];
  /** The rules of the findings in order, each with the line that it reports; 0 for none. */
  readonly findings: readonly (readonly ['error' | 'warning', string, number])[];
  readonly bind: Verdict;
  readonly nsd: Verdict;
  readonly knot: Verdict;
  readonly powerdns: Verdict;
}

const SOA = '@ SOA ns admin 1 7200 3600 1209600 3600';
const NS = ['@ NS ns', 'ns A 192.0.2.1'];
const GOOD = [SOA, ...NS];
const DS = `DS 1 8 2 ${'ab'.repeat(32)}`;

const LOADS = { bind: 'loads', nsd: 'loads', knot: 'loads', powerdns: 'loads' } as const;
const REFUSED = { bind: 'refuses', nsd: 'refuses', knot: 'refuses', powerdns: 'refuses' } as const;

export const CASES: readonly ZoneCase[] = [
  { name: 'good', lines: GOOD, findings: [], ...LOADS },
  { name: 'no-soa', lines: NS, findings: [['error', 'no-soa', 0]], ...REFUSED },
  {
    name: 'two-soa',
    lines: [...GOOD, SOA.replace(' 1 ', ' 2 ')],
    findings: [['error', 'two-soa', 4]],
    ...{ ...REFUSED, knot: 'loads', powerdns: 'loads' },
  },
  {
    name: 'soa-below',
    lines: [...GOOD, SOA.replace('@', 'sub')],
    findings: [['error', 'soa-below', 4]],
    ...{ ...REFUSED, knot: 'loads' },
  },
  {
    name: 'no-ns',
    lines: [SOA, 'ns A 192.0.2.1'],
    findings: [['error', 'no-ns', 0]],
    ...{ bind: 'refuses', nsd: 'loads', knot: 'warns', powerdns: 'refuses' },
  },
  {
    name: 'outside',
    lines: [...GOOD, 'www.example.org. A 192.0.2.1'],
    findings: [['warning', 'outside-zone', 4]],
    ...{ bind: 'warns', nsd: 'refuses', knot: 'warns', powerdns: 'refuses' },
  },
  {
    name: 'cname-first',
    lines: [...GOOD, 'www CNAME ns', 'www A 192.0.2.1'],
    findings: [['error', 'cname-and-other', 5]],
    ...REFUSED,
  },
  {
    name: 'cname-last',
    lines: [...GOOD, 'www A 192.0.2.1', 'www CNAME ns'],
    findings: [['error', 'cname-and-other', 5]],
    ...REFUSED,
  },
  {
    name: 'cname-at-apex',
    lines: [...GOOD, '@ CNAME www.example.org.'],
    findings: [['error', 'cname-and-other', 4]],
    ...REFUSED,
  },
  {
    name: 'two-cname',
    lines: [...GOOD, 'www CNAME ns', 'www CNAME ns2'],
    findings: [['error', 'two-cname', 5]],
    ...REFUSED,
  },
  {
    name: 'two-dname',
    lines: [...GOOD, 'old DNAME new', 'old DNAME new2'],
    findings: [['error', 'two-dname', 5]],
    ...{ ...REFUSED, powerdns: 'loads' },
  },
  {
    name: 'dname-cname',
    lines: [...GOOD, 'old DNAME new', 'old CNAME ns'],
    findings: [['error', 'cname-and-other', 5]],
    ...REFUSED,
  },
  {
    name: 'below-dname',
    lines: [...GOOD, 'old DNAME new', 'www.old A 192.0.2.1'],
    findings: [['error', 'below-dname', 5]],
    ...{ bind: 'loads', nsd: 'refuses', knot: 'refuses', powerdns: 'warns' },
  },
  {
    name: 'below-apex-dname',
    lines: [...GOOD, '@ DNAME example.org.'],
    findings: [['error', 'below-dname', 3]],
    ...{ ...REFUSED, powerdns: 'warns' },
  },
  {
    name: 'apex-dname',
    lines: [SOA, '@ NS ns.example.org.', '@ DNAME example.org.'],
    findings: [],
    ...LOADS,
  },
  {
    name: 'dname-at-cut',
    lines: [...GOOD, 'old DNAME new', 'old NS ns'],
    findings: [['warning', 'dname-at-cut', 4]],
    ...{ bind: 'loads', nsd: 'loads', knot: 'refuses', powerdns: 'warns' },
  },
  {
    name: 'ds-at-apex',
    lines: [...GOOD, `@ ${DS}`],
    findings: [['warning', 'ds-at-apex', 4]],
    ...{ bind: 'refuses', nsd: 'loads', knot: 'loads', powerdns: 'warns' },
  },
  {
    name: 'ds-without-ns',
    lines: [...GOOD, `sub ${DS}`],
    findings: [['warning', 'ds-without-ns', 4]],
    ...{ ...LOADS, powerdns: 'warns' },
  },
  {
    name: 'wildcard-ns',
    lines: [...GOOD, '*.old NS ns'],
    findings: [['warning', 'wildcard-ns', 4]],
    ...{ ...LOADS, bind: 'refuses' },
  },
  {
    name: 'ns-without-address',
    lines: [SOA, '@ NS ns'],
    findings: [['warning', 'no-address', 2]],
    ...{ bind: 'refuses', nsd: 'loads', knot: 'warns', powerdns: 'loads' },
  },
  {
    name: 'ns-alias',
    lines: [SOA, '@ NS ns', 'ns CNAME ns.example.org.'],
    findings: [['warning', 'host-is-alias', 2]],
    ...{ bind: 'refuses', nsd: 'loads', knot: 'warns', powerdns: 'warns' },
  },
  {
    name: 'glue-missing',
    lines: [...GOOD, 'sub NS ns.sub'],
    findings: [['warning', 'no-address', 4]],
    ...{ bind: 'warns', nsd: 'loads', knot: 'warns', powerdns: 'warns' },
  },
  {
    name: 'mx-alias',
    lines: [...GOOD, '@ MX 10 mail', 'mail CNAME ns'],
    findings: [['warning', 'host-is-alias', 4]],
    ...{ ...LOADS, bind: 'warns', powerdns: 'warns' },
  },
  {
    name: 'mx-without-address',
    lines: [...GOOD, '@ MX 10 mail'],
    findings: [['warning', 'no-address', 4]],
    ...{ ...LOADS, bind: 'warns' },
  },
  {
    name: 'occluded',
    lines: [...GOOD, 'sub NS ns.example.org.', 'www.sub TXT x'],
    findings: [['warning', 'occluded', 5]],
    ...{ ...LOADS, powerdns: 'warns' },
  },
  {
    name: 'beside-cut',
    lines: [...GOOD, 'sub NS ns.example.org.', 'sub TXT x'],
    findings: [['warning', 'occluded', 5]],
    ...{ ...LOADS, powerdns: 'warns' },
  },
  {
    name: 'ttl-differs',
    lines: [...GOOD, 'www 5 A 192.0.2.1', 'www 6 A 192.0.2.2'],
    findings: [['warning', 'ttl-differs', 5]],
    ...{ bind: 'warns', nsd: 'warns', knot: 'warns', powerdns: 'refuses' },
  },
  { name: 'cname-loop', lines: [...GOOD, 'a CNAME b', 'b CNAME a'], findings: [], ...LOADS },
  { name: 'wildcard', lines: [...GOOD, '*.w A 192.0.2.1', '@ MX 1 x.w'], findings: [], ...LOADS },
];

function absolute(name: string, zone: string): string {
  if (name === '@') return zone;
  return name.endsWith('.') ? name.slice(0, -1) : `${name}.${zone}`;
}

/** A line of a case as a record of its zone. */
export function recordOf(text: string, index: number, zone: string): CheckedRecord {
  const place = { file: `${zone}.zone`, line: index + 1 };
  const [owner = '', type = '', ...digits] = text.split(' ');
  if (type === 'DS') {
    const data = Buffer.from(`000108${'02'}${digits[3]}`, 'hex');
    return { name: encodeName(absolute(owner, zone)), type: typeNumber(type) ?? 0, ttl: 60, data, ...place };
  }
  const parsed = parseRecordText(text);
  if ('problem' in parsed) throw new Error(`${text}: ${parsed.problem}`);
  const typed = mapDataNames(typedData(parsed.type, parsed.data), (name) => absolute(name, zone));
  const ttl = typeof parsed.ttl === 'number' ? parsed.ttl : 60;
  return {
    name: encodeName(absolute(parsed.name ?? '@', zone)),
    type: typeNumber(parsed.type) ?? 0,
    ttl,
    data: encodeData(typed.type, typed.data),
    ...place,
  };
}

function typedData(type: TypedData['type'], data: unknown): TypedData {
  // The cases above are written by hand, so their data needs no check.
  return { type, data: type === 'TXT' ? [data] : data } as TypedData;
}

/** The zone file of a case: one line per record, in the order of `lines`. */
export function fileOf({ lines }: ZoneCase): string {
  return `${lines.map((line) => (/^\S+ \d+ /.test(line) ? line : line.replace(' ', ' 60 '))).join('\n')}\n`;
}
