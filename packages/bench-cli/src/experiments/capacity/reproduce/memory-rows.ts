/** Published figures of memory beside those of `bench capacity memory`. Pure. */
import { evidencesOf } from '../../../engine/record.ts';
import { median } from '../../../stats/intervals.ts';
import { BYTES_PER_MEGABYTE } from '../figures.ts';
import {
  FIGURES,
  type MemoryEvidence,
  type MemoryFigure,
  type MemoryRecord,
  maximumWithoutCache,
} from '../memory/evidence.ts';
import { memoryLines } from '../memory/lines.ts';
import { type MemoryCase, memoryCases } from '../memory/points.ts';
import {
  CACHE_MEGABYTES,
  type Configuration,
  fittedLine,
  formulaBytes,
  LOAD_MEGABYTES,
  type MemoryLine,
  measuredBytes,
  PUBLISHED_LINES,
  PUBLISHED_POINTS,
} from '../published.ts';
import {
  type Beside,
  figureRow,
  type OurFigure,
  ourFigure,
  type ReproducedRow,
  ratioRow,
  valuesOf,
} from './rows.ts';

const CONFIGURATIONS = ['default', 'autopath'] as const;
/** The published sizes: Pods and Services. */
const SIZES = [15_820, 63_280, 158_200];

type Source = MemoryRecord | undefined;
type Figure = (evidence: MemoryEvidence) => number | null;

/** Measures every row. */
const COMMAND = `bench capacity memory --objects 0,${SIZES.join(',')} --configurations ${CONFIGURATIONS.join(',')}`;

const headed = (section: string, name: string) => ({ section, name, command: COMMAND });

/** One point for each version, in the published proportions. */
function pointsOf(source: Source, configuration: Configuration, objects: number): readonly MemoryCase[] {
  return memoryCases(source ?? { cases: [] }).filter(
    (point) => point.configuration === configuration && point.objects === objects && point.isPlain,
  );
}

interface Size {
  readonly configuration: Configuration;
  readonly objects: number;
}

/** What was published of a size with our starts of the same. */
function besideOf(
  source: Source,
  { configuration, objects }: Size,
  published: number | null,
  figure: Figure,
): Beside {
  const ours = pointsOf(source, configuration, objects).flatMap(({ key, server }) =>
    source === undefined
      ? []
      : [{ record: source, server, peer: server, values: valuesOf(source, key, figure), isBound: false }],
  );
  return { published: published ?? undefined, unit: 'bytes', ours };
}

/** The most memory of a start: beside what was measured for the publication. */
const maximumAt = (source: Source, size: Size) =>
  besideOf(source, size, measuredBytes(size.configuration, size.objects), maximumWithoutCache);

const objectsText = (objects: number) => `${objects.toLocaleString('en')} Pods and Services`;
const sizeText = ({ configuration, objects }: Size) => `${configuration}, ${objectsText(objects)}`;

const POINTS: readonly Size[] = CONFIGURATIONS.flatMap((configuration) =>
  PUBLISHED_POINTS[configuration].map(([objects]) => ({ configuration, objects })),
);

function lineRows(
  source: Source,
  configuration: Configuration,
  title: string,
  { objectsPerMegabyte, baseMegabytes }: MemoryLine,
): ReproducedRow[] {
  const fits = (source === undefined ? [] : memoryLines(source)).filter(
    (fit) => fit.configuration === configuration && fit.figure === 'steady',
  );
  const row = (name: string, unit: ReproducedRow['unit'], published: number, wanted: string) => {
    const ours = fits.flatMap(({ server, terms }) =>
      terms.flatMap(({ of, bytes, low, high }) =>
        source === undefined || of !== wanted
          ? []
          : ourFigure({ record: source, server }, { median: bytes, low, high }),
      ),
    );
    return { ...headed('Memory of an object', `${configuration}, ${title}: ${name}`), unit, published, ours };
  };
  return [
    row('an object', 'bytes an object', BYTES_PER_MEGABYTE / objectsPerMegabyte, 'objects'),
    row('the constant', 'bytes', baseMegabytes * BYTES_PER_MEGABYTE, 'constant'),
  ];
}

/** How much a start grows from one stage to the next, with the fewest objects that were measured. */
export function growthOf(source: Source, before: MemoryFigure, after: MemoryFigure): readonly OurFigure[] {
  if (source === undefined) return [];
  const points = memoryCases(source).filter(({ configuration }) => configuration === 'default');
  const fewest = Math.min(...points.map(({ objects }) => objects));
  return pointsOf(source, 'default', fewest).flatMap(({ key, server }) => {
    const grown = evidencesOf(source, key).flatMap((evidence) => {
      const [from, to] = [FIGURES[before].of(evidence), FIGURES[after].of(evidence)];
      return from === null || to === null ? [] : [to - from];
    });
    // Intervals of ours are those of logarithms, which a difference near or below zero has none of.
    const summary = grown.length === 0 ? null : { median: median(grown), low: null, high: null };
    return ourFigure({ record: source, server }, summary);
  });
}

/** What both formulas include. */
function partRows(source: Source): ReproducedRow[] {
  const row = (
    name: string,
    megabytes: number,
    before: MemoryFigure,
    after: MemoryFigure,
  ): ReproducedRow => ({
    ...headed('Memory of a full cache, and of load', name),
    ...{ unit: 'bytes', published: megabytes * BYTES_PER_MEGABYTE, ours: growthOf(source, before, after) },
  });
  return [
    row('a full cache', CACHE_MEGABYTES, 'settled', 'fullCache'),
    row('load, on top of a full cache', LOAD_MEGABYTES, 'fullCache', 'steady'),
  ];
}

/** Points, formula, its parts, lines and ratios, in the order of the publication. */
export function memoryRows(source: Source): ReproducedRow[] {
  const ratio = (name: string, size: Size, other: Size) =>
    ratioRow(headed('Ratios of memory', name), maximumAt(source, size), maximumAt(source, other));
  const formulas = CONFIGURATIONS.flatMap((configuration) =>
    SIZES.map((objects) => ({ configuration, objects })),
  );
  return [
    ...POINTS.flatMap((size) =>
      figureRow(headed('Maximum memory, without cache and load', sizeText(size)), maximumAt(source, size)),
    ),
    ...formulas.flatMap((size) =>
      figureRow(
        headed('Memory by the formula, with a full cache and load', sizeText(size)),
        besideOf(source, size, formulaBytes(size.configuration, size.objects), FIGURES.steady.of),
      ),
    ),
    ...partRows(source),
    ...CONFIGURATIONS.flatMap((name) => [
      ...lineRows(source, name, 'formula', PUBLISHED_LINES[name]),
      ...lineRows(source, name, 'least squares through its data', fittedLine(PUBLISHED_POINTS[name])),
    ]),
    ...POINTS.flatMap((size) => {
      const { configuration, objects } = size;
      return [
        // Autopath reads all pods.
        ...(configuration === 'autopath'
          ? ratio(`autopath ÷ default, ${objectsText(objects)}`, size, { configuration: 'default', objects })
          : []),
        ...(objects === 0 ? [] : ratio(`${sizeText(size)} ÷ none`, size, { configuration, objects: 0 })),
      ];
    }),
  ];
}
