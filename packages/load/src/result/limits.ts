/**
 * Whether the generator, not the server, decided the result. A generator that was the limit has measured itself,
 * and the reader must know. Pure.
 */
import type { LoadOptions } from '../options.ts';
import type { Tally } from './tally.ts';

/** A worker that was busy for this share of the time hardly ever waited for an answer. */
const BUSY_SHARE = 0.95;
/** Share of due queries that may stay unsent before the rate counts as missed. */
const UNSENT_SHARE = 0.01;
/** Open loop: 99 % of queries must be sent within this time of being due. */
const LATE_P99_NS = 1e6;
/** Share of queries that may have waited for a free id or connection. */
const HELD_SHARE = 0.001;
/** Share of the time that a worker may wait for a CPU, or stall, before that is the limit. */
const KEPT_SHARE = 0.05;

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function ms(ns: number): string {
  return `${(ns / 1e6).toPrecision(3)} ms`;
}

/** Why the generator was the limit, as sentences; empty if it was not. */
export function limitReasons({ total, workers }: Pick<Tally, 'total' | 'workers'>, load: LoadOptions): string[] {
  const { counts, lateness } = total;
  const openLoop = load.kind !== 'closed';
  const reasons: string[] = [];
  const due = counts.sent + counts.unsent;
  if (counts.unsent > UNSENT_SHARE * due) {
    reasons.push(
      `it could not keep up with the rate: ${percent(counts.unsent / due)} of the due queries never left`,
    );
  }
  if (openLoop && counts.held > HELD_SHARE * due) {
    reasons.push(
      `${counts.held} due queries had to wait for a free ID or connection: it needs more clients (-c)`,
    );
  }
  if (openLoop && lateness.percentile(99) > LATE_P99_NS) {
    reasons.push(`one query in a hundred left more than ${ms(lateness.percentile(99))} after it was due`);
  }
  if (counts.kernelDrops > 0) {
    reasons.push(
      `${counts.kernelDrops} answers were dropped at its own sockets because their buffers were full`,
    );
  }
  if (load.kind === 'closed' && load.maxRate === null) {
    for (const [index, { measurements }] of workers.entries()) {
      const { busyNs, idleNs } = measurements.times;
      const share = busyNs / Math.max(1, busyNs + idleNs);
      if (share >= BUSY_SHARE) {
        reasons.push(
          `worker ${index + 1} was busy ${percent(share)} of the time and hardly ever waited for an answer`,
        );
      }
    }
  }
  for (const [index, { summary }] of workers.entries()) {
    const waited = (summary.use?.waitedNs ?? 0) / Math.max(1, summary.sendingNs);
    if (waited > KEPT_SHARE) {
      reasons.push(
        `worker ${index + 1} waited for a CPU ${percent(waited)} of the time: other programs run on its core`,
      );
    }
  }
  return reasons;
}
