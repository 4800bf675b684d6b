/** The settings of the queries; part of the one table in `settings.ts`. */
import { QUERY_TYPES } from '@dinodns-bench/zones/records';
import { z } from 'zod';
import { plainPath } from '../results/portable-paths.ts';
import { type CaseFilter, caseFilters, caseFilterText } from './case-filter.ts';
import type { Setting, SettingTable } from './setting.ts';
import { choice, list, numberFrom, text, wholeNumber, yesOrNo } from './value-schemas.ts';

/** As dnsperf and dnscannon know them. */
const queryType = z
  .string('must be a query type')
  .transform((value) => value.trim().toUpperCase())
  .refine((value) => QUERY_TYPES.includes(value), 'must be a query type, for example A');

/** Of the settings of the workloads that ask as a pod does. */
const LOOKUP: Setting['needs'] = {
  give: '--workload lookup',
  met: ({ workload }) => Array.isArray(workload) && workload.some((name) => /^lookup/.test(String(name))),
};

/** In the order of the help text. */
export const WORKLOAD_SETTINGS = {
  zones: {
    flag: '--zones <n>',
    description:
      'number of zones: example1.com, example3.com, … (with thousands, the default trials are longer)',
    schema: wholeNumber(1, 10_000_000),
    default: 100,
  },
  workload: {
    flag: '--workload <list>',
    description:
      'names to query: half (exist), existing, missing, lookup, internal, external, lookup-internal, lookup-external, a query file or a capture; or several',
    schema: list(text.transform(plainPath), 'must be a list of workloads, for example existing,missing'),
    default: ['half'],
    // The cluster's own DNS does not serve the names of the zone set.
    defaultFor: (servers) => (servers.includes('cluster-dns') ? ['service'] : undefined),
    field: 'workloads',
    distinct: true,
  },
  answers: {
    flag: '--answers <check>',
    rare: true,
    description:
      'zones: answers must be those of the zone set; stable: whatever a server answers before the load it must answer under load',
    schema: choice(['zones', 'stable']),
    default: 'zones',
  },
  exclude: {
    flag: '--exclude <cases>',
    rare: true,
    description: 'cases to omit: server=knot,transport=tcp;tier=4 (a case that fits any of them)',
    schema: caseFilters,
    default: [],
    show: (filters: readonly CaseFilter[]) => filters.map(caseFilterText).join(';'),
  },
  types: {
    flag: '--types <list>',
    description: 'types to query of every name of a workload: A,AAAA (zones then have both)',
    schema: list(queryType, 'must be a list of query types, for example A,AAAA'),
    default: ['A'],
    distinct: true,
  },
  order: {
    flag: '--order <order>',
    description: 'names in sequence, at random (uniform), or by popularity (zipf)',
    schema: choice(['sequence', 'uniform', 'zipf']),
    default: 'sequence',
  },
  zipfExponent: {
    flag: '--zipf-exponent <number>',
    rare: true,
    description: 'with --order zipf: the name of rank k is queried 1/k^number as often as the first',
    schema: numberFrom(0.1, 5),
    // Of names at resolvers: Jung, Sit, Balakrishnan and Morris, "DNS Performance and the Effectiveness of Caching", 2002.
    default: 0.9,
    needs: { give: '--order zipf', met: ({ order }) => order === 'zipf' },
  },
  search: {
    flag: '--search <list>',
    rare: true,
    description: "with --workload lookup: the node's own search domains, after the cluster's three",
    schema: list(text, 'must be a list of domains'),
    // One, as on most clouds: an external name then costs five queries of each type.
    default: ['internal'],
    distinct: true,
    needs: LOOKUP,
  },
  ndots: {
    flag: '--ndots <n>',
    rare: true,
    description: 'with --workload lookup: names with fewer dots are searched for first',
    schema: wholeNumber(0, 15),
    // Of `dnsPolicy: ClusterFirst`.
    default: 5,
    needs: LOOKUP,
  },
  dnssec: {
    flag: '--dnssec',
    description: 'signed zones, and queries with the DO bit (servers that read zone files)',
    schema: yesOrNo,
    default: false,
  },
  captureSpeed: {
    flag: '--capture-speed <factor>',
    rare: true,
    description: 'replay a capture faster or slower than it was captured',
    schema: numberFrom(0.001, 1000, 'a factor'),
    default: 1,
  },
} as const satisfies SettingTable;
