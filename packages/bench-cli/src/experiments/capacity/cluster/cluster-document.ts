/** The report of a measurement of memory on a cluster, for every format. Pure. */
import { facts, list, type ReportDocument, table, text } from '../../../report/document/index.ts';
import { environmentFacts } from '../../../report/facts.ts';
import { formatCount, formatFixed } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { counted } from '../../../text.ts';
import type { Phase } from '../beside/phases.ts';
import { type Configuration, megabytesOf, PUBLISHED_LINES } from '../published.ts';
import type { ClusterPoint, ClusterRecord } from './cluster-record.ts';

const megabytes = (bytes: number | null) => (bytes === null ? '–' : formatFixed(bytes / 1e6, 1));

type PhaseOf = ClusterPoint['starts'][number]['phases'][number];

/** The median over the starts; null where none has it. */
function medianOf(
  point: ClusterPoint,
  phase: Phase,
  figure: (result: PhaseOf) => number | null,
): number | null {
  const values = point.starts.flatMap(({ phases }) =>
    phases.filter((result) => result.phase === phase).flatMap((result) => figure(result) ?? []),
  );
  return values.length === 0 ? null : median(values);
}

const p95 = ({ p95Bytes }: PhaseOf) => p95Bytes;
const peak = ({ peakBytes }: PhaseOf) => peakBytes;
const workingSet = ({ workingSetBytes }: PhaseOf) => workingSetBytes;

const column = (title: string, index: number) => ({ title, isNumber: index > 1 });

const COLUMNS = [
  'configuration',
  'image',
  'objects',
  'at rest',
  'full cache',
  'under load',
  'cold start peak',
  'relist peak',
  'working set',
  'published',
].map(column);

function row(point: ClusterPoint): string[] {
  const { configuration, corednsImage, objects } = point;
  return [
    configuration,
    corednsImage,
    formatCount(objects),
    megabytes(medianOf(point, 'steady', p95)),
    megabytes(medianOf(point, 'cache', p95)),
    megabytes(medianOf(point, 'load', p95)),
    megabytes(medianOf(point, 'cold-start', peak)),
    megabytes(medianOf(point, 'relist', peak)),
    megabytes(medianOf(point, 'load', workingSet)),
    formatFixed(megabytesOf(PUBLISHED_LINES[configuration satisfies Configuration], objects), 1),
  ];
}

const CREATED = [
  'objects',
  'services',
  'endpoint slices',
  'addresses',
  'pods',
  'seconds',
  'slowest p99 s',
  'cluster DNS',
].map((title, index) => ({ title, isNumber: index < 7 }));

/** What became of the cluster's own DNS: `20.1 → 22.4 MB, 0 restarts`. */
export function dnsText({ clusterDns }: Pick<ClusterPoint, 'clusterDns'>): string {
  if (clusterDns === null) return 'not known';
  const { before, after } = clusterDns;
  const restarts = counted(after.restarts - before.restarts, 'restart');
  return `${megabytes(before.memoryBytes)} → ${megabytes(after.memoryBytes)} MB, ${restarts}`;
}

function createdRow(point: ClusterPoint): string[] {
  const { objects, counts, creation } = point;
  const { services, endpointSlices, endpoints, pods } = counts;
  return [
    ...[objects, services, endpointSlices, endpoints, pods].map(formatCount),
    formatFixed(creation.seconds, 1),
    formatFixed(creation.worstP99Seconds, 2),
    dnsText(point),
  ];
}

/** In one line, for lists of runs. */
export function clusterSummary({ points }: ClusterRecord): string {
  const largest = points.toSorted((a, b) => b.objects - a.objects)[0];
  if (largest === undefined) return 'nothing was measured';
  const peaks = megabytes(medianOf(largest, 'relist', peak));
  return `${formatCount(largest.objects)} objects: ${megabytes(medianOf(largest, 'load', p95))} MB under load, relist peak ${peaks} MB`;
}

const PROCEDURE = [
  'Services without a selector, mostly without an address, which kube-proxy skips for their label; EndpointSlices with a manager of their own and addresses of 198.18.0.0/15; pods only where the configuration reads them, never scheduled.',
  'At most 50 creations a second, stopped when the API server takes more than a second for the slowest of a hundred, or the cluster’s own DNS gets near its limit. All in one namespace, which is deleted at the end.',
  'A private CoreDNS, unmodified, reads the API server through a program beside it that passes everything on as it is. To it, a restart of the API server is that this program is away for a second and then answers 410 Gone: the API server itself is left alone.',
  'Figures are anonymous memory of the process, medians over the starts, in MB (10⁶ bytes); the working set is the kubelet’s.',
];

export function clusterDocument(record: ClusterRecord): ReportDocument {
  const { points } = record;
  const starts = points.reduce((sum, point) => sum + point.starts.length, 0);
  const dead = points.flatMap((point) => point.starts.flatMap(({ death }) => death ?? []));
  const isWhole = record.status === 'complete';
  return {
    kind: 'Capacity of cluster DNS',
    title: 'Memory of a private CoreDNS on a cluster',
    state: !isWhole ? 'interrupted' : dead.length > 0 ? 'failed-trials' : 'complete',
    headline: `${isWhole ? 'Complete' : 'Interrupted'}: ${counted(starts, 'start')} of ${counted(points.length, 'point')}${record.status === 'running' ? '' : '; everything was deleted'}.`,
    facts: [record.startedAt.slice(0, 10), `run ${record.id}`],
    findings: [],
    warnings: [...record.warnings, ...new Set(dead)],
    series: [],
    sections: [
      { title: 'Memory', blocks: [table('Memory by pods and services', COLUMNS, points.map(row))] },
      {
        title: 'The objects, and the cluster meanwhile',
        blocks: [
          text('Objects are pods and services, as the published formulas count them.'),
          table('What was created', CREATED, points.map(createdRow)),
        ],
      },
      { title: 'How it was measured', blocks: [list(PROCEDURE)], isBrief: false },
      {
        title: 'Conditions',
        blocks: [facts([['Command', record.command], ...environmentFacts(record)])],
        isBrief: false,
      },
    ],
    data: {
      columns: [
        'configuration',
        'objects',
        'start',
        'phase',
        'p95_bytes',
        'peak_bytes',
        'working_set_bytes',
        'queries',
        'lost',
      ],
      rows: points.flatMap((point) =>
        point.starts.flatMap(({ phases }, index) =>
          phases.map((phase) => [
            point.configuration,
            point.objects,
            index + 1,
            phase.phase,
            phase.p95Bytes,
            phase.peakBytes,
            phase.workingSetBytes,
            phase.queries.sent,
            phase.queries.lost,
          ]),
        ),
      ),
    },
    post: {
      slug: 'coredns-memory-on-a-cluster',
      description: 'How much memory CoreDNS needs on a cluster, with synthetic objects.',
      tags: ['dns', 'coredns', 'kubernetes', 'capacity'],
      date: record.startedAt.slice(0, 10),
    },
    version: record.generator.version,
  };
}
