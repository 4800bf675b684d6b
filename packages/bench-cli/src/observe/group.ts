/** What an observer reads of a group of processes. */
import type { Observation } from '../results/record.ts';

/** CFS throttling over a window, or since the start. */
export type Throttling = NonNullable<Observation['throttling']>;

/** Of all together; null unless it is known of each, and for none. */
export function addThrottling(parts: readonly (Throttling | null)[]): Throttling | null {
  const [first, ...others] = parts;
  if (first == null) return null;
  return others.reduce<Throttling | null>(
    (total, part) =>
      total === null || part === null
        ? null
        : {
            periods: total.periods + part.periods,
            throttledPeriods: total.throttledPeriods + part.throttledPeriods,
            throttledSeconds: total.throttledSeconds + part.throttledSeconds,
          },
    first,
  );
}

/** What happened between two readings; without the first, since the start. */
export function throttlingBetween(from: Throttling | undefined, to: Throttling): Throttling {
  return {
    periods: Math.max(0, to.periods - (from?.periods ?? 0)),
    throttledPeriods: Math.max(0, to.throttledPeriods - (from?.throttledPeriods ?? 0)),
    throttledSeconds: Math.max(0, to.throttledSeconds - (from?.throttledSeconds ?? 0)),
  };
}

/** Counters since the group was made. */
export interface GroupCounters {
  readonly cpuSource: 'cgroup-v1' | 'cgroup-v2' | 'proc';
  readonly cpuSeconds: number;
  readonly throttling: Throttling | null;
}

export interface ObservedGroup {
  counters(): Promise<GroupCounters>;
  /** Ids of the processes that are in the group now, descendants included. */
  pids(): Promise<readonly number[]>;
}
