/**
 * Throttling from the kubelet's `/metrics/cadvisor`, in the text format of Prometheus: the Summary API does not
 * have it. Pure.
 * https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md
 */
import type { ObservedContainers, ThrottlingReading } from './pod-reading.ts';

const FIELDS = {
  container_cpu_cfs_periods_total: 'periods',
  container_cpu_cfs_throttled_periods_total: 'throttledPeriods',
  container_cpu_cfs_throttled_seconds_total: 'throttledSeconds',
} as const;

const LINE = /^(container_cpu_cfs_\w+)\{(.*)\} (\S+)(?: (\d+))?$/;

function labelsOf(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [, name = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
    labels.set(name, value);
  return labels;
}

interface Partial {
  container: string;
  stamp: string;
  periods?: number;
  throttledPeriods?: number;
  throttledSeconds?: number;
}

/** What the lines say of each container, by pod. */
function collect(text: string, namespace: string, containers: ObservedContainers): Map<string, Partial[]> {
  const found = new Map<string, Partial[]>();
  for (const line of text.split('\n')) {
    const [, metric = '', labelText = '', value, stamp = ''] = LINE.exec(line) ?? [];
    const field = FIELDS[metric as keyof typeof FIELDS];
    if (field === undefined || value === undefined) continue;
    const labels = labelsOf(labelText);
    const pod = labels.get('pod') ?? '';
    if (labels.get('namespace') !== namespace || !containers.has(pod)) continue;
    const container = labels.get('container') ?? '';
    const list = found.get(pod) ?? [];
    found.set(pod, list);
    let entry = list.find((item) => item.container === container);
    if (entry === undefined) {
      entry = { container, stamp };
      list.push(entry);
    }
    entry[field] = Number(value);
  }
  return found;
}

/**
 * Readings of these pods of `namespace`, by name: of the container that counts. A pod of one container has the reading
 * of this container where cAdvisor knows it, else of the whole pod: they have the same quota.
 */
export function parseThrottling(
  text: string,
  namespace: string,
  containers: ObservedContainers,
): Map<string, ThrottlingReading> {
  const readings = new Map<string, ThrottlingReading>();
  for (const [pod, list] of collect(text, namespace, containers)) {
    const wanted = containers.get(pod) ?? null;
    const entry =
      wanted === null
        ? (list.find(({ container }) => container !== '') ?? list[0])
        : list.find(({ container }) => container === wanted);
    if (entry?.periods === undefined || entry.throttledPeriods === undefined) continue;
    if (entry.throttledSeconds === undefined) continue;
    readings.set(pod, {
      stamp: entry.stamp,
      periods: entry.periods,
      throttledPeriods: entry.throttledPeriods,
      throttledSeconds: entry.throttledSeconds,
    });
  }
  return readings;
}
