/**
 * The kubelet's Summary API, `/api/v1/nodes/NODE/proxy/stats/summary`. Pure.
 *
 * Its CPU figures are counters. With containerd and CRI-O, the kubelet usually reads them every ten to fifteen
 * seconds (cAdvisor) and gives the time of the reading; on some nodes it asks the runtime for each request. Either
 * way, two readings give the exact CPU time between them.
 */
import { z } from 'zod';
import type { ObservedContainers, PodReading } from './pod-reading.ts';

const cpu = z.object({ time: z.string(), usageCoreNanoSeconds: z.number().optional() }).optional();
const memory = z.object({ workingSetBytes: z.number().optional() }).optional();

const summarySchema = z.object({
  pods: z
    .array(
      z.object({
        podRef: z.object({ name: z.string(), namespace: z.string() }),
        containers: z.array(z.object({ name: z.string(), cpu, memory })).nullish(),
        cpu,
        memory,
        process_stats: z.object({ process_count: z.number().optional() }).optional(),
      }),
    )
    .nullish(),
});

const NANO = 1e9;

type PodStats = NonNullable<z.output<typeof summarySchema>['pods']>[number];

interface Usage {
  readonly name: string;
  readonly stamp: string;
  readonly cpuSeconds: number;
  readonly memoryBytes: number | null;
}

/** Containers that have just been started have no figures yet. */
function usageOf(part: Pick<PodStats, 'cpu' | 'memory'>, name: string): Usage[] {
  if (part.cpu?.usageCoreNanoSeconds === undefined) return [];
  const { usageCoreNanoSeconds, time } = part.cpu;
  const memoryBytes = part.memory?.workingSetBytes ?? null;
  return [{ name, stamp: time, cpuSeconds: usageCoreNanoSeconds / NANO, memoryBytes }];
}

function readingOf(pod: PodStats, container: string | null): PodReading[] {
  const all = (pod.containers ?? []).flatMap((part) => usageOf(part, part.name));
  // The pod's own figures include its sandbox and are read at another time.
  const counted = container === null && all.length === 0 ? usageOf(pod, '') : all;
  const main = container === null ? counted[0] : counted.find(({ name }) => name === container);
  if (main === undefined) return [];
  const sidecars = all.filter((usage) => usage !== main);
  return [
    {
      cpu: { stamp: main.stamp, cpuSeconds: main.cpuSeconds },
      memoryBytes: main.memoryBytes,
      processes: sidecars.length === 0 ? (pod.process_stats?.process_count ?? null) : null,
      sidecars: new Map(
        sidecars.map(({ name, cpuSeconds, memoryBytes }) => [name, { cpuSeconds, memoryBytes }]),
      ),
    },
  ];
}

/**
 * Readings of these pods of `namespace`, by name. A pod whose container has no CPU figures (just started) is omitted.
 * @throws Error if it is not a summary.
 */
export function parseSummary(
  text: string,
  namespace: string,
  containers: ObservedContainers,
): Map<string, PodReading> {
  const { pods } = summarySchema.parse(JSON.parse(text));
  const readings = new Map<string, PodReading>();
  for (const pod of pods ?? []) {
    const container = containers.get(pod.podRef.name);
    if (pod.podRef.namespace !== namespace || container === undefined) continue;
    for (const reading of readingOf(pod, container)) readings.set(pod.podRef.name, reading);
  }
  return readings;
}
