/**
 * The kubelet's Summary API, `/api/v1/nodes/NODE/proxy/stats/summary`. Pure.
 *
 * Its CPU figures are counters. With containerd and CRI-O, the kubelet usually reads them every ten to fifteen
 * seconds (cAdvisor) and gives the time of the reading; on some nodes it asks the runtime for each request. Either
 * way, two readings give the exact CPU time between them.
 */
import { z } from 'zod';
import type { PodReading } from './pod-reading.ts';

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

/**
 * Readings of the pods of `namespace`, by name. A pod without CPU figures (just started) is omitted. They are the
 * container's figures, because the pod's include its sandbox and are read at another time.
 * @throws Error if it is not a summary.
 */
export function parseSummary(text: string, namespace: string): Map<string, PodReading> {
  const { pods } = summarySchema.parse(JSON.parse(text));
  const readings = new Map<string, PodReading>();
  for (const pod of pods ?? []) {
    if (pod.podRef.namespace !== namespace) continue;
    const containers = (pod.containers ?? []).filter((item) => item.cpu?.usageCoreNanoSeconds !== undefined);
    const parts = containers.length > 0 ? containers : [pod];
    let cpuNanoSeconds = 0;
    let bytes = 0;
    let hasMemory = true;
    const stamps: string[] = [];
    for (const part of parts) {
      if (part.cpu?.usageCoreNanoSeconds === undefined) continue;
      cpuNanoSeconds += part.cpu.usageCoreNanoSeconds;
      stamps.push(part.cpu.time);
      if (part.memory?.workingSetBytes === undefined) hasMemory = false;
      else bytes += part.memory.workingSetBytes;
    }
    if (stamps.length === 0) continue;
    readings.set(pod.podRef.name, {
      cpu: { stamp: stamps.join(' '), cpuSeconds: cpuNanoSeconds / NANO },
      memoryBytes: hasMemory ? bytes : null,
      processes: pod.process_stats?.process_count ?? null,
    });
  }
  return readings;
}
