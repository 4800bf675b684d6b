/** Published figures of memory beside those of `bench capacity memory`. Pure. */
import type { ImportedCase } from '../../../history/imported.ts';
import { median } from '../../../stats/intervals.ts';
import { BYTES_PER_MEGABYTE } from '../figures.ts';
import { figureOf, type MemoryFigure, maximumWithoutCache } from '../memory/evidence.ts';
import { type MemoryFit, memoryLines, startsOf } from '../memory/lines.ts';
import { type MemoryCase, memoryCases } from '../memory/points.ts';
import { summaryOf } from '../memory/tables.ts';
import {
  CACHE_MEGABYTES,
  type Configuration,
  fittedLine,
  LOAD_MEGABYTES,
  type MemoryLine,
  megabytesOf,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from '../published.ts';
import { type MemorySource, type OurFigure, ourFigure, ourRatio, type ReproducedRow } from './rows.ts';

const CONFIGURATIONS = ['default', 'autopath'] as const;
/** The published sizes: Pods and Services. */
const SIZES = [15_820, 63_280, 158_200];

const POINTS = 'Maximum memory, without cache and load';
const FORMULA = 'Memory by the formula, with a full cache and load';
const PARTS = 'Memory of a full cache, and of load';
const LINES = 'Memory of an object';
const RATIOS = 'Ratios of memory';

type Source = MemorySource | undefined;

/** Measures every row. */
const COMMAND = `bench capacity memory --objects 0,${SIZES.join(',')} --configurations ${CONFIGURATIONS.join(',')}`;

/** One point for each version, in the published proportions. */
function pointsOf(source: Source, configuration: Configuration, objects: number): readonly MemoryCase[] {
  return memoryCases(source?.record.cases ?? []).filter(
    (point) => point.configuration === configuration && point.objects === objects && point.isPlain,
  );
}

function figuresOf(
  source: Source,
  configuration: Configuration,
  objects: number,
  figure: MemoryFigure,
): OurFigure[] {
  return pointsOf(source, configuration, objects).flatMap((point) =>
    source === undefined
      ? []
      : ourFigure(
          source,
          point.server,
          summaryOf(source.record, point, (evidence) => figureOf(evidence, figure)),
        ),
  );
}

const objectsText = (objects: number) => `${objects.toLocaleString('en')} Pods and Services`;

interface PublishedPoint {
  readonly configuration: Configuration;
  readonly objects: number;
  readonly bytes: number;
}

function publishedPoints(cases: readonly ImportedCase[]): PublishedPoint[] {
  return cases.flatMap(({ workload, parameters, trials }) => {
    const configuration = CONFIGURATIONS.find((name) => name === parameters?.configuration);
    const objects = parameters?.podsAndServices;
    const values = trials.flatMap(({ metrics }) => metrics.memoryBytes ?? []);
    return workload === 'memory' &&
      configuration !== undefined &&
      typeof objects === 'number' &&
      values.length > 0
      ? [{ configuration, objects, bytes: median(values) }]
      : [];
  });
}

function pointRow(source: Source, { configuration, objects, bytes }: PublishedPoint): ReproducedRow {
  return {
    section: POINTS,
    name: `${configuration}, ${objectsText(objects)}`,
    unit: 'bytes',
    published: bytes,
    ours: pointsOf(source, configuration, objects).flatMap((point) =>
      source === undefined
        ? []
        : ourFigure(source, point.server, summaryOf(source.record, point, maximumWithoutCache)),
    ),
    command: COMMAND,
  };
}

function formulaRow(source: Source, configuration: Configuration, objects: number): ReproducedRow {
  return {
    section: FORMULA,
    name: `${configuration}, ${objectsText(objects)}`,
    unit: 'bytes',
    published: megabytesOf(PUBLISHED_LINES[configuration], objects) * BYTES_PER_MEGABYTE,
    ours: figuresOf(source, configuration, objects, 'steady'),
    command: COMMAND,
  };
}

function termOf(source: Source, configuration: Configuration, of: MemoryFit['terms'][number]['of']) {
  return source === undefined
    ? []
    : memoryLines(source.record)
        .filter((fit) => fit.configuration === configuration && fit.figure === 'steady')
        .flatMap(({ server, terms }) => {
          const term = terms.find((one) => one.of === of);
          return term === undefined
            ? []
            : ourFigure(source, server, { median: term.bytes, low: term.low, high: term.high });
        });
}

function lineRows(
  source: Source,
  configuration: Configuration,
  title: string,
  { objectsPerMegabyte, baseMegabytes }: MemoryLine,
): ReproducedRow[] {
  return [
    {
      section: LINES,
      name: `${configuration}, ${title}: an object`,
      unit: 'bytes an object',
      published: BYTES_PER_MEGABYTE / objectsPerMegabyte,
      ours: termOf(source, configuration, 'objects'),
      command: COMMAND,
    },
    {
      section: LINES,
      name: `${configuration}, ${title}: the constant`,
      unit: 'bytes',
      published: baseMegabytes * BYTES_PER_MEGABYTE,
      ours: termOf(source, configuration, 'constant'),
      command: COMMAND,
    },
  ];
}

/** Starts of the same round of both points. */
function pairsOf({ record }: MemorySource, item: MemoryCase, baseline: MemoryCase) {
  const before = new Map(startsOf(record, baseline.key).map((start) => [start.round, start.evidence]));
  return startsOf(record, item.key).flatMap(({ round, evidence }) => {
    const same = before.get(round);
    return same === undefined
      ? []
      : [{ value: maximumWithoutCache(evidence), baseline: maximumWithoutCache(same) }];
  });
}

/** Autopath, which reads all pods, beside the default at the same size. */
function autopathRatio(source: Source, item: PublishedPoint, other: PublishedPoint): ReproducedRow {
  const published = item.bytes / other.bytes;
  const ours = pointsOf(source, item.configuration, item.objects).flatMap((point) => {
    const same = pointsOf(source, other.configuration, other.objects).find(
      ({ server }) => server === point.server,
    );
    return source === undefined || same === undefined
      ? []
      : ourRatio(source, point.server, pairsOf(source, point, same), published);
  });
  return {
    section: RATIOS,
    name: `autopath ÷ default, ${objectsText(item.objects)}`,
    unit: 'ratio',
    published,
    ours,
    command: COMMAND,
  };
}

/** The largest size beside none. */
function growthRatio(source: Source, item: PublishedPoint, empty: PublishedPoint): ReproducedRow {
  const published = item.bytes / empty.bytes;
  const ours = pointsOf(source, item.configuration, item.objects).flatMap((point) => {
    const none = pointsOf(source, item.configuration, empty.objects).find(
      ({ server }) => server === point.server,
    );
    return source === undefined || none === undefined
      ? []
      : ourRatio(source, point.server, pairsOf(source, point, none), published);
  });
  return {
    section: RATIOS,
    name: `${item.configuration}, ${objectsText(item.objects)} ÷ none`,
    unit: 'ratio',
    published,
    ours,
    command: COMMAND,
  };
}

/** How much a start grows from one stage to the next, with the fewest objects that were measured. */
export function growthOf(source: Source, before: MemoryFigure, after: MemoryFigure): readonly OurFigure[] {
  if (source === undefined) return [];
  const points = memoryCases(source.record.cases).filter(({ configuration }) => configuration === 'default');
  const fewest = Math.min(...points.map(({ objects }) => objects));
  return pointsOf(source, 'default', fewest).flatMap(({ key, server }) => {
    const grown = startsOf(source.record, key).flatMap(({ evidence }) => {
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
  const row = (name: string, megabytes: number, before: MemoryFigure, after: MemoryFigure) => ({
    section: PARTS,
    name,
    unit: 'bytes' as const,
    published: megabytes * BYTES_PER_MEGABYTE,
    ours: growthOf(source, before, after),
    command: COMMAND,
  });
  return [
    row('a full cache', CACHE_MEGABYTES, 'settled', 'fullCache'),
    row('load, on top of a full cache', LOAD_MEGABYTES, 'fullCache', 'steady'),
  ];
}

/** Points, formula, its parts, lines and ratios, in the order of the publication. */
export function memoryRows(source: Source, cases: readonly ImportedCase[]): ReproducedRow[] {
  const points = publishedPoints(cases);
  const find = (configuration: Configuration, objects: number) =>
    points.find((point) => point.configuration === configuration && point.objects === objects);
  return [
    ...points.map((point) => pointRow(source, point)),
    ...CONFIGURATIONS.flatMap((configuration) =>
      SIZES.map((objects) => formulaRow(source, configuration, objects)),
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
    ...points.flatMap((point) => {
      const same = point.configuration === 'autopath' ? find('default', point.objects) : undefined;
      const empty = point.objects === 0 ? undefined : find(point.configuration, 0);
      return [
        ...(same === undefined ? [] : [autopathRatio(source, point, same)]),
        ...(empty === undefined ? [] : [growthRatio(source, point, empty)]),
      ];
    }),
  ];
}
