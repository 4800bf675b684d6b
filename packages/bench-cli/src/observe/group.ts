/** What an observer reads of a group of processes. */

/** Counters since the group was made. */
export interface GroupCounters {
  readonly cpuSource: 'cgroup-v1' | 'cgroup-v2' | 'proc';
  readonly cpuSeconds: number;
  readonly throttling: {
    readonly periods: number;
    readonly throttledPeriods: number;
    readonly throttledSeconds: number;
  } | null;
}

export interface ObservedGroup {
  counters(): Promise<GroupCounters>;
  /** Ids of the processes that are in the group now, descendants included. */
  pids(): Promise<readonly number[]>;
}
