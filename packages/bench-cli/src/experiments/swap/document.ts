/** A swap's record as a report. Pure. */
import type { Section } from '../../report/document/document.ts';
import { chart, code, facts, list, type ReportDocument, text } from '../../report/document/index.ts';
import { environmentFacts } from '../../report/facts.ts';
import { formatFixed } from '../../report/numbers.ts';
import { counted } from '../../text.ts';
import { buildDifferences, buildText } from './builds.ts';
import { canarySentence } from './canary-words.ts';
import { netChart, perQueryChart, timeChart } from './charts.ts';
import { CANARY_RATE, CANARY_TIMEOUT_SECONDS } from './in-place/canary-count.ts';
import { figuresOf } from './placement-figures.ts';
import { PROBE_SECONDS, rateAdvice } from './rate-held.ts';
import { podTable, readingsTable } from './readings.ts';
import { SIDES, type SwapRecord, WORKLOADS } from './record.ts';
import { netTable, placementTable, publishedTable, serviceTable } from './tables.ts';
import { netDifference, sentenceOf, toneOf } from './words.ts';

function headlineOf({ status, placements, settings, failure }: SwapRecord): string {
  const planned = settings.sequence.length;
  const failed = placements.filter((placement) => placement.failure !== null).length;
  const measured = `${placements.length - failed} of ${planned} placements measured`;
  if (failure !== null) return `Ended early, ${measured}: ${failure.message}.`;
  if (status === 'complete')
    return failed === 0
      ? `Complete: ${measured}.`
      : `Finished, but ${failed} of ${planned} placements do not count.`;
  return `Not finished: ${measured}.`;
}

function stateOf({ status, placements, failure }: SwapRecord): ReportDocument['state'] {
  if (status !== 'complete') return 'interrupted';
  return failure === null && placements.every((placement) => placement.failure === null)
    ? 'complete'
    : 'failed-trials';
}

/** The result in one line. */
export function summaryOf(record: SwapRecord): string {
  const { A, B } = record.versions;
  const verdicts = record.results.flatMap(({ workload, difference }) =>
    difference === null ? [] : [`${workload} ${difference.verdict}`],
  );
  return `${record.method}: ${B.version} against ${A.version}: ${verdicts.length === 0 ? 'no result' : verdicts.join(', ')}`;
}

function shadowNotes({ method, notCarriedOver }: SwapRecord): string[] {
  if (method !== 'shadow') return [];
  return [
    "The versions ran beside the cluster's DNS, which was not touched: they had none of its own background load.",
    ...notCarriedOver.map((what) => `Not carried over to the copies: ${what}.`),
  ];
}

/** Whether everything is as before, and what was done for it. */
function restoreBlocks({ method, restore, placements, status }: SwapRecord) {
  if (method !== 'in-place') return [];
  if (restore === null && placements.length === 0 && status !== 'running')
    return [
      text('It ended before its first placement. See whether anything is changed with: bench swap status'),
    ];
  if (restore === null)
    return [
      text(
        'bench ended before it could see everything put back: the guard in the cluster does that. See what is left with: bench swap status',
      ),
    ];
  const { seconds, changes, superseded } = restore;
  return [
    text(
      superseded.length === 0
        ? `Everything was as before ${formatFixed(seconds, 1)} s after the last placement.`
        : `${formatFixed(seconds, 1)} s after the last placement, everything was as before but for what somebody else has changed meanwhile.`,
    ),
    list([
      ...changes.map(({ what, before, after, state }) => `${what}: ${before} → ${after}, ${state}`),
      ...superseded.map((what) => `Left alone, because somebody else has changed it: ${what}`),
    ]),
  ];
}

/** Which names are asked for, where the user has given them. */
function queryItems({ queries = {} }: SwapRecord['settings']): string[] {
  return WORKLOADS.flatMap((workload) => {
    const own = queries[workload];
    return own === undefined
      ? []
      : [`The queries of ${workload} are those of ${own.file}: ${own.names} different ones.`];
  });
}

function methodItems(record: SwapRecord): string[] {
  const { settings, method } = record;
  const { ratePerSecond, durationSeconds, idleSeconds, settleSeconds, sequence } = settings;
  const how =
    method === 'shadow'
      ? "Each placement starts a fresh Deployment of one version in the run's namespace, with the cluster's Corefile, replicas, requests, limits and read rights"
      : "Each placement changes the image of the cluster's own DNS and waits until every pod runs it";
  return [
    `${how}; then ${settleSeconds} s to settle, ${idleSeconds} s idle, ${durationSeconds} s of each workload at ${formatFixed(ratePerSecond, 0)} queries a second in total, and ${idleSeconds} s idle. Sequence: ${sequence}.`,
    ...queryItems(settings),
    'A placement is the unit of replication: readings within one are not independent. A and B next to each other are a pair; differences are those of pairs.',
    'Net CPU is CPU under load minus the mean of the idle windows of the same placement. It is the CPU of the DNS containers alone, without sidecars.',
    'Intervals are 95 % confidence intervals. Of differences: the signed-rank interval (Hodges and Lehmann) where there are enough pairs, else Student’s t. more or less is said where the interval leaves out zero and the p value, corrected for both workloads (Holm), is at most 5 %.',
    `A placement counts if at least 98 % of the rate was held, and no pod was restarted, replaced or of another version. Before the first one, version A has answered at the rate for ${PROBE_SECONDS} s: that it held for a whole load, only the placements show.`,
    ...(method === 'in-place'
      ? [
          `A canary in the cluster asks ${CANARY_RATE} queries a second through the Service, from a new socket each, from before the first change until everything is put back; a query without an answer within ${CANARY_TIMEOUT_SECONDS} s, or with SERVFAIL or REFUSED, is lost. Each change of the image is a rolling update by the workload's own strategy: bench swap canary shows what an ordinary one loses.`,
        ]
      : []),
  ];
}

function dataOf(record: SwapRecord): ReportDocument['data'] {
  const { placements, versions, settings } = record;
  const rows = placements.flatMap((placement) =>
    WORKLOADS.filter((workload) => placement.phases.some(({ kind }) => kind === workload)).map((workload) => {
      const one = figuresOf(placement, workload, settings.ratePerSecond);
      return [
        placement.number,
        Math.floor((placement.number - 1) / 2) + 1,
        placement.side,
        versions[placement.side].version,
        workload,
        one.excluded,
        one.idleCores,
        one.loadedCores,
        one.netCores,
        one.cpuSecondsPerQuery,
        one.qps,
        one.sent,
        one.lost,
        one.p99Seconds,
        one.memoryBytes,
        placement.rolloutSeconds,
        placement.rolloutCanary?.sent ?? null,
        placement.rolloutCanary?.lost ?? null,
        placement.canary?.sent ?? null,
        placement.canary?.lost ?? null,
        placement.startedAt,
        placement.endedAt,
      ];
    }),
  );
  return {
    columns: [
      'placement',
      'pair',
      'side',
      'version',
      'workload',
      'excluded',
      'idle_cores',
      'loaded_cores',
      'net_cores',
      'cpu_seconds_per_query',
      'qps',
      'queries_sent',
      'queries_lost',
      'latency_p99_seconds',
      'memory_bytes',
      'rollout_seconds',
      'canary_sent_during_rollout',
      'canary_lost_during_rollout',
      'canary_sent_afterwards',
      'canary_lost_afterwards',
      'started_at',
      'ended_at',
    ],
    rows,
  };
}

function findingsOf(record: SwapRecord): ReportDocument['findings'] {
  return record.results.flatMap(({ workload, difference }) => {
    if (difference === null) return [];
    const { verdict } = difference;
    const isFigure = verdict === 'more' || verdict === 'less';
    const badge = isFigure ? `${verdict}: ${netDifference(difference)}` : verdict;
    return [
      {
        subject: `${record.versions.B.version}, ${workload}`,
        badge: { text: badge, tone: toneOf(verdict) },
        sentence: sentenceOf(record, workload, difference),
      },
    ];
  });
}

/** Problems that a verdict does not name by itself. */
function warningsOf(record: SwapRecord): string[] {
  const excluded = record.results.flatMap(({ workload, difference }) =>
    difference === null ||
    difference.verdict === 'load not visible' ||
    difference.verdict === 'not comparable'
      ? []
      : difference.reasons.map((reason) => ({ reason, workload })),
  );
  const reasons = [...Map.groupBy(excluded, ({ reason }) => reason)].map(([reason, [first, ...others]]) =>
    first === undefined || others.length > 0 ? reason : `${first.workload}, ${reason}`,
  );
  return [
    ...record.warnings,
    ...buildDifferences(record),
    ...shadowNotes(record),
    ...reasons,
    ...rateAdvice(record),
  ];
}

/** Without any load there is none. */
function resultSections(record: SwapRecord): Section[] {
  if (record.results.length === 0) return [];
  return [
    { title: 'CPU under load', blocks: [publishedTable(record)] },
    {
      title: 'What the load costs',
      blocks: [
        netTable(record),
        chart(netChart(record)),
        chart(perQueryChart(record)),
        chart(timeChart(record)),
      ],
    },
  ];
}

/** Also of a run that ended before its first load: its rolling updates are what clients saw. */
function placementSections(record: SwapRecord): Section[] {
  const { results, placements, method } = record;
  if (placements.length === 0) return [];
  const table = results.length === 0 ? [] : [serviceTable(record)];
  return [
    { title: 'What clients saw', blocks: [...table, text(canarySentence(record))] },
    { title: 'Placements', blocks: [placementTable(record)], isBrief: method === 'in-place' },
    { title: 'Pods', blocks: [podTable(record)], isBrief: false },
    { title: 'Readings', blocks: [readingsTable(record)], isBrief: false },
  ];
}

function runSections(record: SwapRecord): Section[] {
  const { workload, versions } = record;
  return [
    { title: 'Put back', blocks: restoreBlocks(record) },
    { title: 'Method', blocks: [list(methodItems(record))], isBrief: false },
    {
      title: 'Environment',
      blocks: [
        facts([
          [
            'DNS of the cluster',
            `${workload.title}, container ${workload.container}, Service ${workload.service}`,
          ],
          ...SIDES.map((side): [string, string] => [`Image of ${side}`, versions[side].image]),
          ...SIDES.flatMap((side) =>
            versions[side].builds.map((build): [string, string] => [`Build of ${side}`, buildText(build)]),
          ),
          ...environmentFacts(record),
        ]),
      ],
      isBrief: false,
    },
    { title: 'Repeat', blocks: [code(record.command)], isBrief: false },
  ];
}

export function swapDocument(record: SwapRecord): ReportDocument {
  const { versions, workload } = record;
  const title = `CoreDNS ${versions.B.version} against ${versions.A.version} in a cluster`;
  const date = record.startedAt.slice(0, 10);
  const findings = findingsOf(record);
  return {
    kind: record.method === 'shadow' ? "Swap, beside the cluster's DNS" : "Swap, in the cluster's DNS",
    title,
    state: stateOf(record),
    headline: headlineOf(record),
    facts: [date, workload.title, counted(workload.pods, 'pod'), `run ${record.id}`],
    findings,
    warnings: warningsOf(record),
    series: SIDES.map((side) => ({ name: side, title: `CoreDNS ${versions[side].version}` })),
    sections: [...resultSections(record), ...placementSections(record), ...runSections(record)],
    data: dataOf(record),
    post: {
      slug: `coredns-swap-${date}-${versions.A.version}-${versions.B.version}`,
      description: findings[0]?.sentence ?? headlineOf(record),
      tags: ['benchmark', 'dns', 'coredns', 'kubernetes'],
      date,
    },
    version: record.generator.version,
  };
}
