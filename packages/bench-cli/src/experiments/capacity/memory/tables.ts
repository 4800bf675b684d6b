/** The tables of a measurement of memory that only it has. Pure. */
import { evidencesOf } from '../../../engine/record.ts';
import { interval } from '../../../engine/words.ts';
import { type Block, numbers, table, text } from '../../../report/document/document.ts';
import { formatBytes, formatCount, formatFixed, formatShort } from '../../../report/numbers.ts';
import { median } from '../../../stats/intervals.ts';
import { summaryOf } from '../../../stats/summarize.ts';
import { unbroken } from '../../../text.ts';
import { dnsText } from '../cluster/created.ts';
import { publishedAs } from '../configurations.ts';
import { BYTES_PER_MEGABYTE, kilobytesEach, mebibytes, type Summary, serverWords } from '../figures.ts';
import {
  dataBytes,
  fittedLine,
  formulaBytes,
  type MemoryLine,
  measuredBytes,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from '../published.ts';
import {
  FIGURES,
  MEMORY_STAGES,
  type MemoryEvidence,
  type MemoryFigure,
  type MemoryRecord,
  type MemoryStage,
  maximumWithoutCache,
} from './evidence.ts';
import { type MemoryFit, observe } from './lines.ts';
import { type MemoryCase, memoryCases } from './points.ts';

/** Which server and configuration. */
export function seriesTitle({ server, configuration }: Pick<MemoryFit, 'server' | 'configuration'>): string {
  return `${serverWords(server)}, ${configuration}`;
}

const POINT_COLUMNS = ['Server', 'Configuration', ...numbers('Objects')];

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
    ? `${interval(summary, mebibytes)} MiB`
    : `${interval(summary, (value) => formatFixed(value / 1000, 2))} kB${TERM_WORDS[of]}`;
}

/** `40.0 [39.3, 40.6] MiB + 1.37 [1.30, 1.44] kB an object`; what is negative is subtracted, with its interval. */
function lineText({ terms }: MemoryFit): string {
  const texts = terms.map((term, index) => {
    if (index === 0 || term.bytes >= 0) return (index === 0 ? '' : ' + ') + termText(term);
    return ` − ${termText({ ...term, bytes: -term.bytes, low: -term.high, high: -term.low })}`;
  });
  return texts.join('');
}

/** The line of a fit in the form of the published formulas, where it has that form. */
function asFormula(fit: MemoryFit): string {
  const bytesOf = (name: string) => fit.terms.find(({ of }) => of === name)?.bytes ?? 0;
  const each = bytesOf('objects');
  // Where memory does not grow with objects.
  if (each <= 0) return '–';
  return formulaText({
    objectsPerMegabyte: BYTES_PER_MEGABYTE / each,
    baseMegabytes: bytesOf('constant') / BYTES_PER_MEGABYTE,
  });
}

const FITTED: readonly MemoryFigure[] = ['settled', 'steady', 'coldStartPeak', 'relistPeak'];

export function fitTable(fits: readonly MemoryFit[]): Block {
  return table(
    'Lines through the starts',
    [
      'Server',
      'Configuration',
      'Figure',
      'Line [95 %]',
      'In the published form, MB',
      ...numbers('Scatter', 'Starts'),
    ],
    fits
      .filter(({ figure }) => FITTED.includes(figure))
      .map((fit) => [
        serverWords(fit.server),
        fit.configuration,
        FIGURES[fit.figure].title,
        lineText(fit),
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
      'Configuration',
      'Published formula, MB',
      'Least squares through its data, MB',
      'Kilobytes an object: formula, data',
    ],
    configurations.map((name) => {
      const [formula, data] = [PUBLISHED_LINES[name], fittedLine(PUBLISHED_POINTS[name])];
      const each = [formula, data].map((line) => kilobytesEach(BYTES_PER_MEGABYTE / line.objectsPerMegabyte));
      return [name, formulaText(formula), formulaText(data), each.join(', ')];
    }),
  );
}

/** What a published figure is to ours: within our range, below it (clusters would need more), or above it. */
export function sideOf(published: number, ours: Summary | null): 'within' | 'below' | 'above' | null {
  if (ours === null) return null;
  const { median, low, high } = ours;
  if (published < (low ?? median)) return 'below';
  return published > (high ?? median) ? 'above' : 'within';
}

const SIDE_WORDS = { within: 'within', below: 'too low', above: 'too high' } as const;

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
function oursOf(values: readonly number[]): { readonly text: string; readonly range: Summary | null } {
  const summary = summaryOf(values);
  if (summary === null || values.length !== 2) return { text: interval(summary, mebibytes), range: summary };
  const range = { ...summary, low: Math.min(...values), high: Math.max(...values) };
  return { text: unbroken(values.map((value) => mebibytes(value)).join(' / ')), range };
}

/** Ours beside what was published, at the sizes that were measured. */
export function besideTable(record: MemoryRecord): Block {
  return table(
    'Beside the published figures',
    [
      ...POINT_COLUMNS,
      ...numbers(
        'Maximum, without cache and load',
        'Published maximum, without cache and load',
        'Under load',
        'Published formula',
        'Line through published data',
      ),
    ],
    memoryCases(record).map((point) => {
      const configuration = publishedAs(point.configuration);
      const starts = evidencesOf(record, point.key);
      const maximum = oursOf(starts.map(maximumWithoutCache));
      const steady = oursOf(starts.map(({ stages }) => stages.underLoad.anonymousBytes));
      const { objects } = observe(record, [point], 'steady').at(-1)?.point ?? point;
      // The formula and the data are for a load that no cluster was asked to take.
      const comparable = record.environment.cluster === null ? steady.range : null;
      return [
        ...pointCells(point),
        maximum.text,
        besideCell(measuredBytes(configuration, objects), maximum.range),
        steady.text,
        besideCell(formulaBytes(configuration, objects), comparable),
        besideCell(dataBytes(configuration, objects), comparable),
      ];
    }),
  );
}

const STAGE_TITLES: Readonly<Record<keyof MemoryEvidence['stages'], string>> = {
  loaded: FIGURES.loaded.title,
  settled: FIGURES.settled.title,
  fullCache: FIGURES.fullCache.title,
  underLoad: FIGURES.steady.title,
  reread: 'read again',
};

/** What is told of a moment, by the titles of columns. */
const READINGS: Readonly<Record<string, (stage: MemoryStage) => number | null>> = {
  Anonymous: ({ anonymousBytes }) => anonymousBytes,
  Resident: ({ residentBytes }) => residentBytes,
  PSS: ({ proportionalBytes }) => proportionalBytes,
  'Heap allocated': ({ heap }) => heap.allocatedBytes,
  'Heap in use': ({ heap }) => heap.inUseBytes,
  'Next collection at': ({ heap }) => heap.nextCollectionBytes,
  Returned: ({ heap }) => heap.releasedBytes,
};

/** What the kernel and Go say of the same moments; medians over the starts, as limits are written; `–` where no start has it. */
export function heapTable(record: MemoryRecord): Block {
  const rows = memoryCases(record).flatMap((point) =>
    MEMORY_STAGES.flatMap((stage) => {
      const stages = evidencesOf(record, point.key).flatMap((evidence) => evidence.stages[stage] ?? []);
      const cells = Object.values(READINGS).map((of) => {
        const values = stages.flatMap((each) => of(each) ?? []);
        return values.length === 0 ? '–' : formatBytes(median(values));
      });
      return stages.length === 0 ? [] : [[...pointCells(point), STAGE_TITLES[stage], ...cells]];
    }),
  );
  const columns = [...POINT_COLUMNS, 'Moment', ...numbers(...Object.keys(READINGS))];
  return table('What the kernel and Go say', columns, rows);
}

/** What was created on a cluster at each point, and the cluster meanwhile: of the last start. */
export function createdTable(record: MemoryRecord): Block {
  const columns = numbers(
    ...['Services', 'Endpoint slices', 'Addresses', 'Pods', 'Seconds', 'Slowest p99, s', 'Working set'],
  );
  return table(
    'What was created',
    [...POINT_COLUMNS, ...columns, 'Cluster DNS'],
    memoryCases(record).flatMap((point) => {
      const last = evidencesOf(record, point.key).at(-1)?.cluster;
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

const FULL_CACHE = {
  here: '9,984 positive and 9,984 negative answers',
  onCluster:
    'filled once with names of addresses and names that do not exist; what it held was not counted. With autopath, only addresses of pods have names, so that most answers are negative',
};

/** What the figures mean. */
export const meanings = ({ environment }: Pick<MemoryRecord, 'environment'>): Block =>
  text(
    `Anonymous memory. It is what the kubelet counts as the working set, within about a megabyte, and out-of-memory kills depend on it; 40 to 50 MiB of the program file come on top in the resident set. Just loaded: with the garbage of reading. Settled: after that was collected under light load, the cache nearly empty. Full cache: ${FULL_CACHE[environment.cluster === null ? 'here' : 'onCluster']}. Under load: the same, at the rate of the run. Peaks: the largest moment while all objects are read, at the start and again after 410 Gone.`,
  );
