/**
 * Whiskers that would dwarf everything else. Two trials that differ give an interval of many times the figure, and a
 * scale that holds it shows nothing but it: such a whisker is cut off, gets an arrow instead of an end, and the
 * caption says so. Its tip tells the whole interval.
 */

/** So many times the largest figure, a scale reaches at most. */
const REACH = 2;

export interface Cut {
  readonly low: number;
  readonly high: number;
  readonly isCutLow: boolean;
  readonly isCutHigh: boolean;
}

/** How far a scale reaches that is to show these figures. */
export function reachOf(figures: readonly number[]): number {
  return REACH * figures.reduce((most, figure) => Math.max(most, Math.abs(figure)), 0);
}

/** The interval within ±`reach`. */
export function cut(low: number, high: number, reach: number): Cut {
  return {
    low: Math.max(low, -reach),
    high: Math.min(high, reach),
    isCutLow: low < -reach,
    isCutHigh: high > reach,
  };
}

/** For captions. */
export const CUT_NOTE = ' An arrow means that the interval continues.';
