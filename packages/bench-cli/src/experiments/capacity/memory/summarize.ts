/** From starts to points and lines. Pure. */

import { median } from '../../../stats/intervals.ts';
import { leastSquares } from '../../../stats/least-squares.ts';
import { summarize } from '../../../stats/summarize.ts';
import { watchesPods } from '../configurations.ts';
import {
  type CompleteStart,
  MEMORY_FIGURES,
  type MemoryFigure,
  type MemoryFit,
  type MemoryPointRecord,
  type MemoryResult,
  type MemoryStart,
  type MemorySummary,
} from './memory-record.ts';
import type { MemoryPoint } from './points.ts';

/** A figure of a start, in anonymous bytes; null where this configuration has none. */
export function figureOf({ stages, coldStart, relist }: CompleteStart, figure: MemoryFigure): number | null {
  switch (figure) {
    case 'loaded':
    case 'settled':
      return stages[figure].anonymousBytes;
    case 'fullCache':
      return stages.fullCache?.anonymousBytes ?? null;
    case 'steady':
      return stages.underLoad.anonymousBytes;
    case 'coldStartPeak':
      return coldStart.peak.anonymousBytes;
    case 'relistPeak':
      return relist.peak.anonymousBytes;
  }
}

const isComplete = (start: MemoryStart): start is CompleteStart => start.status === 'ok';

function summaryOf(values: readonly number[]): MemorySummary | null {
  return values.length === 0 ? null : summarize(values);
}

function startsOf(starts: readonly MemoryStart[], key: string): MemoryStart[] {
  return starts.filter(({ point }) => point === key);
}

function pointRecord(point: MemoryPoint, starts: readonly MemoryStart[]): MemoryPointRecord {
  const { key, server, configuration, objects, cluster } = point;
  const own = startsOf(starts, key);
  const complete = own.filter(isComplete);
  const summarized = (figure: MemoryFigure) =>
    summaryOf(complete.flatMap((start) => figureOf(start, figure) ?? []));
  return {
    key,
    server,
    configuration,
    objects,
    services: cluster.services,
    pods: cluster.pods,
    endpoints: cluster.endpoints,
    headlessShare: cluster.headless,
    watchesPods: watchesPods(configuration),
    starts: complete.length,
    failedStarts: own.length - complete.length,
    figures: {
      settled: summarized('settled'),
      fullCache: summarized('fullCache'),
      steady: summarized('steady'),
      loaded: summarized('loaded'),
      coldStartPeak: summarized('coldStartPeak'),
      relistPeak: summarized('relistPeak'),
    },
    heldQps: complete.length === 0 ? null : median(complete.map(({ load }) => load.heldQps)),
  };
}

type TermName = MemoryFit['terms'][number]['of'];

interface Observed {
  readonly point: MemoryPoint;
  readonly bytes: number;
}

const COUNTS: Readonly<Record<TermName, (point: MemoryPoint) => number>> = {
  constant: () => 1,
  objects: ({ objects }) => objects,
  services: ({ cluster }) => cluster.services,
  pods: ({ cluster }) => cluster.pods,
  endpoints: ({ cluster }) => cluster.endpoints,
};

const ENDPOINTS_MERGED =
  'endpoints grew with pods, so that they cannot be told apart: what a pod costs includes its endpoints';
const ALL_MERGED =
  'services, pods and endpoints grew together, so that they cannot be told apart: the line is over objects, which are services and pods';

/** From the most detailed line to the simplest; CoreDNS does not read pods in every configuration. */
function models(
  readsPods: boolean,
): { readonly terms: readonly TermName[]; readonly merged: string | null }[] {
  return [
    {
      terms: readsPods
        ? ['constant', 'services', 'pods', 'endpoints']
        : ['constant', 'services', 'endpoints'],
      merged: null,
    },
    ...(readsPods ? [{ terms: ['constant', 'services', 'pods'] as const, merged: ENDPOINTS_MERGED }] : []),
    { terms: ['constant', 'objects'], merged: ALL_MERGED },
  ];
}

function fitOf(observed: readonly Observed[], figure: MemoryFigure): MemoryFit | null {
  const [first] = observed;
  if (first === undefined) return null;
  const { server, configuration } = first.point;
  const values = observed.map(({ bytes }) => bytes);
  for (const { terms, merged } of models(watchesPods(configuration))) {
    const columns = terms.map((term) => observed.map(({ point }) => COUNTS[term](point)));
    const fit = leastSquares(columns, values);
    if (fit === null) continue;
    return {
      server,
      configuration,
      figure,
      terms: terms.map((of, at) => {
        const { estimate = 0, low = 0, high = 0 } = fit.coefficients[at] ?? {};
        return { of, bytes: estimate, low, high };
      }),
      residualBytes: fit.residual,
      starts: values.length,
      maxObjects: Math.max(...observed.map(({ point }) => point.objects)),
      merged,
    };
  }
  return null;
}

function fitsOf(points: readonly MemoryPoint[], starts: readonly MemoryStart[]): MemoryFit[] {
  const groups = Map.groupBy(points, ({ server, configuration }) => `${server}/${configuration}`);
  return [...groups.values()].flatMap((group) =>
    MEMORY_FIGURES.flatMap((figure) => {
      const observed = group.flatMap((point) =>
        startsOf(starts, point.key)
          .filter(isComplete)
          .flatMap((start) => {
            const bytes = figureOf(start, figure);
            return bytes === null ? [] : [{ point, bytes }];
          }),
      );
      return fitOf(observed, figure) ?? [];
    }),
  );
}

/** The points of a run, in their order, and the lines through them. */
export function summarizeMemory(
  points: readonly MemoryPoint[],
  starts: readonly MemoryStart[],
): MemoryResult {
  return {
    what: 'memory',
    starts: [...starts],
    points: points.map((point) => pointRecord(point, starts)),
    fits: fitsOf(points, starts),
  };
}
