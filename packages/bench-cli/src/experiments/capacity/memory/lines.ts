/** The lines through the starts of a measurement of memory. Pure. */
import { proportionalFit } from '../../../stats/proportional-fit.ts';
import { figureOf, isComplete } from './figure-of.ts';
import {
  MEMORY_FIGURES,
  type MemoryFigure,
  type MemoryFit,
  type MemoryPointRecord,
  type MemoryStart,
} from './memory-record.ts';

type Counts = Pick<MemoryPointRecord, 'objects' | 'services' | 'pods' | 'endpoints'>;
type TermName = MemoryFit['terms'][number]['of'];

const COUNTS: Readonly<Record<TermName, (counts: Counts) => number>> = {
  constant: () => 1,
  objects: ({ objects }) => objects,
  services: ({ services }) => services,
  pods: ({ pods }) => pods,
  endpoints: ({ endpoints }) => endpoints,
};

/** How many there are of what each term of a line counts, in their order. */
export function termCounts({ terms }: Pick<MemoryFit, 'terms'>, counts: Counts): number[] {
  return terms.map(({ of }) => COUNTS[of](counts));
}

interface Observed {
  readonly point: MemoryPointRecord;
  readonly bytes: number;
}

const ENDPOINTS_MERGED =
  'endpoints grew with pods, so that they cannot be told apart: what a pod costs includes its endpoints';
const ALL_MERGED =
  'services, pods and endpoints grew together, so that they cannot be told apart: the line is over objects, which are services and pods';

interface Model {
  readonly terms: readonly TermName[];
  readonly merged: string | null;
}

/** From the most detailed line to the simplest; CoreDNS does not read pods in every configuration. */
function models(readsPods: boolean): Model[] {
  const detailed = readsPods
    ? (['constant', 'services', 'pods', 'endpoints'] as const)
    : (['constant', 'services', 'endpoints'] as const);
  return [
    { terms: detailed, merged: null },
    ...(readsPods ? [{ terms: ['constant', 'services', 'pods'] as const, merged: ENDPOINTS_MERGED }] : []),
    { terms: ['constant', 'objects'], merged: ALL_MERGED },
  ];
}

function lineOf(
  observed: readonly Observed[],
  figure: MemoryFigure,
  { terms, merged }: Model,
): MemoryFit | null {
  const [first] = observed;
  const columns = terms.map((term) => observed.map(({ point }) => COUNTS[term](point)));
  const values = observed.map(({ bytes }) => bytes);
  const fit = first === undefined ? null : proportionalFit(columns, values);
  if (first === undefined || fit === null) return null;
  const { server, configuration } = first.point;
  return {
    server,
    configuration,
    figure,
    terms: terms.map((of, at) => {
      const { estimate = 0, low = 0, high = 0 } = fit.coefficients[at] ?? {};
      return { of, bytes: estimate, low, high };
    }),
    covariance: fit.covariance.map((row) => [...row]),
    scatterRatio: fit.residual,
    starts: values.length,
    maxObjects: Math.max(...observed.map(({ point }) => point.objects)),
    merged,
  };
}

/** The starts of some points that have a figure. */
export function observe(
  points: readonly MemoryPointRecord[],
  starts: readonly MemoryStart[],
  figure: MemoryFigure,
): Observed[] {
  const pointOf = new Map(points.map((point) => [point.key, point]));
  return starts.filter(isComplete).flatMap((start) => {
    const point = pointOf.get(start.point);
    const bytes = figureOf(start, figure);
    return point === undefined || bytes === null ? [] : [{ point, bytes }];
  });
}

/** One for each server, configuration and figure that enough was measured of, with as many terms as can be told apart. */
export function memoryLines(
  points: readonly MemoryPointRecord[],
  starts: readonly MemoryStart[],
): MemoryFit[] {
  const groups = Map.groupBy(points, ({ server, configuration }) => `${server}/${configuration}`);
  return [...groups.values()].flatMap((group) =>
    MEMORY_FIGURES.flatMap((figure) => {
      const observed = observe(group, starts, figure);
      for (const model of models(group.some(({ watchesPods }) => watchesPods))) {
        const line = lineOf(observed, figure, model);
        if (line !== null) return [line];
      }
      return [];
    }),
  );
}
