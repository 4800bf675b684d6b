/** From starts to points and lines. Pure. */

import { median } from '../../../stats/intervals.ts';
import { summarize } from '../../../stats/summarize.ts';
import { watchesPods } from '../configurations.ts';
import { figureOf, isComplete } from './figure-of.ts';
import { memoryLines } from './lines.ts';
import type {
  MemoryFigure,
  MemoryPointRecord,
  MemoryResult,
  MemoryStart,
  MemorySummary,
} from './memory-record.ts';
import type { MemoryPoint } from './points.ts';

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

/** The points of a run, in their order, and the lines through them. */
export function summarizeMemory(
  points: readonly MemoryPoint[],
  starts: readonly MemoryStart[],
): MemoryResult {
  const records = points.map((point) => pointRecord(point, starts));
  return { what: 'memory', starts: [...starts], points: records, fits: memoryLines(records, starts) };
}
