/** The tables of a measurement of memory that only it has. Pure. */
import type { Block } from '../../../report/document/document.ts';
import { table, text } from '../../../report/document/index.ts';
import { formatBytes, formatCount, formatFixed, formatShort } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { summarize } from '../../../stats/summarize.ts';
import { unbroken } from '../../../text.ts';
import { dnsText } from '../cluster/created.ts';
import {
  BYTES_PER_MEGABYTE,
  kilobytesEach,
  mebibytes,
  numberColumn,
  type Summary,
  serverWords,
  withInterval,
} from '../figures.ts';
import { fittedLine, type MemoryLine, PUBLISHED_LINES, PUBLISHED_POINTS } from '../published.ts';
import {
  figureOf,
  MEMORY_STAGES,
  type MemoryEvidence,
  type MemoryFigure,
  type MemoryRecord,
  maximumWithoutCache,
} from './evidence.ts';
import { type MemoryFit, type MemoryTrials, startsOf } from './lines.ts';
import { type MemoryCase, memoryCases } from './points.ts';
import {
  dataBytes,
  formulaBytes,
  measuredBytes,
  objectsPerMegabyte,
  publishedConfiguration,
  sideOf,
} from './published-side.ts';

/** In the middle of a sentence. */
export const FIGURE_TITLES: Readonly<Record<MemoryFigure, string>> = {
  coldStartPeak: 'cold-start peak',
  loaded: 'just loaded',
  settled: 'settled',
  fullCache: 'full cache',
  steady: 'under load',
  relistPeak: 'relist peak',
};

/** Which server and configuration. */
export function seriesTitle({ server, configuration }: Pick<MemoryFit, 'server' | 'configuration'>): string {
  return `${serverWords(server)}, ${configuration}`;
}

const POINT_COLUMNS = [{ title: 'Server' }, { title: 'Configuration' }, numberColumn('Objects')];

/** `158,200`, and what is not in the published proportions. */
function pointCells({ server, configuration, key, objects }: MemoryCase): string[] {
  const extras = key.split('/').slice(3);
  return [serverWords(server), configuration, [formatCount(objects), ...extras].join(', ')];
}

/** `54.0 + objects ÷ 1,000` */
export function formulaText({ baseMegabytes, objectsPerMegabyte: each }: MemoryLine): string {
  return `objects ÷ ${formatCount(each)} + ${formatFixed(baseMegabytes, 1)}`;
}

const TERM_WORDS = {
  constant: '',
  objects: ' an object',
  services: ' a service',
  pods: ' a pod',
  endpoints: ' an endpoint',
} as const;

function termText({ of, bytes, low, high }: MemoryFit['terms'][number]): string {
  const summary = { median: bytes, low, high };
  return of === 'constant'
    ? `${withInterval(summary, mebibytes)} MiB`
    : `${withInterval(summary, (value) => formatFixed(value / 1000, 2))} kB${TERM_WORDS[of]}`;
}

/** The line of a fit in the form of the published formulas, where it has that form. */
function asFormula(fit: MemoryFit): string {
  const each = objectsPerMegabyte(fit);
  const base = fit.terms.find(({ of }) => of === 'constant')?.bytes ?? 0;
  return each === null
    ? '–'
    : formulaText({ objectsPerMegabyte: each, baseMegabytes: base / BYTES_PER_MEGABYTE });
}

const FITTED: readonly MemoryFigure[] = ['settled', 'steady', 'coldStartPeak', 'relistPeak'];

export function fitTable(fits: readonly MemoryFit[]): Block {
  return table(
    'Lines through the starts',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      { title: 'Figure' },
      { title: 'Line [95 %]' },
      { title: 'In the published form, MB' },
      numberColumn('Scatter'),
      numberColumn('Starts'),
    ],
    fits
      .filter(({ figure }) => FITTED.includes(figure))
      .map((fit) => [
        serverWords(fit.server),
        fit.configuration,
        FIGURE_TITLES[fit.figure],
        fit.terms.map(termText).join(' + '),
        asFormula(fit),
        `${formatShort(100 * fit.scatterRatio)} %`,
        String(fit.starts),
      ]),
  );
}

/** The published lines: as printed, and through their own data. */
export function publishedLines(): Block {
  const configurations = ['default', 'autopath'] as const;
  return table(
    'The published lines',
    [
      { title: 'Configuration' },
      { title: 'Published formula, MB' },
      { title: 'Least squares through its data, MB' },
      { title: 'Kilobytes an object: formula, data' },
    ],
    configurations.map((name) => {
      const [formula, data] = [PUBLISHED_LINES[name], fittedLine(PUBLISHED_POINTS[name])];
      const each = [formula, data].map((line) => kilobytesEach(BYTES_PER_MEGABYTE / line.objectsPerMegabyte));
      return [name, formulaText(formula), formulaText(data), each.join(', ')];
    }),
  );
}

const SIDE_WORDS = { within: 'within', below: 'too low', above: 'too high' } as const;

/** Over the starts of a point: null without one. */
export function summaryOf(
  record: MemoryTrials,
  { key }: Pick<MemoryCase, 'key'>,
  figure: (evidence: MemoryEvidence) => number | null,
): Summary | null {
  const values = startsOf(record, key).flatMap(({ evidence }) => figure(evidence) ?? []);
  return values.length === 0 ? null : summarize(values);
}

function besideCell(published: number | null, ours: Summary | null) {
  if (published === null) return '–';
  const side = sideOf(published, ours);
  const tone = side === 'below' ? 'bad' : 'even';
  return {
    text: side === null ? mebibytes(published) : `${mebibytes(published)} (${SIDE_WORDS[side]})`,
    tone,
  } as const;
}

/** What we measured: the interval of the median, or both of two starts, whose interval would be many times as wide as they are apart. */
function oursOf(
  record: MemoryTrials,
  point: MemoryCase,
  figure: (evidence: MemoryEvidence) => number | null,
): { readonly text: string; readonly range: Summary | null } {
  const values = startsOf(record, point.key).flatMap(({ evidence }) => figure(evidence) ?? []);
  const summary = summaryOf(record, point, figure);
  if (summary === null || values.length !== 2)
    return { text: withInterval(summary, mebibytes), range: summary };
  const range = { ...summary, low: Math.min(...values), high: Math.max(...values) };
  return { text: unbroken(values.map((value) => mebibytes(value)).join(' / ')), range };
}

/** Ours beside what was published, at the sizes that were measured. */
export function besideTable(record: MemoryRecord): Block {
  return table(
    'Beside the published figures',
    [
      ...POINT_COLUMNS,
      numberColumn('Maximum, without cache and load'),
      numberColumn('Published maximum, without cache and load'),
      numberColumn('Under load'),
      numberColumn('Published formula'),
      numberColumn('Line through published data'),
    ],
    memoryCases(record.cases).map((point) => {
      const configuration = publishedConfiguration(point);
      const maximum = oursOf(record, point, maximumWithoutCache);
      const steady = oursOf(record, point, (evidence) => figureOf(evidence, 'steady'));
      return [
        ...pointCells(point),
        maximum.text,
        besideCell(measuredBytes(configuration, point.objects), maximum.range),
        steady.text,
        besideCell(formulaBytes(configuration, point.objects), steady.range),
        besideCell(dataBytes(configuration, point.objects), steady.range),
      ];
    }),
  );
}

const STAGE_TITLES: Readonly<Record<(typeof MEMORY_STAGES)[number], string>> = {
  loaded: 'just loaded',
  settled: 'settled',
  fullCache: 'full cache',
  underLoad: 'under load',
  reread: 'read again',
};

/** The median, as limits are written; `–` where no start has it. */
function medianCell<T>(readings: readonly T[], of: (reading: T) => number | null): string {
  const values = readings.flatMap((reading) => of(reading) ?? []);
  return values.length === 0 ? '–' : formatBytes(median(values));
}

/** What the kernel and Go say of the same moments; medians over the starts. */
export function heapTable(record: MemoryRecord): Block {
  const rows = memoryCases(record.cases).flatMap((point) =>
    MEMORY_STAGES.flatMap((stage) => {
      const readings = startsOf(record, point.key).flatMap(({ evidence }) => evidence.stages[stage] ?? []);
      if (readings.length === 0) return [];
      return [
        [
          ...pointCells(point),
          STAGE_TITLES[stage],
          medianCell(readings, ({ anonymousBytes }) => anonymousBytes),
          medianCell(readings, ({ residentBytes }) => residentBytes),
          medianCell(readings, ({ proportionalBytes }) => proportionalBytes),
          medianCell(readings, ({ heap }) => heap.allocatedBytes),
          medianCell(readings, ({ heap }) => heap.inUseBytes),
          medianCell(readings, ({ heap }) => heap.nextCollectionBytes),
          medianCell(readings, ({ heap }) => heap.releasedBytes),
        ],
      ];
    }),
  );
  const columns = [
    'Anonymous',
    'Resident',
    'PSS',
    'Heap allocated',
    'Heap in use',
    'Next collection at',
    'Returned',
  ];
  return table(
    'What the kernel and Go say',
    [...POINT_COLUMNS, { title: 'Moment' }, ...columns.map(numberColumn)],
    rows,
  );
}

/** What was created on a cluster at each point, and the cluster meanwhile: of the last start. */
export function createdTable(record: MemoryRecord): Block {
  const columns = [
    'Services',
    'Endpoint slices',
    'Addresses',
    'Pods',
    'Seconds',
    'Slowest p99, s',
    'Working set',
  ];
  return table(
    'What was created',
    [...POINT_COLUMNS, ...columns.map(numberColumn), { title: 'Cluster DNS' }],
    memoryCases(record.cases).flatMap((point) => {
      const last = startsOf(record, point.key).at(-1)?.evidence.cluster;
      if (last == null) return [];
      const { services, endpointSlices, endpoints, pods } = last.counts;
      return [
        [
          ...pointCells(point),
          ...[services, endpointSlices, endpoints, pods].map(formatCount),
          formatFixed(last.creation.seconds, 1),
          formatFixed(last.creation.worstP99Seconds, 2),
          last.workingSetBytes === null ? '–' : formatBytes(last.workingSetBytes),
          dnsText(last.clusterDns),
        ],
      ];
    }),
  );
}

/** What the figures mean. */
export const MEANINGS: Block = text(
  'Anonymous memory. It is what the kubelet counts as the working set, within about a megabyte, and out-of-memory kills depend on it; 40 to 50 MiB of the program file come on top in the resident set. Just loaded: with the garbage of reading. Settled: after that was collected under light load, the cache nearly empty. Full cache: 9,984 positive and 9,984 negative answers. Under load: the same, at the rate of the run. Peaks: the largest moment while all objects are read, at the start and again after 410 Gone.',
);
