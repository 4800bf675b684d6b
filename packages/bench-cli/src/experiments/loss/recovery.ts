/** What a load that falls from overload to half of the limit shows: how long the server goes on losing queries. Pure. */
import { type LoadInterval, SHORTEST_INTERVAL_SECONDS } from '../../loaders/loader.ts';
import { sum } from '../../stats/intervals.ts';
import type { Recovery } from './evidence.ts';

/** Queries are lost for longer than this after the overload only if the server has not recovered. */
const MAX_LOST_RATIO = 0.01;

/** The last queries of the overload may be given up this much later than at its end. */
const SLACK_SECONDS = 0.05;

/** A load generator that sent less than this share of a rate could not keep up with it. */
export const MIN_SENT_RATIO = 0.98;

export interface RecoveryLoad {
  /** Of the overload, and what followed. */
  readonly overloadSeconds: number;
  readonly overloadRate: number;
  readonly afterSeconds: number;
  readonly afterRate: number;
  readonly timeoutSeconds: number;
}

/** A report that is late by less belongs to the interval before. */
const JITTER_SECONDS = SHORTEST_INTERVAL_SECONDS / 2;

/**
 * The intervals of several load generators as those of one: the sums of those that ended together. Not of the n-th ones: that of a stall
 * takes the place of two.
 */
export function mergeTimelines(all: readonly (readonly LoadInterval[])[]): LoadInterval[] {
  const together = Map.groupBy(all.flat(), ({ atSeconds }) =>
    Math.round(atSeconds / SHORTEST_INTERVAL_SECONDS),
  );
  return [...together]
    .toSorted(([a], [b]) => a - b)
    .map(([number, parts]) => ({
      atSeconds: number * SHORTEST_INTERVAL_SECONDS,
      sent: sum(parts.map(({ sent }) => sent)),
      answered: sum(parts.map(({ answered }) => answered)),
      lost: sum(parts.map(({ lost }) => lost)),
    }));
}

/** Queries that were sent at `from` to `to` and lost: they are given up a time-out later. */
function lostOf(timeline: readonly LoadInterval[], from: number, to: number, timeoutSeconds: number): number {
  const inside = timeline.filter(({ atSeconds }) => {
    const sentAt = atSeconds - timeoutSeconds;
    return sentAt > from + JITTER_SECONDS && sentAt <= to + JITTER_SECONDS;
  });
  return sum(inside.map(({ lost }) => lost));
}

/** Null where the load generator could not send the overload in time: what it sent afterwards was late, too. */
export function recoveryOf(timeline: readonly LoadInterval[], load: RecoveryLoad): Recovery | null {
  const { overloadSeconds, overloadRate, afterSeconds, afterRate, timeoutSeconds } = load;
  const inTime = timeline.filter(({ atSeconds }) => atSeconds <= overloadSeconds + JITTER_SECONDS);
  if (sum(inTime.map(({ sent }) => sent)) < overloadRate * overloadSeconds * MIN_SENT_RATIO) return null;
  const begin = overloadSeconds + SLACK_SECONDS;
  const inSecond = lostOf(timeline, begin, begin + 1, timeoutSeconds);
  const late = timeline.flatMap((interval, index) => {
    const sentAt = interval.atSeconds - timeoutSeconds;
    if (sentAt <= begin + JITTER_SECONDS || sentAt > overloadSeconds + afterSeconds) return [];
    const seconds = interval.atSeconds - (timeline[index - 1]?.atSeconds ?? 0);
    return interval.lost > afterRate * seconds * MAX_LOST_RATIO ? [sentAt - overloadSeconds] : [];
  });
  const last = late.at(-1) ?? 0;
  return {
    rate: afterRate,
    lostRatioInFirstSecond: Math.min(1, inSecond / afterRate),
    seconds: last >= afterSeconds - 2 * SLACK_SECONDS ? null : last,
  };
}
