/** The report of a measurement of propagation. Pure. */
import type { Block, LineChart, Series } from '../../../report/document/document.ts';
import { chart, facts, list, type ReportDocument, table, text } from '../../../report/document/index.ts';
import { environmentFacts } from '../../../report/facts.ts';
import { formatCount, formatFixed, formatShort, formatTime } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import { dnsText } from '../cluster/created.ts';
import { endOf, numberColumn, withInterval } from '../figures.ts';
import type { CapacityRecord } from '../record.ts';
import type { PropagationCase, PropagationResult } from './propagation-record.ts';
import {
  type PropagationComparison,
  propagationComparisons,
  propagationSummary,
  unresolvedOf,
} from './summaries.ts';

/** `10`, `0.5` */
const changesText = (perSecond: number) =>
  Number.isInteger(perSecond) ? formatCount(perSecond) : formatShort(perSecond);

const seriesTitle = ({ server, configuration }: PropagationCase) => `${server}, ${configuration}`;

function propagationTable(result: PropagationResult): Block {
  const onCluster = result.cluster !== undefined;
  const dashes = Array<string>(onCluster ? 6 : 4).fill('–');
  return table(
    'Until a new Service resolves',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      numberColumn('Objects'),
      numberColumn('Changes/s'),
      ...(onCluster ? [numberColumn('Held')] : []),
      numberColumn('Median [95 %]'),
      numberColumn('95th percentile [95 %]'),
      numberColumn('Largest'),
      ...(onCluster ? [numberColumn('Creation')] : []),
      numberColumn('Poll resolution'),
      numberColumn('Services'),
      numberColumn('Not resolved'),
    ],
    result.cases.map((item) => {
      const summary = propagationSummary(result, item.key);
      const head = [
        item.server,
        item.configuration,
        formatCount(item.objects),
        changesText(item.churnPerSecond),
      ];
      const missing = String(unresolvedOf(result, item.key));
      if (summary === null) return [...head, ...dashes, '0', missing];
      const { creation, heldChurnPerSecond } = summary;
      return [
        ...head,
        ...(onCluster ? [formatFixed(heldChurnPerSecond, 1)] : []),
        withInterval(summary.median, formatTime),
        withInterval(summary.p95, formatTime),
        formatTime(summary.largest),
        ...(onCluster ? [creation === null ? '–' : formatTime(creation)] : []),
        formatTime(summary.resolution),
        formatCount(summary.resolved),
        missing,
      ];
    }),
  );
}

function axisText(by: PropagationComparison['by'], { objects, churnPerSecond }: PropagationCase): string {
  return by === 'objects' ? `${formatCount(objects)} objects` : `${changesText(churnPerSecond)} changes/s`;
}

function ratioText({ relative, low, high }: PropagationComparison['delta']): string {
  const ratio = {
    median: relative + 1,
    low: low === null ? null : low + 1,
    high: high === null ? null : high + 1,
  };
  return withInterval(ratio, (value) => formatFixed(value, 2));
}

function comparisonTable(result: PropagationResult): Block {
  return table(
    'What objects and changes do to it',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Compared' },
      { title: 'At' },
      numberColumn('Ratio of medians [95 %]'),
      { title: 'Verdict' },
    ],
    propagationComparisons(result).map(({ item, baseline, by, delta }) => [
      item.server,
      item.configuration,
      `${axisText(by, item)} with ${axisText(by, baseline)}`,
      axisText(by === 'objects' ? 'churnPerSecond' : 'objects', item),
      ratioText(delta),
      {
        text: delta.verdict,
        tone: delta.verdict === 'slower' ? 'bad' : delta.verdict === 'faster' ? 'good' : 'even',
      },
    ]),
  );
}

function seriesOf({ cases }: PropagationResult): Series[] {
  const sizes = [...new Set(cases.map(({ objects }) => objects))].toSorted((a, b) => a - b);
  return sizes.map((objects) => ({ name: String(objects), title: `${formatCount(objects)} objects` }));
}

/** Where a delay begins. */
const beginOf = ({ cluster }: PropagationResult) =>
  cluster === undefined ? 'the event in the API server' : 'the creation, as it is sent to the API server,';

/** Null for a single rate, which makes no line. */
function propagationChart(result: PropagationResult): LineChart | null {
  const { cases } = result;
  if (new Set(cases.map(({ churnPerSecond }) => churnPerSecond)).size < 2) return null;
  const panels = [...Map.groupBy(cases, seriesTitle)].map(([title, own]) => ({
    title,
    lines: seriesOf(result).map(({ name }) => ({
      series: name,
      points: own
        .filter(({ objects }) => String(objects) === name)
        .toSorted((a, b) => a.churnPerSecond - b.churnPerSecond)
        .flatMap(({ key, churnPerSecond }) => {
          const summary = propagationSummary(result, key);
          if (summary === null) return [];
          const { median, low, high } = summary.median;
          const interval = low === null || high === null ? {} : { low: low * 1000, high: high * 1000 };
          const tip = `${formatCount(Number(name))} objects, ${changesText(churnPerSecond)} changes/s: ${formatTime(median)}`;
          return [{ x: churnPerSecond, y: median * 1000, ...interval, tip }];
        }),
    })),
  }));
  return {
    type: 'lines',
    name: 'propagation',
    title: 'Until a new Service resolves',
    caption: `From ${beginOf(result)} to the first right answer: medians with 95 % intervals.`,
    xAxis: 'changes a second',
    yAxis: 'milliseconds',
    panels,
  };
}

function findings(result: PropagationResult): ReportDocument['findings'] {
  return result.cases.flatMap((item) => {
    const summary = propagationSummary(result, item.key);
    if (summary === null) return [];
    return [
      {
        subject: `${formatCount(item.objects)} objects, ${changesText(item.churnPerSecond)} changes/s`,
        badge: { text: formatTime(summary.median.median), tone: 'even' as const },
        sentence: `a new Service resolves ${formatTime(summary.median.median)} after its ${result.cluster === undefined ? 'event' : 'creation was sent'} (median), 95 % of them within ${formatTime(summary.p95.median)}.`,
      },
    ];
  });
}

/** Below this share of the changes that were asked for, they were not held. */
const HELD_RATIO = 0.95;

function warningsOf(result: PropagationResult): string[] {
  const failed = result.trials.flatMap((trial) =>
    trial.status === 'failed' ? [`${trial.case}: ${trial.failure.message}`] : [],
  );
  const others = result.cases.flatMap((item) => {
    const summary = propagationSummary(result, item.key);
    const unresolved = unresolvedOf(result, item.key);
    const { key, churnPerSecond } = item;
    return [
      ...(summary !== null && summary.heldChurnPerSecond < HELD_RATIO * churnPerSecond
        ? [`${key}: the API server made ${formatShort(summary.heldChurnPerSecond)} changes a second.`]
        : []),
      ...(unresolved === 0
        ? []
        : [`${key}: ${counted(unresolved, 'Service')} did not resolve within ${result.timeoutSeconds} s.`]),
    ];
  });
  return [...new Set(failed), ...others];
}

const NEGATIVE_ANSWERS =
  'CoreDNS keeps no negative answers here. With its usual `cache 30`, whoever asks before the Service exists is told NXDOMAIN for as long as that answer is kept: up to 30 seconds, whatever the delay is.';

function localNotes({ pollSeconds }: PropagationResult): string[] {
  return [
    'The delay of a Service: from the moment at which its event is ready to be sent by our API server to the arrival of the first right answer of CoreDNS over UDP. Both are read on the same clock. What a real API server and etcd need before that is not in it.',
    `A Service is announced before it exists, so that it is already asked for when it comes: every ${formatTime(pollSeconds)}, whether or not the query before was answered. Poll resolution: the median time between sending the last query that was answered otherwise and the arrival of the right answer. A delay may be smaller by up to that, and contains one exchange with CoreDNS.`,
    'Services come one after the other; changes are Services of others that are created and deleted meanwhile, every one of which CoreDNS is told.',
    NEGATIVE_ANSWERS,
    'CoreDNS, the API server and the client share the CPUs of this machine.',
  ];
}

function clusterNotes({ pollSeconds }: PropagationResult): string[] {
  return [
    'The delay of a Service: from sending its creation to the API server of the cluster to the arrival of the first right answer of CoreDNS over UDP. Both are read on the same clock, by a program in the pod of that CoreDNS. Creation: what the API server needs of that until it confirms; a Service may resolve before.',
    `It is asked for before it exists, every ${formatTime(pollSeconds)}, whether or not the query before was answered. Poll resolution: the median time between sending the last query that was answered otherwise and the arrival of the right answer. A delay may be smaller by up to that, and contains one exchange with CoreDNS.`,
    'A private CoreDNS, unmodified, reads the API server of the cluster by itself. It is asked in its pod, not through a Service: what kube-proxy and the network of the cluster add is not in it.',
    'Services come one after the other, five a second at most, each with an address of the cluster, and are deleted when they resolve; changes are headless Services that are created and deleted meanwhile, every one of which CoreDNS is told. Held: the changes that the API server has confirmed, a second, with four requests in flight at most. It stops when the API server takes more than a second for the slowest of a hundred, or when the cluster’s own DNS gets near its limit.',
    NEGATIVE_ANSWERS,
  ];
}

const COLUMNS = [
  'case',
  'server',
  'configuration',
  'objects',
  'churn_per_second',
  'held_churn_per_second',
  'round',
  'status',
  'delay_seconds',
  'resolution_seconds',
  'creation_seconds',
];

/** A row for each Service; one without figures for a trial that failed. */
function dataOf({ cases, trials }: PropagationResult): ReportDocument['data'] {
  const caseOf = new Map(cases.map((item) => [item.key, item]));
  return {
    columns: COLUMNS,
    rows: trials.flatMap((trial) => {
      const item = caseOf.get(trial.case);
      const place = [
        trial.case,
        item?.server ?? null,
        item?.configuration ?? null,
        item?.objects ?? null,
        item?.churnPerSecond ?? null,
      ];
      if (trial.status === 'failed') return [[...place, null, trial.round, trial.status, null, null, null]];
      return trial.delaysSeconds.map((delay, index) => [
        ...place,
        trial.heldChurnPerSecond,
        trial.round,
        trial.status,
        delay,
        trial.resolutionsSeconds[index] ?? null,
        trial.creationSeconds?.[index] ?? null,
      ]);
    }),
  };
}

export function propagationDocument(record: CapacityRecord, result: PropagationResult): ReportDocument {
  const failed = result.trials.filter(({ status }) => status === 'failed').length;
  const title = 'How long a new Service takes to resolve';
  const drawn = propagationChart(result);
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
      `run ${record.id}`,
    ],
    findings: findings(result),
    warnings: [...record.warnings, ...warningsOf(result)],
    series: seriesOf(result),
    sections: [
      {
        title,
        blocks: [
          propagationTable(result),
          ...(drawn === null ? [] : [chart(drawn)]),
          list(result.cluster === undefined ? localNotes(result) : clusterNotes(result)),
        ],
      },
      {
        title: 'What objects and changes do to it',
        blocks: [
          comparisonTable(result),
          text(
            'Trials of the same round are compared, by their medians. A verdict needs an interval without 1, also after correction for all comparisons (Holm).',
          ),
        ],
      },
      {
        title: 'Conditions',
        blocks: [
          facts([
            ...record.programs.map(({ name, version }) => [name, `CoreDNS ${version}`] as const),
            ['Command', record.command],
            ...(result.cluster === undefined
              ? []
              : [['DNS of the cluster, before → after', dnsText(result.cluster.clusterDns)] as const]),
            ...environmentFacts(record),
          ]),
        ],
        isBrief: false,
      },
    ],
    data: dataOf(result),
    post: {
      slug: 'coredns-propagation',
      description: title,
      tags: ['dns', 'coredns', 'kubernetes', 'capacity'],
      date: record.startedAt.slice(0, 10),
    },
    version: record.generator.version,
  };
}

export function propagationSummaryLine(result: PropagationResult): string {
  return `propagation: ${counted(result.cases.length, 'case')}, ${counted(result.trials.length, 'trial')}`;
}
