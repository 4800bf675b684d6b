/**
 * Watches pods with the metrics API, where the kubelets may not be asked: means over windows of about ten to thirty
 * seconds. Only windows entirely within the load are used.
 */

import { BenchError } from '../../errors.ts';
import { once } from '../../process.ts';
import type { InstanceObservation, Observation, Sidecar } from '../../results/record.ts';
import { mean, sum } from '../../stats/intervals.ts';
import type { Clock } from '../../world.ts';
import { type ObservationWindow, sampleEvery } from '../window.ts';
import type { PodWindow } from './metrics-api.ts';
import { nodesOf, type PodPlace, type PodSource } from './pod-source.ts';

export interface ObserveMetricsOptions {
  readonly clock: Clock;
  readonly source: Pick<PodSource, 'windows'>;
  readonly pods: readonly PodPlace[];
  /** The cluster's clock minus ours. */
  readonly clockOffsetSeconds: number;
  readonly signal: AbortSignal;
}

const POLL_SECONDS = 4;
/** metrics-server reports a window up to this long after its end. */
const LATE_SECONDS = 35;
/** Timestamps are in whole seconds, and clocks differ. */
const SLACK_SECONDS = 1.5;
/** How far the cluster's clock is from ours is known to a second, or to half of a slow request. */
const AHEAD_SECONDS = 3;

/** The windows of each pod that lie within [begin, end], in seconds since 1970. */
export function windowsWithin(
  windows: readonly PodWindow[],
  begin: number,
  end: number,
): Map<string, PodWindow[]> {
  const byPod = new Map<string, PodWindow[]>();
  for (const window of windows) {
    const inside =
      window.endUnixSeconds - window.seconds >= begin - SLACK_SECONDS &&
      window.endUnixSeconds <= end + SLACK_SECONDS;
    const list = byPod.get(window.pod) ?? [];
    if (!inside || list.some(({ endUnixSeconds }) => endUnixSeconds === window.endUnixSeconds)) continue;
    byPod.set(window.pod, [...list, window]);
  }
  return byPod;
}

/** As metrics-server's manifest sets it. */
const USUAL_WINDOW_SECONDS = 15;

/** A load as long as this holds a whole window, however the two lie. */
const secondsNeeded = (windows: readonly PodWindow[]) =>
  2 * Math.max(USUAL_WINDOW_SECONDS, ...windows.map(({ seconds }) => seconds));

/** Without the figures of one pod, the sum of the others would be too small: there is none. */
function silent(pods: readonly PodPlace[]): BenchError {
  return new BenchError(
    'E_NO_FIGURES',
    `the metrics API has no window within the load of pod ${pods.map(({ name }) => name).join(', ')} on node ${nodesOf(pods).join(', ')}, so CPU and memory of the server are not known`,
    {
      fix: 'Check that the node is healthy, and that its clock is that of the API server. Repeat the trial with --resume, or measure without CPU and memory: --observe none.',
    },
  );
}

/** Which windows lie within the load, only clocks that agree can tell. */
function ahead(pods: readonly PodPlace[], seconds: number): BenchError {
  return new BenchError(
    'E_NO_FIGURES',
    `the clock of node ${nodesOf(pods).join(', ')} is at least ${seconds.toFixed(0)} seconds ahead of that of the API server, so it is not known which windows of the metrics API lie within the load`,
    {
      fix: 'Set the clock of the node (NTP). Repeat the trial with --resume, or measure without CPU and memory: --observe none.',
    },
  );
}

/**
 * Null from `end` if the load was too short to hold a window of each pod for certain, and did not. `end` rejects with `E_NO_FIGURES` if
 * a longer one has none, or if windows end in the future: then the clock of the node is not that of the API server.
 */
export async function observeMetrics(options: ObserveMetricsOptions): Promise<ObservationWindow> {
  const { clock, source, pods, clockOffsetSeconds, signal } = options;
  const nowInCluster = () => clock.now().getTime() / 1000 + clockOffsetSeconds;
  let startedAt = nowInCluster();
  const seen: PodWindow[] = [];
  /** By pod: how many seconds in the future a window ended. */
  const early = new Map<string, number>();
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const poll = async () => {
    const windows = await source.windows().catch(() => []);
    const now = nowInCluster();
    for (const { pod, endUnixSeconds } of windows)
      if (endUnixSeconds > now + AHEAD_SECONDS)
        early.set(pod, Math.max(early.get(pod) ?? 0, endUnixSeconds - now));
    seen.push(...windows);
  };
  const sampling = poll().then(() => sampleEvery(clock, POLL_SECONDS, stopped, poll));
  let instances: InstanceObservation[] | null = null;
  const finish = async (): Promise<Observation | null> => {
    const endedAt = nowInCluster();
    // The last window within the load is reported some time after it.
    while (nowInCluster() < endedAt + LATE_SECONDS) {
      const isReported = ({ name }: PodPlace) =>
        seen.some(({ pod, endUnixSeconds }) => pod === name && endUnixSeconds > endedAt);
      if (pods.every(isReported)) break;
      await clock.sleep(POLL_SECONDS, signal);
    }
    stop.abort(new Error('the window is over'));
    await sampling;
    if (early.size > 0)
      throw ahead(
        pods.filter(({ name }) => early.has(name)),
        Math.max(...early.values()),
      );
    const durationSeconds = Math.max(0.001, endedAt - startedAt);
    const byPod = windowsWithin(seen, startedAt, endedAt);
    const parts = pods.map(({ name }) => byPod.get(name) ?? []);
    const missing = pods.filter(({ name }) => !byPod.has(name));
    if (missing.length > 0 && durationSeconds < secondsNeeded(seen)) return null;
    if (missing.length > 0) throw silent(missing);
    const cores = parts.map((windows) => mean(windows.map(({ cpuCores }) => cpuCores)));
    const memory = parts.map((windows) => windows.map(({ memoryBytes }) => memoryBytes));
    const total = sum(cores);
    instances = pods.map(({ name, node }, index) => ({
      name,
      node,
      queries: null,
      cpuSeconds: null,
      cpuCores: cores[index] ?? null,
      memoryBytes: mean(memory[index] ?? []),
      throttledSeconds: null,
      sidecars: sidecarsOf(parts[index] ?? []),
    }));
    return {
      cpuSource: 'metrics-api',
      durationSeconds,
      cpuSeconds: total * durationSeconds,
      cpuCores: total,
      memoryBytes: {
        mean: sum(memory.map(mean)),
        max: sum(memory.map((values) => Math.max(...values))),
        source: 'working-set',
      },
      throttling: null,
      processes: pods.length,
      sampleIntervalSeconds: mean(parts.flat().map(({ seconds }) => seconds)),
      samples: samplesOf(parts, startedAt),
    };
  };
  return {
    started: () => {
      startedAt = nowInCluster();
    },
    end: once(finish),
    instances: () => instances,
  };
}

/** Means over the windows of a pod that have the sidecar. */
function sidecarsOf(windows: readonly PodWindow[]): Sidecar[] {
  const uses = windows.flatMap(({ sidecars }) => sidecars);
  return [...Map.groupBy(uses, ({ name }) => name)].map(([name, all]) => ({
    name,
    cpuCores: mean(all.map(({ cpuCores }) => cpuCores)),
    memoryBytes: mean(all.map(({ memoryBytes }) => memoryBytes)),
  }));
}

/** One sample for each window that all pods have. */
function samplesOf(parts: readonly (readonly PodWindow[])[], startedAt: number): Observation['samples'] {
  const shortest = Math.min(...parts.map((windows) => windows.length));
  return Array.from({ length: shortest }, (_, index) => {
    const windows = parts.flatMap((list) => list[index] ?? []);
    return {
      atSeconds: Math.max(0, mean(windows.map(({ endUnixSeconds }) => endUnixSeconds)) - startedAt),
      cpuCores: sum(windows.map(({ cpuCores }) => cpuCores)),
      memoryBytes: sum(windows.map(({ memoryBytes }) => memoryBytes)),
    };
  });
}
