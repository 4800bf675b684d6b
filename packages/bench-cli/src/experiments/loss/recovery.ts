/** What a load that falls from overload to half of the limit shows: how long the server goes on losing queries. Pure. */
import type { LoadInterval } from '../../loaders/loader.ts';
import type { Recovery } from './evidence.ts';

/** Queries are lost for longer than this after the overload only if the server has not recovered. */
const MAX_LOST_RATIO = 0.01;

/** The last queries of the overload may be given up this much later than at its end. */
const SLACK_SECONDS = 0.05;

/** The load generator sent at least this share of the overload, or what came after it was its backlog. */
const MIN_SENT_RATIO = 0.98;

export interface RecoveryLoad {
  /** Of the overload, and what followed. */
  readonly overloadSeconds: number;
  readonly overloadRate: number;
  readonly afterSeconds: number;
  readonly afterRate: number;
  readonly timeoutSeconds: number;
}

/** The load generator reports every 0.05 s, up to some milliseconds late. */
const JITTER_SECONDS = 0.025;

/** Queries that were sent at `from` to `to` and lost: they are given up a time-out later. */
function lostOf(timeline: readonly LoadInterval[], from: number, to: number, timeoutSeconds: number): number {
  const inside = timeline.filter(({ atSeconds }) => {
    const sentAt = atSeconds - timeoutSeconds;
    return sentAt > from + JITTER_SECONDS && sentAt <= to + JITTER_SECONDS;
  });
  return inside.reduce((sum, { lost }) => sum + lost, 0);
}

/** Null where the load generator could not send the overload in time: what it sent afterwards was late, too. */
export function recoveryOf(timeline: readonly LoadInterval[], load: RecoveryLoad): Recovery | null {
  const { overloadSeconds, overloadRate, afterSeconds, afterRate, timeoutSeconds } = load;
  const sent = timeline
    .filter(({ atSeconds }) => atSeconds <= overloadSeconds + JITTER_SECONDS)
    .reduce((sum, interval) => sum + interval.sent, 0);
  if (sent < overloadRate * overloadSeconds * MIN_SENT_RATIO) return null;
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
