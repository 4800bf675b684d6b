/** What a run makes on a cluster, and how the cluster's own DNS takes it, as records have it. */
import { z } from 'zod';
import { formatBytes } from '../../../report/numbers.ts';
import { bytes, count, seconds } from '../../../results/record-units.ts';
import { counted } from '../../../text.ts';

/** What was created, and how fast. */
export const createdSchema = z.object({
  /** Pods only where the configuration reads them. */
  counts: z.object({ services: count, endpointSlices: count, endpoints: count, pods: count }),
  creation: z.object({
    created: count,
    seconds,
    /** The 99th percentile of the last hundred requests; the largest seen. */
    worstP99Seconds: seconds,
  }),
});
export type Created = z.output<typeof createdSchema>;

/** What is known of the cluster's DNS, which reads the objects as well, at one moment. Null where the kubelet may not be asked. */
export const dnsStateSchema = z.object({
  pods: count,
  restarts: count,
  /** Working set of the largest. */
  memoryBytes: bytes.nullable(),
  /** The smallest. */
  memoryLimitBytes: bytes.nullable(),
});
export type ClusterDnsState = z.output<typeof dnsStateSchema>;

/** How the container of CoreDNS ended, as the kubelet says. */
export const containerEndSchema = z.object({
  pod: z.string(),
  /** `Completed`, `OOMKilled`, `Error`. */
  reason: z.string(),
  exitCode: z.number().int(),
  restarts: count,
});
export type ContainerEnd = z.output<typeof containerEndSchema>;

/** Before and after the creation of objects; null where there is no DNS that bench knows. */
export const clusterDnsChangeSchema = z.object({ before: dnsStateSchema, after: dnsStateSchema }).nullable();
export type ClusterDnsChange = z.output<typeof clusterDnsChangeSchema>;

/** What became of the cluster's own DNS: `20.1 MiB → 22.4 MiB, 0 restarts`. */
export function dnsText(change: ClusterDnsChange): string {
  if (change === null) return 'not known';
  const { before, after } = change;
  const show = (bytes: number | null) => (bytes === null ? '–' : formatBytes(bytes));
  const restarts = counted(after.restarts - before.restarts, 'restart');
  return `${show(before.memoryBytes)} → ${show(after.memoryBytes)}, ${restarts}`;
}
