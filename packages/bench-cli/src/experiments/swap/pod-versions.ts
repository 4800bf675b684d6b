/** Which version each pod of the DNS runs: not the image that it should run, but what runs. */
import type { V1Pod } from '@kubernetes/client-node';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import type { DnsWorkload } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import type { PodVersion } from './evidence.ts';

const METRICS_PORT = 9153;

/** `coredns_build_info{goversion="go1.25.2",revision="…",version="1.13.1"} 1` → `1.13.1`. */
export function versionInMetrics(text: string): string | null {
  return /^coredns_build_info\{[^}]*\bversion="([^"]+)"/m.exec(text)?.[1] ?? null;
}

/** Null where metrics are off, behind a proxy, or may not be read. */
async function askMetrics(client: KubeClient, pod: V1Pod, signal: AbortSignal): Promise<string | null> {
  const { name, namespace } = pod.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/pods/${name}:${METRICS_PORT}/proxy/metrics`;
  try {
    return versionInMetrics(await client.text(path, 'get pods/proxy', signal));
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

function declaresMetrics(pod: V1Pod, container: string): boolean {
  const ports = pod.spec?.containers.find(({ name }) => name === container)?.ports ?? [];
  return ports.some(({ containerPort }) => containerPort === METRICS_PORT);
}

/** @param known Versions by image ID, from pods that were asked before. */
export async function podVersions(
  client: KubeClient,
  workload: DnsWorkload,
  pods: readonly V1Pod[],
  known: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<PodVersion[]> {
  const versions = pods.map(async (pod): Promise<PodVersion> => {
    const status = pod.status?.containerStatuses?.find(({ name }) => name === workload.container);
    const imageId = status?.imageID ?? '';
    const told = declaresMetrics(pod, workload.container) ? await askMetrics(client, pod, signal) : null;
    const version = told ?? known.get(imageId) ?? null;
    return {
      pod: pod.metadata?.name ?? '',
      node: pod.spec?.nodeName ?? '',
      image: status?.image ?? '',
      imageId,
      version,
      source: told !== null ? 'metrics' : version === null ? null : 'image',
      restarts: status?.restartCount ?? 0,
      startedAt: String(status?.state?.running?.startedAt ?? ''),
    };
  });
  return Promise.all(versions);
}
