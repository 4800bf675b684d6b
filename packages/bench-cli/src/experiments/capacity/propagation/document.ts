/** What only a run of propagation can say. Pure. */
import { linePoint } from '../../../engine/chart.ts';
import type { DocumentParts } from '../../../engine/document.ts';
import { claimsOf, type EngineCase } from '../../../engine/record.ts';
import { caseTitle, pointText } from '../../../engine/words.ts';
import { charts, type LineChart } from '../../../report/document/document.ts';
import { formatShort, formatTime } from '../../../report/numbers.ts';
import { asSentence, counted, listed } from '../../../text.ts';
import { loadOf, objectsText, type PropagationRecord } from './evidence.ts';
import { pollSecondsOf } from './settings.ts';

const medianOf = ({ summary }: EngineCase, name: string) => summary[name]?.median ?? null;

/** Null for a single rate, which makes no line. */
function picture(record: PropagationRecord): LineChart | null {
  const cases = claimsOf(record);
  if (new Set(cases.map(({ subject }) => loadOf(subject).churn)).size < 2) return null;
  const begin =
    record.environment.cluster === null
      ? 'the event in the API server'
      : 'the creation, as it is sent to the API server,';
  const panels = [...Map.groupBy(cases, (item) => pointText(record, item, true))].map(([title, own]) => ({
    title,
    lines: [...Map.groupBy(own, ({ subject }) => loadOf(subject).objects)].map(([objects, line]) => ({
      // The colour of the first case of a size is that of its line.
      series: line[0]?.key ?? '',
      points: line
        .toSorted((a, b) => loadOf(a.subject).churn - loadOf(b.subject).churn)
        .flatMap((item) =>
          linePoint(
            item.summary.median,
            1000,
            loadOf(item.subject).churn,
            (median) => `${objectsText(objects)}, ${caseTitle(record, item)}: ${formatTime(median)}`,
          ),
        ),
    })),
  }));
  return {
    type: 'lines',
    name: 'propagation',
    title: 'Until a new Service resolves',
    caption: `From ${begin} to the first right answer: medians with 95 % intervals; a line for each number of objects.`,
    xAxis: 'changes a second',
    yAxis: 'milliseconds',
    panels,
  };
}

/** Below this share of the changes that were asked for, they were not held. */
const HELD_RATIO = 0.95;

function warningsOf(record: PropagationRecord): string[] {
  return claimsOf(record).flatMap((item) => {
    const [held, unresolved] = [medianOf(item, 'held'), medianOf(item, 'unresolved') ?? 0];
    const title = caseTitle(record, item);
    return [
      ...(held !== null && held < HELD_RATIO * loadOf(item.subject).churn
        ? [`${title}: the API server made ${formatShort(held)} changes a second.`]
        : []),
      ...(unresolved === 0
        ? []
        : [
            `${title}: ${counted(unresolved, 'Service')} of a trial did not resolve within ${record.settings.timeout} s (median). They count as slower than all others; a figure that falls on one is missing.`,
          ]),
    ];
  });
}

const NEGATIVE_ANSWERS =
  'CoreDNS keeps no negative answers here. With its usual `cache 30`, a client that asks before the Service exists gets NXDOMAIN for as long as that answer is kept: up to 30 seconds, whatever the delay is.';

function localNotes(pollSeconds: number): string[] {
  return [
    'The delay of a Service: from the moment at which its event is ready to be sent by our API server to the arrival of the first right answer of CoreDNS over UDP. Both are read on the same clock. What a real API server and etcd need before that is not in it.',
    `A Service is announced before it exists, so that it is already asked for when it comes: every ${formatTime(pollSeconds)}, whether or not the query before was answered. Poll resolution: the median time between sending the last query that was answered otherwise and the arrival of the right answer. A delay may be smaller by up to that, and contains one exchange with CoreDNS.`,
    'Services come one after the other; changes are Services of others that are created and deleted meanwhile, every one of which CoreDNS is told.',
    NEGATIVE_ANSWERS,
    'CoreDNS, the API server and the client share the CPUs of this machine.',
  ];
}

function clusterNotes(pollSeconds: number): string[] {
  return [
    'The delay of a Service: from sending its creation to the API server of the cluster to the arrival of the first right answer of CoreDNS over UDP. Both are read on the same clock, by a program in the pod of that CoreDNS. Creation: what the API server needs of that until it confirms; a Service may resolve before.',
    `It is asked for before it exists, every ${formatTime(pollSeconds)}, whether or not the query before was answered. Poll resolution: the median time between sending the last query that was answered otherwise and the arrival of the right answer. A delay may be smaller by up to that, and contains one exchange with CoreDNS.`,
    'A private CoreDNS, unmodified, reads the API server of the cluster by itself. It is asked in its pod, not through a Service: what kube-proxy and the network of the cluster add is not in it.',
    "Services come one after the other, five a second at most, each with an address of the cluster, and are deleted when they resolve; changes are headless Services that are created and deleted meanwhile, every one of which CoreDNS is told. Held: the changes that the API server has confirmed, a second, with four requests in flight at most. It stops when the API server takes more than a second for the slowest of a hundred, or when the cluster's own DNS gets near its limit.",
    NEGATIVE_ANSWERS,
  ];
}

export function propagationDocument(record: PropagationRecord): DocumentParts {
  const poll = pollSecondsOf(record.settings);
  const isHere = record.environment.cluster === null;
  const delays = claimsOf(record).flatMap((item) => {
    const delay = medianOf(item, 'median');
    return delay === null ? [] : [`after ${formatTime(delay)} with ${caseTitle(record, item)}`];
  });
  const ends = [...delays.slice(0, 1), ...delays.slice(1).slice(-1)];
  const result = ends.length === 0 ? undefined : `a new Service resolves (medians) ${listed(ends)}`;
  return {
    kind: 'Capacity of cluster DNS, propagation',
    title: 'How long a new Service takes to resolve',
    subject: 'Load',
    result,
    tables: [
      {
        title: 'Until a new Service resolves',
        estimands: ['median', 'p95', 'largest', 'resolution', ...(isHere ? [] : ['creation'])],
      },
      { title: 'Services and changes', estimands: ['unresolved', 'held'] },
    ],
    warnings: warningsOf(record),
    sections: [{ title: 'By changes a second', blocks: charts(picture(record)) }],
    method: isHere ? localNotes(poll) : clusterNotes(poll),
    post: {
      excerpt: result === undefined ? '' : asSentence(result),
      caveats: [
        isHere
          ? 'The API server was a program of this project: the times do not include a real API server and etcd.'
          : 'CoreDNS was asked in its pod: the times do not include kube-proxy and the network of the cluster.',
        NEGATIVE_ANSWERS,
      ],
    },
    tags: ['coredns', 'kubernetes', 'capacity'],
  };
}
