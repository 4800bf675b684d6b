/**
 * Whiskers that would dwarf everything else. Two trials that differ give an interval of many times the figure, and on a
 * scale that includes it nothing else is visible. Such a whisker is cut off and ends in an arrow, and the caption says
 * so. Its tooltip has the whole interval.
 */

/** A scale reaches at most this many times the largest figure. */
const REACH = 2;

/** How far the scale for these figures reaches. */
export function reachOf(figures: readonly number[]): number {
  return REACH * figures.reduce((most, figure) => Math.max(most, Math.abs(figure)), 0);
}

/** The interval within ±`reach`. */
export function cut(low: number, high: number, reach: number) {
  return {
    low: Math.max(low, -reach),
    high: Math.min(high, reach),
    isCutLow: low < -reach,
    isCutHigh: high > reach,
  };
}

/** For captions. */
export const CUT_NOTE = ' An arrow means that the interval continues.';
