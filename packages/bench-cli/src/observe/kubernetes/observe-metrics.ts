/**
 * Watches pods with the metrics API, where the kubelets may not be asked: means over windows of about ten to thirty
 * seconds. Only windows entirely within the load are used.
 */

import type { ObservationWindow } from '../../observe/window.ts';
import { once } from '../../process.ts';
import type { InstanceObservation, Observation, Sidecar } from '../../results/record.ts';
import { mean } from '../../stats/intervals.ts';
import type { Clock } from '../../world.ts';
import type { PodWindow } from './metrics-api.ts';
import type { PodPlace, PodSource } from './pod-source.ts';

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

/** Null from `end` if no whole window lay within the load: then the trial was too short for this source. */
export async function observeMetrics(options: ObserveMetricsOptions): Promise<ObservationWindow> {
  const { clock, source, pods, clockOffsetSeconds, signal } = options;
  const nowInCluster = () => clock.now().getTime() / 1000 + clockOffsetSeconds;
  let startedAt = nowInCluster();
  const seen: PodWindow[] = [];
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  const poll = async () => {
    seen.push(...(await source.windows().catch(() => [])));
  };
  const sampling = (async () => {
    for (;;) {
      await poll();
      const over = await clock.sleep(POLL_SECONDS, stopped).then(
        () => false,
        () => true,
      );
      if (over) return;
    }
  })();
  let instances: InstanceObservation[] | null = null;
  const finish = async (): Promise<Observation | null> => {
    const endedAt = nowInCluster();
    // The last window within the load is reported some time after it.
    while (nowInCluster() < endedAt + LATE_SECONDS) {
      const newest = Math.max(0, ...seen.map(({ endUnixSeconds }) => endUnixSeconds));
      if (newest > endedAt) break;
      await clock.sleep(POLL_SECONDS, signal);
    }
    stop.abort(new Error('the window is over'));
    await sampling;
    const durationSeconds = Math.max(0.001, endedAt - startedAt);
    const byPod = windowsWithin(seen, startedAt, endedAt);
    const parts = pods.map(({ name }) => byPod.get(name) ?? []);
    if (parts.some((windows) => windows.length === 0)) return null;
    const cores = parts.map((windows) => mean(windows.map(({ cpuCores }) => cpuCores)));
    const memory = parts.map((windows) => windows.map(({ memoryBytes }) => memoryBytes));
    const total = cores.reduce((a, b) => a + b, 0);
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
        mean: memory.reduce((sum, values) => sum + mean(values), 0),
        max: memory.reduce((sum, values) => sum + Math.max(...values), 0),
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
      cpuCores: windows.reduce((sum, { cpuCores }) => sum + cpuCores, 0),
      memoryBytes: windows.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
    };
  });
}
