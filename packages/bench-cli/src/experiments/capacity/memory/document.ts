/** The report of a measurement of memory, for every format. Pure. */

import type { Finding } from '../../../report/document/document.ts';
import { chart, facts, list, type ReportDocument, text } from '../../../report/document/index.ts';
import { environmentFacts } from '../../../report/facts.ts';
import { formatCount } from '../../../report/numbers.ts';
import { counted } from '../../../text.ts';
import { endOf, kilobytesEach, megabytes } from '../figures.ts';
import type { CapacityRecord } from '../record.ts';
import { memoryChart, memorySeries } from './chart.ts';
import type { MemoryPointRecord, MemoryResult } from './memory-record.ts';
import { formulaBytes, publishedConfiguration } from './published-side.ts';
import {
  besideTable,
  fitTable,
  heapTable,
  MEANINGS,
  memoryTable,
  publishedLines,
  seriesTitle,
} from './tables.ts';

/** Below this share of the rate that was asked for, it was not held. */
const HELD_RATIO = 0.98;

function largestOf(points: readonly MemoryPointRecord[]): MemoryPointRecord[] {
  const groups = Map.groupBy(points, seriesTitle);
  return [...groups.values()].flatMap(
    (group) => group.toSorted((a, b) => b.objects - a.objects).find(({ starts }) => starts > 0) ?? [],
  );
}

/** What memory an object costs, and how far the peak is above the steady state. */
function findingOf(point: MemoryPointRecord, { fits }: MemoryResult): Finding[] {
  const { steady, relistPeak } = point.figures;
  if (steady === null || relistPeak === null) return [];
  const subject = seriesTitle(point);
  const ratio = relistPeak.median / steady.median;
  const formula = formulaBytes(publishedConfiguration(point), point.objects);
  const slope = fits
    .find(
      ({ server, configuration, figure }) =>
        figure === 'steady' && seriesTitle({ server, configuration }) === subject,
    )
    ?.terms.find(({ of }) => of === 'objects');
  const each =
    slope === undefined
      ? ''
      : ` An object costs ${kilobytesEach(slope.bytes)} [${kilobytesEach(slope.low)}, ${kilobytesEach(slope.high)}] under load.`;
  const isMore = steady.median > formula;
  return [
    {
      subject,
      badge: { text: `${megabytes(relistPeak.median)} MB`, tone: isMore ? 'bad' : 'even' },
      sentence: `with ${formatCount(point.objects)} objects needs ${megabytes(steady.median)} MB under load, where the published formula says ${megabytes(formula)} MB, and ${megabytes(relistPeak.median)} MB while everything is read again, ${ratio.toFixed(2)} times as much.${each}`,
    },
  ];
}

function warningsOf(
  { warnings, settings }: CapacityRecord,
  { starts, points, fits }: MemoryResult,
): string[] {
  const wanted = typeof settings.rate === 'number' ? settings.rate : 0;
  const slow = points.filter(({ heldQps }) => heldQps !== null && heldQps < HELD_RATIO * wanted);
  const rates = slow.flatMap(({ heldQps }) => heldQps ?? []);
  const unstable = starts.filter((start) => start.status === 'ok' && !start.settling.isStable);
  const failed = starts.flatMap((start) =>
    start.status === 'failed' ? [`${start.point} #${start.start}: ${start.failure.message}`] : [],
  );
  return [
    ...warnings,
    ...(slow.length === 0
      ? []
      : [
          `The rate of ${formatCount(wanted)} queries a second was not held at ${slow.length} of ${points.length} points: ${formatCount(Math.min(...rates))} to ${formatCount(Math.max(...rates))} were. Memory under load is of that rate.`,
        ]),
    ...(unstable.length === 0
      ? []
      : [
          `Memory still fell after ${counted(unstable.length, 'start')} when the time to settle was over: the settled figure is an upper bound there.`,
        ]),
    ...new Set(fits.flatMap(({ merged }) => (merged === null ? [] : [`In the lines, ${merged}.`]))),
    ...failed,
  ];
}

/** `30,000 queries a second`, or what was held. */
function rateText({ settings }: CapacityRecord): string {
  return typeof settings.rate === 'number' ? `at ${formatCount(settings.rate)} queries a second at most` : '';
}

function conditions(record: CapacityRecord, { starts }: MemoryResult): (readonly [string, string])[] {
  const programs = record.programs.map(({ name, version, components }) => {
    const go = components.go === undefined ? '' : `, go ${components.go}`;
    return [name, `CoreDNS ${version}${go}`] as const;
  });
  const api = starts.flatMap((start) => (start.status === 'ok' ? [start.apiServerBytes] : []));
  return [
    ...programs,
    ['Loader', `${record.loader.kind} ${record.loader.version}`],
    ['Command', record.command],
    ...(api.length === 0
      ? []
      : [['API server of bench', `resident set at most ${megabytes(Math.max(...api))} MB`] as const]),
    ['Starts side by side', String(1 + Math.max(0, ...starts.map(({ neighbours }) => neighbours)))],
    ...environmentFacts(record),
  ];
}

const COLUMNS = [
  'server',
  'configuration',
  'objects',
  'services',
  'pods',
  'endpoints',
  'headless_share',
  'start',
  'status',
  'held_qps',
];

function dataOf({ starts, points }: MemoryResult): ReportDocument['data'] {
  const stages = ['loaded', 'settled', 'fullCache', 'underLoad', 'reread'] as const;
  const measures = ['anonymousBytes', 'residentBytes', 'proportionalBytes'] as const;
  const stageColumns = stages.flatMap((stage) => [
    ...measures.map((name) => `${stage}_${name}`),
    `${stage}_heapInUseBytes`,
  ]);
  const peaks = ['coldStart', 'relist'] as const;
  const peakColumns = peaks.flatMap((name) => [
    `${name}_peakAnonymousBytes`,
    `${name}_peakResidentBytes`,
    `${name}_seconds`,
  ]);
  const pointOf = new Map(points.map((point) => [point.key, point]));
  return {
    columns: [...COLUMNS, ...peakColumns, ...stageColumns],
    rows: starts.map((start) => {
      const point = pointOf.get(start.point);
      const head = [
        point?.server ?? null,
        point?.configuration ?? null,
        point?.objects ?? null,
        point?.services ?? null,
        point?.pods ?? null,
        point?.endpoints ?? null,
        point?.headlessShare ?? null,
        start.start,
        start.status,
      ];
      if (start.status === 'failed')
        return [...head, null, ...[...peakColumns, ...stageColumns].map(() => null)];
      return [
        ...head,
        start.load.heldQps,
        ...peaks.flatMap((name) => [
          start[name].peak.anonymousBytes,
          start[name].peak.residentBytes,
          start[name].seconds,
        ]),
        ...stages.flatMap((stage) => {
          const reading = start.stages[stage];
          return [...measures.map((name) => reading?.[name] ?? null), reading?.heap.inUseBytes ?? null];
        }),
      ];
    }),
  };
}

export function memoryDocument(record: CapacityRecord, result: MemoryResult): ReportDocument {
  const { points, starts, fits } = result;
  const failed = starts.filter(({ status }) => status === 'failed').length;
  const versions = [...new Set(record.programs.map(({ version }) => version))].join(' and ');
  const told = largestOf(points).flatMap((point) => findingOf(point, result));
  const drawn = memoryChart(points, rateText(record));
  return {
    kind: 'Capacity of cluster DNS',
    title: `Memory of CoreDNS ${versions} by pods and services`,
    ...endOf(record, {
      ok: starts.length - failed,
      failed,
      unit: 'start',
      points: points.length,
      of: 'point',
    }),
    facts: [record.startedAt.slice(0, 10), 'one machine', `run ${record.id}`],
    findings: told,
    warnings: warningsOf(record, result),
    series: memorySeries(points),
    sections: [
      {
        title: 'Memory',
        blocks: [MEANINGS, memoryTable(points, starts), ...(drawn === null ? [] : [chart(drawn)])],
      },
      {
        title: 'Lines',
        blocks: [
          text(
            'Least squares through all starts of a server in a configuration: MB = constant + bytes × count. Starts scatter in proportion to what they need, because Go collects its garbage when the heap has grown by a share: each start counts by its distance from the line as a share of the line. Scatter is the standard deviation of these.',
          ),
          fitTable(fits),
          publishedLines(),
          text(
            'At 63,280 objects the published formula for autopath says 309 MB; its own data, with 35 MB for cache and load, say 213 MB.',
          ),
        ],
      },
      { title: 'Beside the published figures', blocks: [besideTable(result)] },
      { title: 'What the kernel and Go say', blocks: [heapTable(result)], isBrief: false },
      { title: 'How it was measured', blocks: [list(PROCEDURE)], isBrief: false },
      { title: 'Conditions', blocks: [facts(conditions(record, result))], isBrief: false },
    ],
    data: dataOf(result),
    post: {
      slug: 'coredns-memory',
      description:
        told[0] === undefined
          ? `Memory of CoreDNS ${versions} by pods and services.`
          : `${told[0].subject} ${told[0].sentence}`,
      tags: ['dns', 'coredns', 'kubernetes', 'capacity'],
      date: record.startedAt.slice(0, 10),
    },
    version: record.generator.version,
  };
}

const PROCEDURE = [
  'Each start is a new CoreDNS, unmodified, whose kubernetes plugin reads an API server of ours with generated objects: in protobuf, as lists or, where it asks for them, as streamed lists.',
  'Just loaded: everything was read, and memory rose no more. Go returns memory late: without load, its next collection comes two minutes later, so this figure says more about the garbage of reading than about the objects.',
  'Settled: queries for a hundred names, until at least four collections were over and memory fell by less than 2 % in three seconds.',
  'Full cache: three times as many names as it holds, positive and negative, until its metrics say that it is full.',
  'Read again: 410 Gone for everybody, as after a restart of the API server. The peak is the kernel’s own (VmHWM) less the pages of files.',
  'Starts run side by side as far as the memory allows; loads run one at a time.',
];

/** The result in one line. */
export function memorySummary({ points, starts }: MemoryResult): string {
  const peak = points.flatMap(({ figures }) => figures.relistPeak?.median ?? []);
  const done = starts.filter(({ status }) => status === 'ok').length;
  const most = Math.max(0, ...points.map(({ objects }) => objects));
  const peaks = peak.length === 0 ? '' : `, relist peak ${megabytes(Math.max(...peak))} MB`;
  return `memory: ${counted(done, 'start')}, up to ${formatCount(most)} objects${peaks}`;
}
