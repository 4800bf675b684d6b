/** The figures of a start. Pure. */
import type { CompleteStart, MemoryFigure, MemoryStart } from './memory-record.ts';

export const isComplete = (start: MemoryStart): start is CompleteStart => start.status === 'ok';

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

/** The most that a start needed before its cache was filled: memory may still rise after all objects were read. Anonymous bytes. */
export function maximumWithoutCache({ stages, coldStart }: CompleteStart): number {
  return Math.max(coldStart.peak.anonymousBytes, stages.loaded.anonymousBytes, stages.settled.anonymousBytes);
}
