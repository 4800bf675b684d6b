/** How often a loader reports its rate. Pure. */

/** A trial is divided into about as many intervals: two levels of three can be told apart, and a chart has a shape. */
const MIN_INTERVALS = 8;
const INTERVALS_SECONDS = [1, 0.5] as const;
/** Below, the periods of a CPU quota (0.1 s) would make rates of neighbouring intervals differ. */
const SHORTEST_SECONDS = 0.25;

/** Seconds: 1 for a load of 8 s or more, 0.5 from 4 s, else 0.25. */
export function reportIntervalSeconds(durationSeconds: number): number {
  return (
    INTERVALS_SECONDS.find((interval) => durationSeconds / interval >= MIN_INTERVALS) ?? SHORTEST_SECONDS
  );
}
