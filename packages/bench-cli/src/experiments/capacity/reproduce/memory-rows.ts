/** Published figures of memory beside those of `bench capacity memory`. Pure. */
import { median } from '../../../stats/intervals.ts';
import { BYTES_PER_MEGABYTE } from '../figures.ts';
import {
  figureOf,
  type MemoryEvidence,
  type MemoryFigure,
  type MemoryRecord,
  maximumWithoutCache,
} from '../memory/evidence.ts';
import { type MemoryFit, memoryLines, startsOf } from '../memory/lines.ts';
import { type MemoryCase, memoryCases } from '../memory/points.ts';
import {
  CACHE_MEGABYTES,
  type Configuration,
  fittedLine,
  formulaBytes,
  LOAD_MEGABYTES,
  type MemoryLine,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from '../published.ts';
import {
  type Beside,
  figureRow,
  type OurFigure,
  type OwnCase,
  ourFigure,
  type ReproducedRow,
  ratioRow,
} from './rows.ts';

const CONFIGURATIONS = ['default', 'autopath'] as const;
/** The published sizes: Pods and Services. */
const SIZES = [15_820, 63_280, 158_200];

type Source = MemoryRecord | undefined;

/** Measures every row. */
const COMMAND = `bench capacity memory --objects 0,${SIZES.join(',')} --configurations ${CONFIGURATIONS.join(',')}`;

const rowOf = (
  section: string,
  name: string,
  unit: ReproducedRow['unit'],
  published: number,
  ours: readonly OurFigure[],
): ReproducedRow => ({ section, name, unit, published, ours, command: COMMAND });

/** One point for each version, in the published proportions. */
function pointsOf(source: Source, configuration: Configuration, objects: number): readonly MemoryCase[] {
  return memoryCases(source?.cases ?? []).filter(
    (point) => point.configuration === configuration && point.objects === objects && point.isPlain,
  );
}

/** A published point with our starts of the same size. */
function besideOf(
  source: Source,
  { configuration, objects, bytes }: PublishedPoint,
  figure: (evidence: MemoryEvidence) => number | null,
): Beside {
  const own = (record: MemoryRecord) =>
    pointsOf(record, configuration, objects).map(({ key, server }): OwnCase => {
      const values = startsOf(record, key).flatMap(({ round, evidence }) => {
        const value = figure(evidence);
        return value === null ? [] : [{ round, value }];
      });
      return { record, server, peer: server, values, isBound: false };
    });
  return { published: bytes, unit: 'bytes', ours: source === undefined ? [] : own(source) };
}

const sizeText = ({ configuration, objects }: Omit<PublishedPoint, 'bytes'>) =>
  `${configuration}, ${objectsText(objects)}`;
const objectsText = (objects: number) => `${objects.toLocaleString('en')} Pods and Services`;

interface PublishedPoint {
  readonly configuration: Configuration;
  readonly objects: number;
  readonly bytes: number;
}

const POINTS: readonly PublishedPoint[] = CONFIGURATIONS.flatMap((configuration) =>
  PUBLISHED_POINTS[configuration].map(([objects, megabytes]) => ({
    ...{ configuration, objects, bytes: megabytes * BYTES_PER_MEGABYTE },
  })),
);

function termOf(source: Source, configuration: Configuration, of: MemoryFit['terms'][number]['of']) {
  if (source === undefined) return [];
  return memoryLines(source)
    .filter((fit) => fit.configuration === configuration && fit.figure === 'steady')
    .flatMap(({ server, terms }) =>
      terms
        .filter((term) => term.of === of)
        .flatMap(({ bytes, low, high }) => ourFigure(source, server, { median: bytes, low, high })),
    );
}

function lineRows(
  source: Source,
  configuration: Configuration,
  title: string,
  { objectsPerMegabyte, baseMegabytes }: MemoryLine,
): ReproducedRow[] {
  const row = (name: string, unit: ReproducedRow['unit'], published: number, of: 'objects' | 'constant') =>
    rowOf(
      'Memory of an object',
      `${configuration}, ${title}: ${name}`,
      unit,
      published,
      termOf(source, configuration, of),
    );
  return [
    row('an object', 'bytes an object', BYTES_PER_MEGABYTE / objectsPerMegabyte, 'objects'),
    row('the constant', 'bytes', baseMegabytes * BYTES_PER_MEGABYTE, 'constant'),
  ];
}

/** How much a start grows from one stage to the next, with the fewest objects that were measured. */
export function growthOf(source: Source, before: MemoryFigure, after: MemoryFigure): readonly OurFigure[] {
  if (source === undefined) return [];
  const points = memoryCases(source.cases).filter(({ configuration }) => configuration === 'default');
  const fewest = Math.min(...points.map(({ objects }) => objects));
  return pointsOf(source, 'default', fewest).flatMap(({ key, server }) => {
    const grown = startsOf(source, key).flatMap(({ evidence }) => {
      const [from, to] = [figureOf(evidence, before), figureOf(evidence, after)];
      return from === null || to === null ? [] : [to - from];
    });
    // Intervals of ours are those of logarithms, which a difference near or below zero has none of.
    return ourFigure(
      source,
      server,
      grown.length === 0 ? null : { median: median(grown), low: null, high: null },
    );
  });
}

/** What both formulas include. */
function partRows(source: Source): ReproducedRow[] {
  const row = (name: string, megabytes: number, before: MemoryFigure, after: MemoryFigure) =>
    rowOf(
      'Memory of a full cache, and of load',
      name,
      'bytes',
      megabytes * BYTES_PER_MEGABYTE,
      growthOf(source, before, after),
    );
  return [
    row('a full cache', CACHE_MEGABYTES, 'settled', 'fullCache'),
    row('load, on top of a full cache', LOAD_MEGABYTES, 'fullCache', 'steady'),
  ];
}

/** Points, formula, its parts, lines and ratios, in the order of the publication. */
export function memoryRows(source: Source): ReproducedRow[] {
  const find = (configuration: Configuration, objects: number) =>
    POINTS.find((point) => point.configuration === configuration && point.objects === objects);
  const row = (section: string, point: PublishedPoint, figure: (evidence: MemoryEvidence) => number | null) =>
    figureRow({ section, command: COMMAND }, sizeText(point), besideOf(source, point, figure));
  const ratio = (name: string, item: PublishedPoint, other: PublishedPoint | undefined) => {
    if (other === undefined) return [];
    const [own, baseline] = [item, other].map((point) => besideOf(source, point, maximumWithoutCache));
    const heading = { section: 'Ratios of memory', command: COMMAND };
    return ratioRow(heading, name, own ?? null, baseline ?? null);
  };
  return [
    ...POINTS.flatMap((point) => row('Maximum memory, without cache and load', point, maximumWithoutCache)),
    ...CONFIGURATIONS.flatMap((configuration) =>
      SIZES.flatMap((objects) => {
        const bytes = formulaBytes(configuration, objects);
        const section = 'Memory by the formula, with a full cache and load';
        return row(section, { configuration, objects, bytes }, (evidence) => figureOf(evidence, 'steady'));
      }),
    ),
    ...partRows(source),
    ...CONFIGURATIONS.flatMap((configuration) => [
      ...lineRows(source, configuration, 'formula', PUBLISHED_LINES[configuration]),
      ...lineRows(
        source,
        configuration,
        'least squares through its data',
        fittedLine(PUBLISHED_POINTS[configuration]),
      ),
    ]),
    ...POINTS.flatMap((point) => {
      const { configuration, objects } = point;
      const same = configuration === 'autopath' ? find('default', objects) : undefined;
      const empty = objects === 0 ? undefined : find(configuration, 0);
      return [
        // Autopath reads all pods.
        ...ratio(`autopath ÷ default, ${objectsText(objects)}`, point, same),
        ...ratio(`${sizeText(point)} ÷ none`, point, empty),
      ];
    }),
  ];
}
