/** What only a run of throughput or caching can say. Pure. */
import { casePoint } from '../../../engine/chart.ts';
import type { DocumentParts } from '../../../engine/document.ts';
import { claimsOf, type EngineCase, evidencesOf } from '../../../engine/record.ts';
import { caseTitle, pointText, subjectTitle } from '../../../engine/words.ts';
import { type Block, charts, type IntervalChart, numbers, table } from '../../../report/document/document.ts';
import { formatCount, formatFixed } from '../../../report/numbers.ts';
import type { SummaryStatistic } from '../../../results/record.ts';
import { median } from '../../../stats/intervals.ts';
import { counted, listed } from '../../../text.ts';
import { CACHING, type CasesEvidence, type CasesRecord, COUNTERS, isCpuBound } from './evidence.ts';

const LOOKUP =
  "A lookup is what a program in a pod asks for: the search list has four domains (the namespace's, svc, the cluster's, mydomain.com), ndots is 5, type A only. An external name costs five queries, a service of the pod's own namespace one.";
const LOADS =
  'Saturation: as fast as the server answers 100 lookups in flight, so that latency there mirrors the window. Half load, right after it and of the same server: half of the lookups a second that the saturation reached.';
const BOUND =
  'CPU bound: in every trial the server used at least 90 % of its CPU limit at saturation. Other rates are lower bounds; plans use none of them.';
const CHECKED =
  'Every answer was checked before each trial; with autopath, the first query of an external lookup is answered with a CNAME and the address.';
const TOGETHER = 'Server and load generator share the CPUs of this machine.';
const APART =
  'On the cluster, the server is a pod with a Service; its API server and its upstream are containers beside it, outside its CPU limit, and the load generator is a pod of its own.';
const ONE_POD = [
  "Each trial is a pod of its own: the servers, this project's upstream with the programmed delay, and the load generator, which asks over the loopback interface of that pod. What kube-proxy and the network of the cluster add is not in it. CPU and memory are those of all servers of the tier, by their processes.",
  'kube-dns: its own three containers with the arguments of its manifest (kubedns, dnsmasq-nanny, sidecar); it asks our upstream for other names (upstreamNameservers of its ConfigMap). A lookup that found nothing makes its trial a failed one.',
];
const TIERS = [
  "dnsmasq + CoreDNS backend: Debian's dnsmasq with the flags of kube-dns (one thread, 1,000 entries, no negative cache by default) in front of CoreDNS without a cache. It is the caching tier of kube-dns, not kube-dns; CPU and memory are of both, and so is the CPU limit.",
  "CoreDNS as NodeLocal DNSCache + CoreDNS: CoreDNS with the documented Corefile of NodeLocal DNSCache, which asks CoreDNS as clusters run it over TCP for the cluster's names, and the upstream for all others. It is not node-cache itself, which is CoreDNS with its own network set-up; CPU and memory are of both.",
  'Cached: names that fit into every cache. Uncached: without caches. Overflow: three times as many entries as the cache holds are asked for in turn.',
];

const claims = (record: CasesRecord) => claimsOf(record).filter(({ trials }) => trials.ok > 0);

const shown = (summary: SummaryStatistic | null | undefined, show: (value: number) => string) =>
  summary == null ? '–' : show(summary.median);

/** Of all lookups of one kind: `internal names`, `external names at tier 1`. */
function namesOf(record: CasesRecord, item: EngineCase): string {
  const { lookup, ...others } = item.point;
  const rest = pointText(record, { point: others });
  return `${lookup} names${rest === '' ? '' : ` at ${rest}`}`;
}

/** Those that answered the same lookups side by side. */
const groupsOf = (record: CasesRecord) => [...Map.groupBy(claims(record), (item) => namesOf(record, item))];

/** The beginning of a post: a sentence for each kind of lookup. */
function verdictsOf(record: CasesRecord): string {
  const sentences = groupsOf(record).map(([names, items]) => {
    const parts = items.map((item, index) => {
      const bound = isCpuBound(evidencesOf(record, item.key)) ? '' : 'at least ';
      const rate = `${bound}${shown(item.summary.lookups, formatCount)}`;
      const isOpen = item.comparison?.deltas.lookups?.verdict === 'no difference shown';
      const said = index === 0 ? ` answered ${rate} lookups a second` : ` ${rate}`;
      return `${subjectTitle(record, item.subject)}${said}${isOpen ? ' (no difference shown)' : ''}`;
    });
    return `For ${names}, ${listed(parts)}.`;
  });
  return sentences.join(' ');
}

function rateChart(record: CasesRecord): IntervalChart {
  return {
    type: 'intervals',
    name: 'lookups',
    title: 'Lookups at saturation',
    axis: 'lookups a second',
    caption:
      'Lookups a second; more is better. Bars: medians. Whiskers: 95 % intervals. Points: single trials.',
    groups: groupsOf(record).map(([label, items]) => ({
      label,
      points: items.flatMap((item) =>
        casePoint(record, item, 'lookups', 1, {
          series: item.subject,
          tip: `${subjectTitle(record, item.subject)}, ${label}: ${shown(item.summary.lookups, formatCount)} lookups a second`,
        }),
      ),
    })),
  };
}

/** What kept a rate from being higher, where it was not the server's CPU. */
function othersOf(evidences: readonly CasesEvidence[]): string {
  const limits = evidences.map(({ saturation }) => saturation.limitedBy).filter((name) => name !== 'server');
  const words = { loader: 'load generator', rate: 'rate', unknown: 'unknown' } as const;
  return [...Map.groupBy(limits, (name) => name)]
    .map(([name, all]) => `${words[name]} in ${all.length} of ${counted(evidences.length, 'trial')}`)
    .join(', ');
}

function boundTable(record: CasesRecord): Block {
  return table(
    'CPU bound',
    [
      ...['Server', 'CPU bound', 'Limit otherwise'],
      ...numbers('CPU limit', 'CPUs used', 'Queries a lookup', 'Names'),
    ],
    claims(record).map((item) => {
      const evidences = evidencesOf(record, item.key);
      const isBound = isCpuBound(evidences);
      const { lookups, queries, cores } = item.summary;
      const each = lookups == null || queries == null ? null : queries.median / lookups.median;
      return [
        caseTitle(record, item),
        { text: isBound ? 'yes' : 'no', tone: isBound ? 'good' : 'warn' },
        othersOf(evidences) || '–',
        item.point.tier === undefined ? 'none' : String(item.point.tier),
        shown(cores, (value) => formatFixed(value, 2)),
        each === null ? '–' : formatFixed(each, 2),
        formatCount(evidences[0]?.names ?? 0),
      ];
    }),
  );
}

/** Autopath works where its counter says so; a cache, where its hits do. */
function counterTable(record: CasesRecord): Block {
  return table(
    'Counters of CoreDNS',
    ['Server', ...numbers(...Object.values(COUNTERS).map(({ title }) => title))],
    claims(record).flatMap((item) => {
      const all = evidencesOf(record, item.key).map(({ counters }) => counters);
      if (all.every((counters) => Object.keys(counters).length === 0)) return [];
      const cells = Object.keys(COUNTERS).map((name) => {
        const values = all.flatMap((counters) => counters[name] ?? []);
        return values.length === 0 ? '–' : formatCount(median(values));
      });
      return [[caseTitle(record, item), ...cells]];
    }),
  );
}

function methodOf({ experiment, environment: { cluster } }: CasesRecord): string[] {
  const isCaching = experiment === CACHING;
  if (cluster !== null)
    return [LOOKUP, LOADS, BOUND, ...(isCaching ? [...ONE_POD, ...TIERS] : [APART, CHECKED])];
  return [LOOKUP, LOADS, BOUND, TOGETHER, CHECKED, ...(isCaching ? TIERS : [])];
}

export function casesDocument(record: CasesRecord): DocumentParts {
  const { experiment, settings } = record;
  const all = claims(record);
  const bound = all.filter((item) => isCpuBound(evidencesOf(record, item.key))).length;
  return {
    kind: `Capacity of cluster DNS, ${experiment === CACHING ? 'caching' : 'throughput'}`,
    title:
      experiment === CACHING
        ? 'Caching tiers of cluster DNS'
        : 'Throughput of CoreDNS by configuration and lookup',
    result: all.length === 0 ? undefined : `CPU bound in ${bound} of ${counted(all.length, 'case')}`,
    tables: [
      { title: 'Rates', estimands: ['lookups', 'queries', 'lost'] },
      { title: 'CPU and memory', estimands: ['cpu', 'cores', 'memory'] },
      { title: 'Latency of a lookup', estimands: ['halfLatency', 'halfP99', 'latency', 'p99'] },
    ],
    series: record.subjects,
    sections: [
      { title: 'Lookups', blocks: charts(all.length === 0 ? null : rateChart(record)) },
      { title: 'CPU bound', blocks: [boundTable(record)] },
      { title: 'Counters', isBrief: false, blocks: [counterTable(record)] },
    ],
    method: [...methodOf(record), `The upstream answers after ${settings.upstreamDelay} ms.`],
    post: {
      excerpt: verdictsOf(record),
      caveats: [
        record.environment.cluster === null
          ? 'Servers and load generator shared one machine: no network lay between them.'
          : 'The figures are of this cluster on this day.',
        `The upstream was a program of this project, which always answers after ${settings.upstreamDelay} ms.`,
      ],
    },
    tags: ['coredns', 'kubernetes', 'capacity'],
  };
}
