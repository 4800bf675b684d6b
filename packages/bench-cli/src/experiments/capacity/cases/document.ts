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
import {
  CACHING,
  type CasesEvidence,
  type CasesRecord,
  COUNTERS,
  isCpuBound,
  type MemorySource,
} from './evidence.ts';
import { type CacheState, DNSMASQ, KUBE_DNS, NODE_LOCAL, tierPoint } from './subjects.ts';

const LOOKUP =
  "A lookup is what a program in a pod asks for: the search list has four domains (the namespace's, svc, the cluster's, mydomain.com), ndots is 5, type A only. An external name costs five queries, a service of the pod's own namespace one.";
const SATURATION =
  'Saturation: as fast as the server answers 100 lookups in flight, so that latency there mirrors the window.';
const HALF =
  'Half load, right after it and of the same server: half of the lookups a second that the saturation reached.';
const BOUND =
  'CPU bound: in every trial the server used at least 90 % of its CPU limit at saturation. Other rates are lower bounds; plans use none of them.';
const CHECKED =
  'Every answer was checked before each trial; with autopath, the first query of an external lookup is answered with a CNAME and the address.';
const TOGETHER = 'Server and load generator share the CPUs of this machine.';
const APART =
  'On the cluster, the server is a pod with a Service; its API server and its upstream are containers beside it, outside its CPU limit, and the load generator is a pod of its own.';
const ONE_POD = [
  "Each trial is a pod of its own: the servers, this project's upstream with the programmed delay, and the load generator, which asks over the loopback interface of that pod. What kube-proxy and the network of the cluster add is not in it. CPU and memory are those of all servers of the tier, by their processes.",
  'A lookup that found nothing makes its trial a failed one.',
];
/** By the subjects that they are. */
const TIERS: Readonly<Record<string, string>> = {
  [KUBE_DNS]:
    'kube-dns: its own three containers with the arguments of its manifest (kubedns, dnsmasq-nanny, sidecar); it asks our upstream for other names (upstreamNameservers of its ConfigMap).',
  [DNSMASQ]:
    "dnsmasq + CoreDNS backend: Debian's dnsmasq with the flags of kube-dns (one thread, 1,000 entries, no negative cache by default) in front of CoreDNS without a cache. It is the caching tier of kube-dns, not kube-dns; CPU and memory are of both, and so is a CPU limit.",
  [NODE_LOCAL]:
    "CoreDNS as NodeLocal DNSCache + CoreDNS: CoreDNS with the documented Corefile of NodeLocal DNSCache, which asks CoreDNS as clusters run it over TCP for the cluster's names, and the upstream for all others. It is not node-cache itself, which is CoreDNS with its own network set-up; CPU and memory are of both.",
};
const CACHES: Readonly<Record<CacheState, string>> = {
  cached: 'Cached: names that fit into every cache.',
  uncached: 'Uncached: without caches.',
  overflow: 'Overflow: three times as many entries as the cache holds are asked for in turn.',
};
const MEMORY: Readonly<Record<MemorySource, string>> = {
  pss: 'the proportional set size of its processes, pages of the program included',
  rss: 'the resident set size of its processes, pages of the program included: the proportional one could not be read',
  'working-set': "the kubelet's working set of its container",
  anonymous:
    'anonymous memory of its processes: pages of the program, which runs on one machine count, are not in it',
};

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

/** Instead of `CPU bound`, where there is no limit to be bound by. */
const UNLIMITED = 'What limited the rates';

function boundTable(record: CasesRecord, isLimited: boolean): Block {
  return table(
    isLimited ? 'CPU bound' : UNLIMITED,
    [
      ...['Server', ...(isLimited ? ['CPU bound', 'Limit otherwise'] : ['Limit'])],
      ...numbers(...(isLimited ? ['CPU limit'] : []), 'CPUs used', 'Queries a lookup', 'Names'),
    ],
    claims(record).map((item) => {
      const evidences = evidencesOf(record, item.key);
      const isBound = isCpuBound(evidences);
      const { lookups, queries, cores } = item.summary;
      const each = lookups == null || queries == null ? null : queries.median / lookups.median;
      return [
        caseTitle(record, item),
        ...(isLimited ? [{ text: isBound ? 'yes' : 'no', tone: isBound ? 'good' : 'warn' } as const] : []),
        othersOf(evidences) || '–',
        ...(isLimited ? [String(item.point.tier)] : []),
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

const allOf = (record: CasesRecord) => claims(record).flatMap(({ key }) => evidencesOf(record, key));

const hasHalf = (record: CasesRecord) => allOf(record).some(({ half }) => half !== null);
/** Whether servers had a CPU limit: on a cluster, the containers of a caching tier have none. */
const hasLimit = ({ cases }: CasesRecord) => cases.some(({ point }) => point.tier !== undefined);

function memoryNote(record: CasesRecord): string[] {
  const { experiment, environment } = record;
  // What older records do not say.
  const ofCluster = experiment === CACHING ? 'anonymous' : 'working-set';
  const usual = environment.cluster === null ? 'pss' : ofCluster;
  const sources = new Set(
    allOf(record).flatMap(({ saturation: { memoryBytes, memorySource = usual } }) =>
      memoryBytes === null ? [] : memorySource,
    ),
  );
  if (sources.size === 0) return [];
  return [
    `Memory of a server: the mean, under load, of ${[...sources].map((each) => MEMORY[each]).join('; or ')}.`,
  ];
}

function tierNotes({ subjects, cases }: CasesRecord): string[] {
  const isOf = (tier: string) => subjects.some(({ name }) => name.startsWith(tier));
  const states = new Set(cases.map((item) => tierPoint(item).cache));
  return [
    ...Object.entries(TIERS).flatMap(([tier, note]) => (isOf(tier) ? [note] : [])),
    Object.entries(CACHES)
      .flatMap(([state, note]) => (states.has(state as CacheState) ? [note] : []))
      .join(' '),
  ];
}

function methodOf(record: CasesRecord): string[] {
  const isCaching = record.experiment === CACHING;
  const apart = isCaching ? ONE_POD : [APART, CHECKED];
  return [
    LOOKUP,
    hasHalf(record) ? `${SATURATION} ${HALF}` : SATURATION,
    ...(hasLimit(record) ? [BOUND] : []),
    ...(record.environment.cluster === null ? [TOGETHER, CHECKED] : apart),
    ...(isCaching ? tierNotes(record) : []),
    ...memoryNote(record),
  ];
}

export function casesDocument(record: CasesRecord): DocumentParts {
  const { experiment, settings } = record;
  const all = claims(record);
  const bound = all.filter((item) => isCpuBound(evidencesOf(record, item.key))).length;
  const isLimited = hasLimit(record);
  return {
    kind: `Capacity of cluster DNS, ${experiment === CACHING ? 'caching' : 'throughput'}`,
    title:
      experiment === CACHING
        ? 'Caching tiers of cluster DNS'
        : 'Throughput of CoreDNS by configuration and lookup',
    result:
      all.length === 0 || !isLimited ? undefined : `CPU bound in ${bound} of ${counted(all.length, 'case')}`,
    tables: [
      { title: 'Rates', estimands: ['lookups', 'queries', 'lost'] },
      { title: 'CPU and memory', estimands: ['cpu', 'cores', 'memory'] },
      {
        title: 'Latency of a lookup',
        estimands: [...(hasHalf(record) ? ['halfLatency', 'halfP99'] : []), 'latency', 'p99'],
      },
    ],
    series: record.subjects,
    sections: [
      { title: 'Lookups', blocks: charts(all.length === 0 ? null : rateChart(record)) },
      { title: isLimited ? 'CPU bound' : UNLIMITED, blocks: [boundTable(record, isLimited)] },
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
