/** The reports of throughput and of caching. Pure. */

import { facts, list, type ReportDocument } from '../../../report/document/index.ts';
import { environmentFacts } from '../../../report/facts.ts';
import { formatCount, formatTime } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import { endOf } from '../figures.ts';
import type { CapacityRecord } from '../record.ts';
import type { CasesResult } from './cases-record.ts';
import { summaryOf } from './summaries.ts';
import { cachingTable, counterTable, throughputTable } from './tables.ts';

function warningsOf({ trials }: CasesResult): string[] {
  const failed = trials.flatMap((trial) =>
    trial.status === 'failed' ? [`${trial.case}: ${trial.failure.message}`] : [],
  );
  const loader = trials.filter(
    (trial) => trial.status === 'ok' && trial.load === 'saturation' && trial.limitedBy === 'loader',
  ).length;
  return [
    ...new Set(failed),
    ...(loader === 0
      ? []
      : [
          `In ${counted(loader, 'trial')} at saturation the load generator was the limit, or waited for a CPU: the server may do more.`,
        ]),
  ];
}

const NOTES = [
  'A lookup is what a program in a pod asks for: the search list has four domains (the namespace’s, svc, the cluster’s, mydomain.com), ndots is 5, type A only. An external name costs five queries, a service of the pod’s own namespace one.',
  'Saturation: as fast as the server answers 100 lookups in flight, so that latency there mirrors the window. Half load: half of the lookups a second of that trial.',
];

const LOCAL_NOTES = [
  'Server and load generator share the CPUs of this machine.',
  'Every answer was checked before each trial; with autopath, the first query of an external lookup is answered with a CNAME and the address.',
];

const CLUSTER_NOTES = [
  'Each trial is a pod of its own: the servers, an upstream of ours with the programmed delay, and the load generator, which asks over the loopback interface of that pod. What kube-proxy and the network of the cluster add is not in it.',
  'kube-dns: its own three containers with the arguments of its manifest (kubedns, dnsmasq-nanny, sidecar); it asks our upstream for other names (upstreamNameservers of its ConfigMap).',
  'A lookup that found nothing makes its trial a failed one. CPU and memory are not measured here.',
];

const CACHING_NOTES = [
  'dnsmasq + CoreDNS backend: Debian’s dnsmasq with the flags of kube-dns (one thread, 1,000 entries, no negative cache by default) in front of CoreDNS without a cache. It is the caching tier of kube-dns, not kube-dns; CPU and memory are of both.',
  'CoreDNS as NodeLocal DNSCache + CoreDNS: CoreDNS with the documented Corefile of NodeLocal DNSCache, which asks CoreDNS as clusters run it over TCP for the cluster’s names, and the upstream for all others. It is not node-cache itself, which is CoreDNS with its own network set-up; CPU and memory are of both.',
  '3 × the cache: three times as many entries as it holds are asked for in turn.',
];

function findings(result: CasesResult): ReportDocument['findings'] {
  return result.cases.flatMap((item) => {
    const rate = summaryOf(result, item, 'saturation', ({ lookupsPerSecond }) => lookupsPerSecond);
    const latency = summaryOf(result, item, 'half', ({ lookupLatencySeconds }) => lookupLatencySeconds.mean);
    if (rate === null || item.cache === 'overflow') return [];
    const half = latency === null ? '' : `, ${formatTime(latency.median)} each at half load`;
    const cache = result.what === 'caching' ? `, cache ${item.cache}` : '';
    return [
      {
        subject: `${item.server}, ${item.configuration}, ${item.lookup}${cache}`,
        badge: { text: `${formatCount(rate.median)}/s`, tone: 'even' as const },
        sentence: `${formatCount(rate.median)} lookups a second${half}.`,
      },
    ];
  });
}

const COLUMNS = [
  'case',
  'server',
  'configuration',
  'lookup',
  'cache',
  'names',
  'round',
  'load',
  'status',
  'wanted_lookups_per_second',
  'queries_per_second',
  'lookups_per_second',
  'lookup_latency_seconds',
  'lookup_p99_seconds',
  'query_latency_seconds',
  'cpu_cores',
  'memory_bytes',
  'lost_ratio',
  'limited_by',
  'autopath_success',
];

function dataOf({ cases, trials }: CasesResult): ReportDocument['data'] {
  const caseOf = new Map(cases.map((item) => [item.key, item]));
  return {
    columns: COLUMNS,
    rows: trials.map((trial) => {
      const item = caseOf.get(trial.case);
      const head = [
        trial.case,
        item?.server ?? null,
        item?.configuration ?? null,
        item?.lookup ?? null,
        item?.cache ?? null,
        item?.names ?? null,
        trial.round,
        trial.load,
        trial.status,
      ];
      if (trial.status === 'failed') return [...head, ...COLUMNS.slice(head.length).map(() => null)];
      return [
        ...head,
        trial.wantedLookupsPerSecond,
        trial.queriesPerSecond,
        trial.lookupsPerSecond,
        trial.lookupLatencySeconds.mean,
        trial.lookupLatencySeconds.p99,
        trial.queryLatencySeconds,
        trial.cpuCores,
        trial.memoryBytes,
        trial.lostRatio,
        trial.limitedBy,
        trial.counters.autopath_success ?? null,
      ];
    }),
  };
}

export function casesDocument(record: CapacityRecord, result: CasesResult): ReportDocument {
  const failed = result.trials.filter(({ status }) => status === 'failed').length;
  const isThroughput = result.what === 'throughput';
  const title = isThroughput
    ? 'Throughput of CoreDNS by configuration and lookup'
    : 'Caching tiers of cluster DNS';
  return {
    kind: 'Capacity of cluster DNS',
    title,
    ...endOf(record, {
      ok: result.trials.length - failed,
      failed,
      unit: 'trial',
      points: result.cases.length,
      of: 'case',
    }),
    facts: [
      record.startedAt.slice(0, 10),
      result.cluster === undefined ? 'one machine' : 'on a cluster',
      `upstream delay ${formatTime(result.upstreamDelaySeconds)}`,
      `run ${record.id}`,
    ],
    findings: findings(result),
    warnings: [...record.warnings, ...warningsOf(result)],
    series: [],
    sections: [
      {
        title,
        blocks: [
          isThroughput ? throughputTable(result) : cachingTable(result),
          list([
            ...(isThroughput ? [] : CACHING_NOTES),
            ...NOTES,
            ...(result.cluster === undefined ? LOCAL_NOTES : CLUSTER_NOTES),
          ]),
        ],
      },
      { title: 'Counters', blocks: [counterTable(result)], isBrief: isThroughput },
      {
        title: 'Conditions',
        blocks: [
          facts([
            ...record.programs.map(({ name, version }) => [name, version] as const),
            ['Loader', `${record.loader.kind} ${record.loader.version}`],
            ['Command', record.command],
            ...environmentFacts(record),
          ]),
        ],
        isBrief: false,
      },
    ],
    data: dataOf(result),
    post: {
      slug: isThroughput ? 'coredns-throughput' : 'cluster-dns-caching',
      description: title,
      tags: ['dns', 'coredns', 'kubernetes', 'capacity'],
      date: record.startedAt.slice(0, 10),
    },
    version: record.generator.version,
  };
}

export function casesSummary(result: CasesResult): string {
  return `${result.what}: ${counted(result.cases.length, 'case')}, ${counted(result.trials.length, 'trial')}`;
}
