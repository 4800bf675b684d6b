/** A steady load, and an event in it: on this machine and on a cluster. */
import { z } from 'zod';
import type { DetailedInterval, LoadOutcome } from '../loaders/loader.ts';
import { bytes, count, seconds } from '../results/record-units.ts';
import { sum } from '../stats/intervals.ts';
import type { Clock } from '../world.ts';
import { clientLosses, clientLossesSchema, type DisturbedLoad } from './client-losses.ts';
import { anyWasTheLimit } from './limiting-factor.ts';
import { mergeLoads } from './merge-loads.ts';

/** How the load tells that it began, and each of its intervals. */
export interface LoadEvents {
  onStarted(): void;
  onRate(qps: number): void;
}

/** What an event that has begun may need: whether the load is over, where it may last longer. */
export interface Begun {
  readonly signal: AbortSignal;
  isOver(): boolean;
  /** Called just before what has an effect is sent, where something else comes first. The event begins then. */
  begins(): void;
}

export interface LoadWithEvent {
  readonly clock: Clock;
  readonly on: { phase(text: string): void; rate(qps: number): void };
  /** For people. */
  readonly event: string;
  /** From the first query to the event. */
  readonly afterSeconds: number;
  readonly signal: AbortSignal;
  load(events: LoadEvents): Promise<LoadOutcome[]>;
  /** Makes it happen; resolves at its end. */
  act(begun: Begun): Promise<unknown>;
}

/**
 * What is heard of an interval is heard after its end: so the load began no later than the earliest that any of them says. It
 * matters on a cluster, where logs take their time.
 */
export function loadStart(heardAt: readonly number[], timeline: readonly DetailedInterval[]): number | null {
  const starts = heardAt.slice(0, timeline.length).map((at, index) => at - (timeline[index]?.atSeconds ?? 0));
  return starts.length === 0 ? null : Math.min(...starts);
}

/** When the event began and ended is told since the first query; when that was sent, by the clock that was given. */
export async function loadWithEvent({
  clock,
  on,
  event,
  afterSeconds,
  load,
  act,
  signal: outer,
}: LoadWithEvent) {
  const now = () => clock.monotonicSeconds();
  const failed = new AbortController();
  const signal = AbortSignal.any([outer, failed.signal]);
  const started = Promise.withResolvers<number>();
  const heardAt: number[] = [];
  let isOver = false;
  const disrupting = started.promise.then(async () => {
    await clock.sleep(afterSeconds, signal);
    let begin = now();
    on.phase(event);
    const begins = () => {
      begin = now();
    };
    await act({ signal, isOver: () => isOver, begins });
    return { begin, end: now() };
  });
  // It is awaited below; until then its rejection must not count as unhandled.
  disrupting.catch(() => undefined);
  on.phase('measuring');
  try {
    const outcomes = await load({
      onStarted: () => started.resolve(now()),
      onRate(qps) {
        heardAt.push(now());
        on.rate(qps);
      },
    });
    isOver = true;
    const timeline = outcomes.flatMap((outcome) => outcome.timeline ?? []);
    const { begin, end } = await disrupting;
    const startSeconds = loadStart(heardAt, timeline) ?? (await started.promise);
    return {
      outcomes,
      // The load generator could not keep up.
      limited: anyWasTheLimit(outcomes) === true,
      // Infinite where one does not tell.
      lateSeconds: Math.max(...outcomes.map((outcome) => outcome.latestSeconds ?? Number.POSITIVE_INFINITY)),
      timeline,
      sockets: outcomes.flatMap((outcome) => outcome.sockets ?? []),
      event: { begin: begin - startSeconds, end: end - startSeconds },
      startSeconds,
    };
  } finally {
    failed.abort();
    started.reject(new Error('the load is over'));
    await disrupting.catch(() => undefined);
  }
}

/** In a record. */
export const eventLossesSchema = clientLossesSchema.extend({
  /** Good answers that were older than their TTL by more than a second; absent where that was not looked for. */
  stale: count.optional(),
  /**
   * Of the servers together before and after the load; and the sum of the peaks of their processes, before it or after it, whichever
   * is more. Null where it cannot be read.
   */
  memory: z.object({ before: bytes, after: bytes, peak: bytes }).nullable().optional(),
  /** Whether the load generator was late with one query in a hundred by more than a millisecond, or otherwise the limit. */
  limited: z.boolean().optional(),
  /** How late its latest query left; absent if one never left, or an answer was dropped at its own sockets. */
  lateSeconds: seconds.optional(),
});

export interface WatchedEvent
  extends LoadWithEvent,
    Pick<DisturbedLoad, 'expected' | 'durationSeconds' | 'timeoutSeconds'> {
  /** Resident memory of the servers together: now, and the sum of their peaks since each started; null where it cannot be read. */
  memoryNow(): Promise<{ readonly bytes: number; readonly peakBytes: number } | null>;
}

/** What clients lost meanwhile; and when the event began, by the clock that was given. */
export async function eventLosses({
  expected,
  durationSeconds,
  timeoutSeconds,
  memoryNow,
  ...event
}: WatchedEvent) {
  const before = await memoryNow();
  const {
    outcomes,
    limited,
    lateSeconds,
    startSeconds,
    event: fault,
    ...loaded
  } = await loadWithEvent(event);
  const after = await memoryNow();
  const load = mergeLoads(outcomes.map(({ result }) => result));
  const stale = outcomes.flatMap((outcome) => outcome.stale ?? []);
  return {
    losses: {
      ...clientLosses({ ...loaded, load, fault, expected, durationSeconds, timeoutSeconds }),
      limited,
      ...(Number.isFinite(lateSeconds) ? { lateSeconds } : {}),
      memory:
        before === null || after === null
          ? null
          : {
              ...{ before: before.bytes, after: after.bytes },
              // A process that is gone took its peak with it.
              peak: Math.max(before.peakBytes, after.peakBytes),
            },
      ...(stale.length === 0 ? {} : { stale: sum(stale) }),
    },
    beganSeconds: fault.begin + startSeconds,
  };
}
