/** The tables of a measurement of memory. Pure. */
import type { Block } from '../../../report/document/document.ts';
import { table, text } from '../../../report/document/index.ts';
import { formatCount, formatFixed, formatShort } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { summarize } from '../../../stats/summarize.ts';
import { BYTES_PER_MEGABYTE, kilobytesEach, megabytes, numberColumn, withInterval } from '../figures.ts';
import { fittedLine, type MemoryLine, PUBLISHED_LINES, PUBLISHED_POINTS } from '../published.ts';
import { maximumWithoutCache } from './figure-of.ts';
import { observe } from './lines.ts';
import {
  type CompleteStart,
  MEMORY_STAGES,
  type MemoryFigure,
  type MemoryFit,
  type MemoryPointRecord,
  type MemoryResult,
  type MemoryStageName,
  type MemoryStart,
  type MemorySummary,
} from './memory-record.ts';
import {
  dataBytes,
  formulaBytes,
  measuredBytes,
  objectsPerMegabyte,
  publishedConfiguration,
  sideOf,
} from './published-side.ts';

const FIGURE_TITLES: Readonly<Record<MemoryFigure, string>> = {
  loaded: 'Just loaded',
  settled: 'Settled',
  fullCache: 'Full cache',
  steady: 'Under load',
  coldStartPeak: 'Cold-start peak',
  relistPeak: 'Relist peak',
};

/** In the order of a start. */
const SHOWN: readonly MemoryFigure[] = [
  'coldStartPeak',
  'loaded',
  'settled',
  'fullCache',
  'steady',
  'relistPeak',
];

/** `158,200`, and what is not in the published proportions. */
function sizeText({ key, objects }: MemoryPointRecord): string {
  const extras = key.split('/').slice(3);
  return [formatCount(objects), ...extras].join(', ');
}

/** Which server and configuration. */
export function seriesTitle({ server, configuration }: Pick<MemoryFit, 'server' | 'configuration'>): string {
  return `${server}, ${configuration}`;
}

/** Two starts make no interval that says anything: both are shown. */
const FEWEST_FOR_INTERVAL = 3;

function summaryText(summary: MemorySummary | null, values: readonly number[]): string {
  if (summary === null || summary.n >= FEWEST_FOR_INTERVAL) return withInterval(summary, megabytes);
  return values
    .toSorted((a, b) => a - b)
    .map(megabytes)
    .join('\u00a0and\u00a0');
}

function figureText(point: MemoryPointRecord, figure: MemoryFigure, starts: readonly MemoryStart[]): string {
  const values = observe([point], starts, figure).map(({ bytes }) => bytes);
  return summaryText(point.figures[figure], values);
}

export function memoryTable(points: readonly MemoryPointRecord[], starts: readonly MemoryStart[]): Block {
  return table(
    'Memory by objects',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      numberColumn('Objects'),
      ...SHOWN.map((name) => numberColumn(FIGURE_TITLES[name])),
      numberColumn('Starts'),
    ],
    points.map((point) => [
      point.server,
      point.configuration,
      sizeText(point),
      ...SHOWN.map((name) => figureText(point, name, starts)),
      point.failedStarts === 0 ? String(point.starts) : `${point.starts} (${point.failedStarts} failed)`,
    ]),
  );
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
    ? `${withInterval(summary, megabytes)} MB`
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
      { title: 'MB, as published' },
      numberColumn('Scatter'),
      numberColumn('Starts'),
    ],
    fits
      .filter(({ figure }) => FITTED.includes(figure))
      .map((fit) => [
        fit.server,
        fit.configuration,
        FIGURE_TITLES[fit.figure].toLowerCase(),
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

/** What the published points are of: null without a start. */
export function maximumSummary(starts: readonly CompleteStart[]): MemorySummary | null {
  return starts.length === 0 ? null : summarize(starts.map(maximumWithoutCache));
}

function besideCell(published: number | null, ours: MemorySummary | null) {
  if (published === null) return '–';
  const side = sideOf(published, ours);
  const tone = side === 'below' ? 'bad' : 'even';
  return {
    text: side === null ? megabytes(published) : `${megabytes(published)} (${SIDE_WORDS[side]})`,
    tone,
  } as const;
}

/** Ours beside what was published, at the sizes that were measured. */
export function besideTable(result: MemoryResult): Block {
  return table(
    'Beside the published figures',
    [
      { title: 'Server' },
      { title: 'Configuration' },
      numberColumn('Objects'),
      numberColumn('Maximum, without cache and load'),
      numberColumn('Published maximum, without cache and load'),
      numberColumn('Under load'),
      numberColumn('Published formula'),
      numberColumn('Line through published data'),
    ],
    result.points.map((point) => {
      const configuration = publishedConfiguration(point);
      const maximum = maximumSummary(completeStarts(result, point.key));
      const { steady } = point.figures;
      return [
        point.server,
        point.configuration,
        sizeText(point),
        summaryText(maximum, completeStarts(result, point.key).map(maximumWithoutCache)),
        besideCell(measuredBytes(configuration, point.objects), maximum),
        figureText(point, 'steady', result.starts),
        besideCell(formulaBytes(configuration, point.objects), steady),
        besideCell(dataBytes(configuration, point.objects), steady),
      ];
    }),
  );
}

const STAGE_TITLES: Readonly<Record<MemoryStageName, string>> = {
  loaded: 'just loaded',
  settled: 'settled',
  fullCache: 'full cache',
  underLoad: 'under load',
  reread: 'read again',
};

export function completeStarts({ starts }: MemoryResult, key: string): CompleteStart[] {
  return starts.filter((start): start is CompleteStart => start.point === key && start.status === 'ok');
}

/** What the kernel and Go say of the same moments; medians over the starts. */
export function heapTable(result: MemoryResult): Block {
  const rows = result.points.flatMap((point) => {
    const starts = completeStarts(result, point.key);
    if (starts.length === 0) return [];
    return MEMORY_STAGES.flatMap((stage) => {
      const readings = starts.flatMap(({ stages }) => stages[stage] ?? []);
      if (readings.length === 0) return [];
      const of = (value: (reading: (typeof readings)[number]) => number) =>
        megabytes(median(readings.map(value)));
      const proportional = readings.flatMap(({ proportionalBytes }) => proportionalBytes ?? []);
      return [
        [
          point.server,
          point.configuration,
          sizeText(point),
          STAGE_TITLES[stage],
          of(({ anonymousBytes }) => anonymousBytes),
          of(({ residentBytes }) => residentBytes),
          proportional.length === 0 ? '–' : megabytes(median(proportional)),
          of(({ heap }) => heap.allocatedBytes),
          of(({ heap }) => heap.inUseBytes),
          of(({ heap }) => heap.nextCollectionBytes),
          of(({ heap }) => heap.releasedBytes),
        ],
      ];
    });
  });
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
    [
      { title: 'Server' },
      { title: 'Configuration' },
      numberColumn('Objects'),
      { title: 'Moment' },
      ...columns.map(numberColumn),
    ],
    rows,
  );
}

export const MEANINGS: Block = text(
  'Megabytes (10⁶ bytes) of anonymous memory: medians of the starts with 95 % intervals, or both values of two starts. It is what the kubelet counts as the working set, but for about a megabyte, and what an out-of-memory kill is about; about 50 MB of the program file come on top in the resident set. Settled: after the garbage of reading was collected under light load, the cache nearly empty. Full cache: 9,984 positive and 9,984 negative answers. Under load: the same, at the rate of the run. Peaks: the largest moment while all objects are read, at the start and again after 410 Gone.',
);
