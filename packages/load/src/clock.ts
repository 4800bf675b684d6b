/**
 * The engine's only clock: CLOCK_MONOTONIC in nanoseconds, as a double.
 *
 * `performance.now()` costs 41 ns, `process.hrtime.bigint()` 77 ns plus a BigInt; both read the same clock.
 * A double holds these nanoseconds exactly for 104 days of uptime of the thread.
 */

/** Nanoseconds since this thread started. Comparable only within one thread. */
export function nowNs(): number {
  return performance.now() * 1e6;
}

/**
 * Subtract this from `process.hrtime.bigint()`, which all threads share, to get this thread's `nowNs`. Takes the
 * narrowest of several readings, so a thread interrupted between reading the two clocks does not start early.
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
