/** The lines through the starts of a measurement of memory. Pure. */
import { evidencesOf } from '../../../engine/record.ts';
import { proportionalFit } from '../../../stats/proportional-fit.ts';
import { watchesPods } from '../configurations.ts';
import { objectsOf, sizeWith } from '../memory-basis.ts';
import {
  FIGURES,
  MEMORY_FIGURES,
  type MemoryEvidence,
  type MemoryFigure,
  type MemoryRecord,
} from './evidence.ts';
import { type Counts, type MemoryCase, memoryCases } from './points.ts';

type TermName = 'constant' | keyof Counts;

/**
 * The line through all starts of a server and configuration: bytes = constant + Σ term × count. Starts scatter in proportion
 * to what they need, so each counts by its distance from the line as a share of the line.
 */
export interface MemoryFit {
  readonly server: string;
  readonly configuration: string;
  readonly figure: MemoryFigure;
  /** Bytes for one of these, with the 95 % interval; `constant` is the rest. */
  readonly terms: readonly {
    readonly of: TermName;
    readonly bytes: number;
    readonly low: number;
    readonly high: number;
  }[];
  /** Of the terms with each other, in their order; bytes². How well the line is known at a size. */
  readonly covariance: readonly (readonly number[])[];
  /** Standard deviation of the starts around the line, as a share of the line: 0.05 is 5 %. */
  readonly scatterRatio: number;
  readonly starts: number;
  /** Largest number of objects that was measured: the line says nothing far beyond it. */
  readonly maxObjects: number;
  /** Why counts that go together have one term; null if every count has its own. */
  readonly merged: string | null;
}

const countOf = (of: TermName, counts: Counts) => (of === 'constant' ? 1 : counts[of]);

/** How many there are of what each term of a line counts, in their order. */
export function termCounts({ terms }: Pick<MemoryFit, 'terms'>, counts: Counts): number[] {
  return terms.map(({ of }) => countOf(of, counts));
}

/** A figure of a start. */
export interface Observed {
  /** With all that was read. */
  readonly point: MemoryCase;
  /** The case of the record: what was created. */
  readonly created: MemoryCase;
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
  const columnsOf = (of: 'point' | 'created') =>
    terms.map((term) => observed.map((each) => countOf(term, each[of])));
  const values = observed.map(({ bytes }) => bytes);
  // Only what was created tells counts apart: a cluster that has a pod more in one start than in another says nothing of pods.
  if (first === undefined || proportionalFit(columnsOf('created'), values) === null) return null;
  const fit = proportionalFit(columnsOf('point'), values);
  if (fit === null) return null;
  const { server, configuration } = first.point;
  return {
    ...{ server, configuration, figure, merged },
    terms: terms.map((of, at) => {
      const { estimate = 0, low = 0, high = 0 } = fit.coefficients[at] ?? {};
      return { of, bytes: estimate, low, high };
    }),
    covariance: fit.covariance,
    scatterRatio: fit.residual,
    starts: values.length,
    maxObjects: Math.max(...observed.map(({ point }) => point.objects)),
  };
}

export type MemoryTrials = Pick<MemoryRecord, 'cases' | 'trials'>;

/** With what the cluster had itself, which its CoreDNS has read as well. */
function allRead(point: MemoryCase, { cluster }: MemoryEvidence): MemoryCase {
  const { own } = cluster ?? {};
  if (own === undefined) return point;
  const size = sizeWith(own, point);
  return { ...point, ...size, objects: objectsOf(size) };
}

/** A figure of all starts of some cases. */
export function observe(
  record: Pick<MemoryTrials, 'trials'>,
  points: readonly MemoryCase[],
  figure: MemoryFigure,
): Observed[] {
  return points.flatMap((point) =>
    evidencesOf<MemoryEvidence>(record, point.key).flatMap((evidence) => {
      const bytes = FIGURES[figure].of(evidence);
      return bytes === null ? [] : [{ point: allRead(point, evidence), created: point, bytes }];
    }),
  );
}

/** The cases of each server and configuration. */
export function seriesOf(record: Pick<MemoryTrials, 'cases'>): MemoryCase[][] {
  return [
    ...Map.groupBy(memoryCases(record), ({ server, configuration }) => `${server}/${configuration}`).values(),
  ];
}

/** One for each server, configuration and figure that enough was measured of, with as many terms as can be told apart. */
export function memoryLines(record: MemoryTrials): MemoryFit[] {
  return seriesOf(record).flatMap((points) =>
    MEMORY_FIGURES.flatMap((figure) => {
      const observed = observe(record, points, figure);
      for (const model of models(points.some(({ configuration }) => watchesPods(configuration)))) {
        const line = lineOf(observed, figure, model);
        if (line !== null) return [line];
      }
      return [];
    }),
  );
}
