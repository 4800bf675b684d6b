/**
 * What a reader must know before believing the numbers; above all whether the generator, not the server, decided the result:
 * it has measured itself then. Pure.
 */
import { dueIn } from '../engine/measurements.ts';
import type { LoadOptions } from '../options.ts';
import { many } from '../report/numbers.ts';
import type { CannonResult } from './result.ts';
import type { Tally } from './tally.ts';

export function warningsOf({
  counts,
  generator,
  options,
  latencySeconds,
  problems,
}: Omit<CannonResult, 'warnings'>): string[] {
  const warnings: string[] = [];
  const warn = (when: boolean, text: string) => {
    if (when) warnings.push(text);
  };
  warn(generator.wasTheLimit, `The generator was the limit: ${generator.reasons.join('; ')}.`);
  warn(
    counts.echoed > 0,
    `${many(counts.echoed, 'answer')} had no QR bit: the server echoes queries and does not answer them.`,
  );
  warn(
    counts.mismatched > 0,
    `${many(counts.mismatched, 'response')} had an ID or question that was not sent.`,
  );
  warn(counts.malformed > 0, `${many(counts.malformed, 'response')} could not be read as DNS.`);
  for (const [reason, count] of Object.entries(problems))
    warn(true, `${count.toLocaleString('en')} × ${reason}.`);
  warn(counts.cut > 0, `${many(counts.cut, 'answer')} were longer than announced and were truncated.`);
  warn(
    counts.truncated > 0 && !options.tcpFallback && options.transport === 'udp',
    `${many(counts.truncated, 'answer')} were truncated (TC=1) and not retried over TCP (--tcp-fallback).`,
  );
  const wrong = counts.wrongCode + counts.wrongAddress + counts.unreadable;
  warn(wrong > 0, `${many(wrong, 'answer')} were not as expected (--expect).`);
  warn(
    counts.refused > 0,
    `${many(counts.refused, 'refusal')} came from the server's machine: nothing listens on that port, at least some of the time.`,
  );
  warn(counts.sendErrors > 0, `The system refused to send ${many(counts.sendErrors, 'datagram')}.`);
  warn(
    generator.backend === 'dgram',
    `Datagrams were moved one at a time: ${generator.backendReason ?? 'batched system calls are not available'}.`,
  );
  warn(
    latencySeconds !== null && options.transport === 'udp' && !generator.kernelTimestamps,
    'Answers were timestamped when they were read, not when they arrived: latency includes their wait in the socket.',
  );
  return warnings;
}

/** A worker that was busy for this share of the time hardly ever waited for an answer. */
const BUSY_SHARE = 0.95;
/** Share of due queries, or lookups, that may stay unsent before the rate counts as missed. */
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
export function limitReasons(
  { total, workers }: Pick<Tally, 'total' | 'workers'>,
  load: LoadOptions,
): string[] {
  const { counts, lateness } = total;
  const openLoop = load.kind !== 'closed';
  const reasons: string[] = [];
  const due = dueIn(counts);
  if (counts.unsent > UNSENT_SHARE * due) {
    const what = counts.lookups > 0 ? 'lookups' : 'queries';
    reasons.push(
      `it could not keep up with the rate: ${percent(counts.unsent / due)} of the due ${what} never left`,
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
