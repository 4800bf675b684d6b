/**
 * The metrics API, `metrics.k8s.io`: what metrics-server collected from the kubelets. It has no counters, only the
 * mean use over a window of about ten to thirty seconds, and it lags by as much. Pure.
 */
import { z } from 'zod';
import { parseQuantity } from '../../quantity.ts';
import type { ObservedContainers } from './pod-reading.ts';

const podMetricsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      timestamp: z.string(),
      window: z.string(),
      containers: z.array(
        z.object({ name: z.string(), usage: z.object({ cpu: z.string(), memory: z.string() }) }),
      ),
    }),
  ),
});

export interface ContainerUse {
  readonly name: string;
  readonly cpuCores: number;
  readonly memoryBytes: number;
}

export interface PodWindow {
  readonly pod: string;
  /** End of the window, in seconds since 1970, by the cluster's clock. */
  readonly endUnixSeconds: number;
  readonly seconds: number;
  /** Of the container that counts. */
  readonly cpuCores: number;
  readonly memoryBytes: number;
  readonly sidecars: readonly ContainerUse[];
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

type PodMetrics = z.output<typeof podMetricsSchema>['items'][number];

/** Null if a figure is not a quantity. */
function usesOf({ containers }: PodMetrics): ContainerUse[] | null {
  const uses = containers.flatMap(({ name, usage }) => {
    const cpuCores = parseQuantity(usage.cpu);
    const memoryBytes = parseQuantity(usage.memory);
    return cpuCores === null || memoryBytes === null ? [] : [{ name, cpuCores, memoryBytes }];
  });
  return uses.length === containers.length ? uses : null;
}

function windowOf(item: PodMetrics, container: string | null): PodWindow[] {
  const seconds = parseGoDuration(item.window);
  const endUnixSeconds = Date.parse(item.timestamp) / 1000;
  const uses = usesOf(item);
  const main = container === null ? uses?.[0] : uses?.find(({ name }) => name === container);
  if (seconds === null || !Number.isFinite(endUnixSeconds) || uses === null || main === undefined) return [];
  const { cpuCores, memoryBytes } = main;
  const sidecars = uses.filter((use) => use !== main);
  return [{ pod: item.metadata.name, endUnixSeconds, seconds, cpuCores, memoryBytes, sidecars }];
}

/** The windows of these pods in the response, without invalid ones. Throws if it is not such a response. */
export function parsePodMetrics(text: string, containers: ObservedContainers): PodWindow[] {
  return podMetricsSchema.parse(JSON.parse(text)).items.flatMap((item) => {
    const container = containers.get(item.metadata.name);
    return container === undefined ? [] : windowOf(item, container);
  });
}
