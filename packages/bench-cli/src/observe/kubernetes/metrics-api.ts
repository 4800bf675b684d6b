/**
 * The metrics API, `metrics.k8s.io`: what metrics-server collected from the kubelets. It has no counters, only the
 * mean use over a window of about ten to thirty seconds, and it lags by as much. Pure.
 */
import { z } from 'zod';
import { parseQuantity } from '../../quantity.ts';

const podMetricsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      timestamp: z.string(),
      window: z.string(),
      containers: z.array(z.object({ usage: z.object({ cpu: z.string(), memory: z.string() }) })),
    }),
  ),
});

export interface PodWindow {
  readonly pod: string;
  /** End of the window, in seconds since 1970, by the cluster's clock. */
  readonly endUnixSeconds: number;
  readonly seconds: number;
  readonly cpuCores: number;
  readonly memoryBytes: number;
}

const UNITS: Readonly<Record<string, number>> = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  ns: 1e-9,
};

/** `1m0.5s` → 60.5: a duration as Go prints it; null for anything else. */
export function parseGoDuration(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/.test(text)) return null;
  let seconds = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g)) {
    seconds += Number(amount) * (UNITS[unit] ?? 0);
  }
  return seconds;
}

/** The windows of all pods in the response, without invalid ones. Throws if it is not such a response. */
export function parsePodMetrics(text: string): PodWindow[] {
  return podMetricsSchema.parse(JSON.parse(text)).items.flatMap((item) => {
    const seconds = parseGoDuration(item.window);
    const cpu = item.containers.map(({ usage }) => parseQuantity(usage.cpu));
    const memory = item.containers.map(({ usage }) => parseQuantity(usage.memory));
    const end = Date.parse(item.timestamp) / 1000;
    if (seconds === null || !Number.isFinite(end) || cpu.includes(null) || memory.includes(null)) return [];
    const sum = (values: readonly (number | null)[]) => values.reduce((a: number, b) => a + (b ?? 0), 0);
    return [
      { pod: item.metadata.name, endUnixSeconds: end, seconds, cpuCores: sum(cpu), memoryBytes: sum(memory) },
    ];
  });
}
