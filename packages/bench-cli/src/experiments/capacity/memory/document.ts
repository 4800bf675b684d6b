/** What only a measurement of memory can say. Pure. */
import type { DocumentParts } from '../../../engine/document.ts';
import { chart, type Finding, text } from '../../../report/document/document.ts';
import { formatBytes, formatCount } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { counted } from '../../../text.ts';
import { publishedConfiguration } from '../configurations.ts';
import { kilobytesEach, serverWords } from '../figures.ts';
import { dataBytes, formulaBytes } from '../published.ts';
import { countCharts, memoryChart, memorySeries } from './chart.ts';
import { figureOf, type MemoryFigure, type MemoryRecord } from './evidence.ts';
import { type MemoryFit, memoryLines, seriesOf, startsOf } from './lines.ts';
import { type MemoryCase, memoryCases } from './points.ts';
import {
  besideTable,
  createdTable,
  fitTable,
  heapTable,
  MEANINGS,
  publishedLines,
  seriesTitle,
  summaryAt,
} from './tables.ts';

/** Below this share of the rate that was asked for, it was not held. */
const HELD_RATIO = 0.98;

/** The largest point of each server and configuration that has a start. */
function largestOf(record: MemoryRecord): MemoryCase[] {
  return seriesOf(record).flatMap(
    (points) =>
      points.toSorted((a, b) => b.objects - a.objects).find(({ key }) => startsOf(record, key).length > 0) ??
      [],
  );
}

/** What memory an object costs, and how far the peak is above the steady state. */
function findingOf(record: MemoryRecord, fits: readonly MemoryFit[], point: MemoryCase): Finding[] {
  const [steady, relist] = (['steady', 'relistPeak'] satisfies MemoryFigure[]).map((figure) =>
    summaryAt(record, point, (evidence) => figureOf(evidence, figure)),
  );
  if (steady == null || relist == null) return [];
  const subject = seriesTitle(point);
  const formula = formulaBytes(publishedConfiguration(point), point.objects);
  const slope = fits
    .find((fit) => fit.figure === 'steady' && seriesTitle(fit) === subject)
    ?.terms.find(({ of }) => of === 'objects');
  const each =
    slope === undefined
      ? ''
      : ` An object costs ${kilobytesEach(slope.bytes)} [${kilobytesEach(slope.low)}, ${kilobytesEach(slope.high)}] under load.`;
  return [
    {
      subject,
      badge: {
        text: `relist peak ${formatBytes(relist.median)}`,
        tone: steady.median > formula ? 'bad' : 'even',
      },
      sentence: `With ${formatCount(point.objects)} objects, CoreDNS needed ${formatBytes(steady.median)} under load (published formula: ${formatBytes(formula)}) and ${formatBytes(relist.median)} during a relist, ${(relist.median / steady.median).toFixed(2)} times its memory under load.${each}`,
    },
  ];
}

/** The beginning of a post: what each version needs with the most objects, and what is published; '' where sizes differ. */
function verdictOf(record: MemoryRecord): string {
  const found = largestOf(record).flatMap((point) => {
    const steady = summaryAt(record, point, (evidence) => figureOf(evidence, 'steady'))?.median;
    const relist = summaryAt(record, point, (evidence) => figureOf(evidence, 'relistPeak'))?.median;
    if (steady === undefined || relist === undefined) return [];
    const { server, configuration, objects } = point;
    const how = configuration === 'default' ? '' : `with ${configuration} `;
    const published = formulaBytes(publishedConfiguration(point), objects);
    return [{ server, objects, how, steady, relist, formula: `${how}${formatBytes(published)}` }];
  });
  const [first] = found;
  if (first === undefined || found.some(({ objects }) => objects !== first.objects)) return '';
  const needs = [...Map.groupBy(found, ({ server }) => server)].map(([server, own]) => {
    const parts = own.map((each) => {
      const [load, peak] = each === first ? [' under load', ' during a relist'] : ['', ''];
      return `${each.how}${formatBytes(each.steady)}${load} and ${formatBytes(each.relist)}${peak}`;
    });
    return `${serverWords(server)} needed ${parts.join(', ')}`;
  });
  const formulas = [...new Set(found.map(({ formula }) => formula))];
  return `With ${formatCount(first.objects)} objects, ${needs.join('. ')}. The published formula says ${formulas.join(', ')}.`;
}

/** Nothing is said of versions where too few starts can say anything. */
function caveatsOf({ cases, environment }: MemoryRecord): string[] {
  const starts = Math.max(0, ...cases.map(({ trials }) => trials.ok));
  return [
    ...(starts < 3
      ? [`Each figure is from ${counted(starts, 'start')}: differences between versions may be chance.`]
      : []),
    ...(environment.cluster === null
      ? ['The API server was a program of this project with generated objects, not that of a cluster.']
      : []),
  ];
}

function warningsOf(record: MemoryRecord, fits: readonly MemoryFit[]): string[] {
  const points = memoryCases(record.cases);
  const loads = points.flatMap(({ key }) => {
    const starts = startsOf(record, key).map(({ evidence }) => evidence.load);
    const [first] = starts;
    return first === undefined
      ? []
      : [{ wanted: first.wantedQps, held: median(starts.map(({ heldQps }) => heldQps)) }];
  });
  const slow = loads.filter(({ wanted, held }) => held < HELD_RATIO * wanted);
  const rates = slow.map(({ held }) => held);
  const evidence = points.flatMap(({ key }) => startsOf(record, key)).map((start) => start.evidence);
  const unstable = evidence.filter(({ settling }) => settling?.isStable === false);
  const wrong = evidence.reduce((sum, { cluster }) => sum + (cluster?.queries.wrong ?? 0), 0);
  return [
    ...(slow.length === 0
      ? []
      : [
          `The rate of ${formatCount(slow[0]?.wanted ?? 0)} queries a second was not reached at ${slow.length} of ${loads.length} points, which got ${formatCount(Math.min(...rates))} to ${formatCount(Math.max(...rates))}; their memory under load is for those rates.`,
        ]),
    ...(unstable.length === 0
      ? []
      : [
          `Memory still fell after ${counted(unstable.length, 'start')} when the time to settle was over: the settled figure is an upper bound there.`,
        ]),
    ...(wrong === 0 ? [] : [`${counted(wrong, 'answer')} had a wrong response code.`]),
    ...new Set(fits.flatMap(({ merged }) => (merged === null ? [] : [`In the lines, ${merged}.`]))),
  ];
}

const PROCEDURE = {
  here: [
    "Each start is a new CoreDNS, unmodified, whose kubernetes plugin reads this project's API server, which serves generated objects: in protobuf, as lists or, where it asks for them, as streamed lists.",
    'Just loaded: everything was read, and memory had stopped rising. Go returns memory late: without load, its next collection comes two minutes later, so this figure says more about the garbage of reading than about the objects.',
    'Settled: queries for a hundred names, until at least four collections were over and memory fell by less than 2 % in three seconds.',
    'Full cache: three times as many names as it holds, positive and negative, until its metrics say that it is full.',
    "Read again: 410 Gone for everybody, as after a restart of the API server. The peak is the kernel's own (VmHWM) less the pages of files.",
    'Starts run side by side as far as the memory allows; loads run one at a time.',
  ],
  onCluster: [
    'Services without a selector, mostly without an address, which kube-proxy skips for their label; EndpointSlices with a manager of their own and addresses of 198.18.0.0/15; pods only where the configuration reads them, never scheduled.',
    "At most 50 creations a second, stopped when the API server takes more than a second for the slowest of a hundred, or the cluster's own DNS gets near its limit. All in one namespace, which is deleted at the end.",
    'A private CoreDNS, unmodified, reads the API server through a program beside it that passes everything on as it is, so it also reads the objects that the cluster had before: they are part of the constants of the lines. A restart of the API server is simulated: this program stops for a second and then answers 410 Gone. The API server itself is left alone.',
    "Just loaded: all objects were read, and nothing was asked. The cluster's objects are created once for starts that follow each other at the same point.",
  ],
};

export function memoryDocument(record: MemoryRecord): DocumentParts {
  const fits = memoryLines(record);
  // On a cluster, the version is an image with its tag.
  const numbers = record.programs.map(({ version }) => version.replace(/^.*:/, ''));
  const versions = [...new Set(numbers)].join(' and ');
  const told = largestOf(record).flatMap((point) => findingOf(record, fits, point));
  const drawn = memoryChart(record);
  const isOnCluster = record.environment.cluster !== null;
  const objects = memoryCases(record.cases).map((point) => point.objects);
  const peaks = record.cases.flatMap(({ summary }) => summary.relistPeak?.median ?? []);
  return {
    kind: 'Capacity of cluster DNS, memory',
    title: `Memory of ${isOnCluster ? 'a private CoreDNS on a cluster' : `CoreDNS ${versions}`} by pods and services`,
    result:
      peaks.length === 0
        ? undefined
        : `up to ${formatCount(Math.max(...objects))} objects, relist peak ${formatBytes(Math.max(...peaks))}`,
    findings: told,
    tables: [{ title: 'Memory', estimands: record.estimands.map(({ name }) => name) }],
    series: memorySeries(record),
    warnings: warningsOf(record, fits),
    sections: [
      {
        title: 'Memory by pods and services',
        blocks: [
          MEANINGS,
          ...[...(drawn === null ? [] : [drawn]), ...countCharts(record)].map((each) => chart(each)),
        ],
      },
      {
        title: 'Lines',
        blocks: [
          text(
            'Least squares through all starts of a server in a configuration: memory = constant + bytes × count. Starts scatter in proportion to their memory, because Go collects garbage when the heap has grown by a share. So each start counts by its distance from the line as a share of the line. Scatter is the standard deviation of these.',
          ),
          fitTable(fits),
          publishedLines(),
          text(
            `At 63,280 objects, the published formula for autopath says ${formatBytes(formulaBytes('autopath', 63_280))}; its own data, with cache and load added, say ${formatBytes(dataBytes('autopath', 63_280))}. The published formulas are in MB, of 10⁶ bytes.`,
          ),
        ],
      },
      { title: 'Beside the published figures, MiB', blocks: [besideTable(record)] },
      ...(isOnCluster
        ? [
            {
              title: 'The objects, and the cluster meanwhile',
              blocks: [
                text('Objects are pods and services, as the published formulas count them.'),
                createdTable(record),
              ],
            },
          ]
        : []),
      { title: 'What the kernel and Go say', blocks: [heapTable(record)], isBrief: false },
    ],
    method: isOnCluster ? PROCEDURE.onCluster : PROCEDURE.here,
    tags: ['coredns', 'kubernetes', 'capacity'],
    post: {
      title: `How much memory ${versions.includes(' and ') ? 'do' : 'does'} CoreDNS ${versions} need?`,
      excerpt: verdictOf(record),
      caveats: caveatsOf(record),
    },
  };
}
