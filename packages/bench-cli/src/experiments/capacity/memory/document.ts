/** What only a measurement of memory can say. Pure. */
import type { DocumentParts } from '../../../engine/document.ts';
import { evidencesOf } from '../../../engine/record.ts';
import { charts, type Finding, text } from '../../../report/document/document.ts';
import { formatBytes, formatCount } from '../../../report/numbers.ts';
import { median, sum } from '../../../stats/intervals.ts';
import { counted } from '../../../text.ts';
import { publishedAs } from '../configurations.ts';
import { kilobytesEach, serverWords } from '../figures.ts';
import { dataBytes, formulaBytes } from '../published.ts';
import { countCharts, memoryChart, memorySeries } from './chart.ts';
import type { MemoryEvidence, MemoryRecord } from './evidence.ts';
import { type MemoryFit, memoryLines, observe, seriesOf } from './lines.ts';
import { type MemoryCase, memoryCases } from './points.ts';
import { isFull } from './start.ts';
import {
  besideTable,
  createdTable,
  fitTable,
  heapTable,
  meanings,
  publishedLines,
  seriesTitle,
} from './tables.ts';

/** Below this share of the rate that was asked for, it was not held. */
const HELD_RATIO = 0.98;

/** What CoreDNS needed at the largest point of a server and configuration that has a start, and what is published. Bytes. */
interface Need {
  /** With all that was read. */
  readonly point: MemoryCase;
  readonly steady: number;
  readonly relist: number;
  readonly formula: number;
}

function needsOf(record: MemoryRecord): Need[] {
  return seriesOf(record).flatMap((points) => {
    const started = points.filter(({ summary }) => summary.steady != null);
    const [point] = started.toSorted((a, b) => b.objects - a.objects);
    const { steady, relistPeak: relist } = point?.summary ?? {};
    if (point === undefined || steady == null || relist == null) return [];
    const { point: read } = observe(record, [point], 'steady').at(-1) ?? { point };
    const formula = formulaBytes(publishedAs(read.configuration), read.objects);
    return [{ point: read, steady: steady.median, relist: relist.median, formula }];
  });
}

/** What memory an object costs, and how far the peak is above the steady state. */
function findingOf({ point, steady, relist, formula }: Need, fits: readonly MemoryFit[]): Finding {
  const subject = seriesTitle(point);
  const slope = fits
    .find((fit) => fit.figure === 'steady' && seriesTitle(fit) === subject)
    ?.terms.find(({ of }) => of === 'objects');
  const each =
    slope === undefined
      ? ''
      : ` An object costs ${kilobytesEach(slope.bytes)} [${kilobytesEach(slope.low)}, ${kilobytesEach(slope.high)}] under load.`;
  return {
    subject,
    badge: { text: `relist peak ${formatBytes(relist)}`, tone: steady > formula ? 'bad' : 'even' },
    sentence: `With ${formatCount(point.objects)} objects, CoreDNS needed ${formatBytes(steady)} under load (published formula: ${formatBytes(formula)}) and ${formatBytes(relist)} during a relist, ${(relist / steady).toFixed(2)} times its memory under load.${each}`,
  };
}

/** The beginning of a post: what each version needs with the most objects, and what is published; '' where sizes differ. */
function verdictOf(needs: readonly Need[]): string {
  const [first] = needs;
  if (first === undefined || needs.some(({ point }) => point.objects !== first.point.objects)) return '';
  const how = ({ point: { configuration } }: Need) =>
    configuration === 'default' ? '' : `with ${configuration} `;
  const needed = [...Map.groupBy(needs, ({ point }) => point.server)].map(([server, own]) => {
    const parts = own.map((each) => {
      const [load, peak] = each === first ? [' under load', ' during a relist'] : ['', ''];
      return `${how(each)}${formatBytes(each.steady)}${load} and ${formatBytes(each.relist)}${peak}`;
    });
    return `${serverWords(server)} needed ${parts.join(', ')}`;
  });
  const formulas = [...new Set(needs.map((each) => `${how(each)}${formatBytes(each.formula)}`))];
  return `With ${formatCount(first.point.objects)} objects, ${needed.join('. ')}. The published formula says ${formulas.join(', ')}.`;
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
  const starts = memoryCases(record).map(({ key }) => evidencesOf(record, key));
  const loads = starts.flatMap((own) => {
    const [first] = own;
    return first === undefined
      ? []
      : [{ wanted: first.load.wantedQps, held: median(own.map(({ load }) => load.heldQps)) }];
  });
  const slow = loads.filter(({ wanted, held }) => held < HELD_RATIO * wanted);
  const rates = slow.map(({ held }) => held);
  const partial = memoryCases(record).flatMap(({ key, configuration }) =>
    evidencesOf<MemoryEvidence>(record, key).filter(
      ({ cacheEntries }) => !isFull(configuration, cacheEntries),
    ),
  );
  const unstable = starts.flat().filter(({ settling }) => settling?.isStable === false);
  const queries = starts.flat().flatMap(({ cluster }) => cluster?.queries ?? []);
  const total = (of: 'sent' | 'lost' | 'wrong') => sum(queries.map((each) => each[of]));
  const [lost, wrong] = [total('lost'), total('wrong')];
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
    ...(partial.length === 0
      ? []
      : [
          `The cache did not get full in ${counted(partial.length, 'start')}: memory with a full cache and under load is a lower bound there.`,
        ]),
    ...(lost === 0
      ? []
      : [
          `${formatCount(lost)} of ${formatCount(total('sent'))} queries had no answer within 5 seconds: memory under load and peaks are for fewer answers.`,
        ]),
    ...(wrong === 0 ? [] : [`${counted(wrong, 'answer')} had a wrong response code.`]),
    ...new Set(fits.flatMap(({ merged }) => (merged === null ? [] : [`In the lines, ${merged}.`]))),
  ];
}

/** What the cluster had itself, and how the lines take it. */
function ownText(record: MemoryRecord): string {
  const own = memoryCases(record)
    .flatMap(({ key }) => evidencesOf(record, key))
    .at(-1)?.cluster?.own;
  if (own === undefined) return 'What the cluster had before is part of the constants of the lines.';
  const { services, pods, endpoints } = own;
  return `The lines also count what the cluster had before: ${counted(services, 'service')}, ${counted(pods, 'pod')} and ${counted(endpoints, 'endpoint')} before the last start.`;
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
    'A private CoreDNS, unmodified, reads the API server through a program beside it that passes everything on as it is, so it also reads the objects that the cluster had before. A restart of the API server is simulated: this program stops for a second and then answers 410 Gone. The API server itself is left alone.',
    "Just loaded: all objects were read, and nothing was asked. The cluster's objects are created once for starts that follow each other at the same point.",
  ],
};

export function memoryDocument(record: MemoryRecord): DocumentParts {
  const fits = memoryLines(record);
  // On a cluster, the version is an image with its tag.
  const numbers = record.programs.map(({ version }) => version.replace(/^.*:/, ''));
  const versions = [...new Set(numbers)].join(' and ');
  const needs = needsOf(record);
  const isOnCluster = record.environment.cluster !== null;
  const objects = memoryCases(record).map((point) => point.objects);
  const peaks = record.cases.flatMap(({ summary }) => summary.relistPeak?.median ?? []);
  return {
    kind: 'Capacity of cluster DNS, memory',
    title: `Memory of ${isOnCluster ? 'a private CoreDNS on a cluster' : `CoreDNS ${versions}`} by pods and services`,
    result:
      peaks.length === 0
        ? undefined
        : `up to ${formatCount(Math.max(...objects))} objects, relist peak ${formatBytes(Math.max(...peaks))}`,
    findings: needs.map((need) => findingOf(need, fits)),
    tables: [{ title: 'Memory', estimands: record.estimands.map(({ name }) => name) }],
    series: memorySeries(record),
    warnings: warningsOf(record, fits),
    sections: [
      {
        title: 'Memory by pods and services',
        blocks: [meanings(record), ...charts(memoryChart(record), ...countCharts(record))],
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
      {
        title: 'The objects, and the cluster meanwhile',
        blocks: isOnCluster
          ? [
              text(`Objects are pods and services, as the published formulas count them. ${ownText(record)}`),
              createdTable(record),
            ]
          : [],
      },
      { title: 'What the kernel and Go say', blocks: [heapTable(record)], isBrief: false },
    ],
    method: isOnCluster ? PROCEDURE.onCluster : PROCEDURE.here,
    tags: ['coredns', 'kubernetes', 'capacity'],
    post: {
      title: `How much memory ${versions.includes(' and ') ? 'do' : 'does'} CoreDNS ${versions} need?`,
      excerpt: verdictOf(needs),
      caveats: caveatsOf(record),
    },
  };
}
