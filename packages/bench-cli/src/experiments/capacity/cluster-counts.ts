/** Counts of a cluster and the resources of its DNS, with read rights only. Changes nothing. */
import { z } from 'zod';
import { orNull } from '../../errors.ts';
import { createClient, type KubeClient } from '../../kubernetes-api/client.ts';
import { connect } from '../../kubernetes-api/connect.ts';
import { KINDS, type Kind, pathOf } from '../../kubernetes-api/kinds.ts';
import { memoryLimitsOf } from '../../targets/kubernetes/dns-container.ts';
import { type FoundService, findClusterDns } from '../../targets/kubernetes/existing-service.ts';
import type { World } from '../../world.ts';
import type { Size } from './memory-basis.ts';

/** What a cluster says of itself; what is not known is null. */
export interface ClusterCounts {
  /** Address of its API server. */
  readonly server: string;
  /** `counted: cluster NAME`. */
  readonly source: string;
  readonly pods: number;
  readonly services: number;
  /** Null where EndpointSlices may not be read. */
  readonly endpoints: number | null;
  readonly nodes: number;
  readonly replicas: number | null;
  readonly memoryLimitBytes: number | null;
  /** Null where the Corefile cannot be read. */
  readonly autopath: boolean | null;
  /** Whether CoreDNS keeps every pod in memory (`pods verified`), which autopath needs. */
  readonly watchesPods: boolean | null;
}

/** All requests together; each is retried while the API server is away. */
const LIMIT_SECONDS = 60;

const pageSchema = z.object({
  metadata: z.object({
    remainingItemCount: z.number().int().nonnegative().optional(),
    continue: z.string().default(''),
  }),
  items: z.array(z.unknown()).nullable().default([]),
});

/** As kubectl reads lists. */
const PAGE_ITEMS = 500;

/** The pages of a list, and how many items come after each; null where the API server does not say. */
async function* pagesOf(client: KubeClient, kind: Kind, signal: AbortSignal) {
  let next = '';
  do {
    const from = next === '' ? '' : `&continue=${encodeURIComponent(next)}`;
    const path = `${pathOf(kind)}?limit=${PAGE_ITEMS}${from}`;
    const text = await client.text(path, `list ${KINDS[kind].plural}`, signal);
    const { metadata, items } = pageSchema.parse(JSON.parse(text));
    yield { items: items ?? [], remaining: metadata.remainingItemCount ?? null };
    next = metadata.continue;
  } while (next !== '');
}

/**
 * The first page of a list says how many more there are, so that the objects themselves need not be read; an API server that
 * does not say it is read page by page.
 */
async function countOf(client: KubeClient, kind: Kind, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const { items, remaining } of pagesOf(client, kind, signal)) {
    count += items.length;
    if (remaining !== null) return count + remaining;
  }
  return count;
}

const slicesSchema = z.array(z.object({ endpoints: z.array(z.unknown()).nullish() }));

/** Addresses behind all Services. They have to be read, page by page. */
async function countEndpoints(client: KubeClient, signal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const { items } of pagesOf(client, 'EndpointSlice', signal))
    for (const { endpoints } of slicesSchema.parse(items)) count += endpoints?.length ?? 0;
  return count;
}

/** What there is for a CoreDNS to read. */
export async function countObjects(client: KubeClient, signal: AbortSignal): Promise<Size> {
  return {
    services: await countOf(client, 'Service', signal),
    pods: await countOf(client, 'Pod', signal),
    endpoints: await countEndpoints(client, signal),
  };
}

/** The memory limit of the container that answers; null where one of the pods has none. */
function memoryLimitOf({ pods, podPort }: FoundService): number | null {
  const limits = memoryLimitsOf(pods, podPort);
  return limits.length === 0 || limits.length < pods.length ? null : Math.min(...limits);
}

/** What the Corefile of kubeadm's ConfigMap turns on; null where there is none, or it may not be read. */
async function turnedOn(
  client: KubeClient,
  dns: FoundService | null,
  signal: AbortSignal,
): Promise<Pick<ClusterCounts, 'autopath' | 'watchesPods'>> {
  const map =
    dns === null
      ? null
      : await orNull(['E_CLUSTER_FORBIDDEN'], client.get('ConfigMap', 'coredns', dns.namespace, signal));
  const corefile = map?.data?.Corefile;
  const has = (line: RegExp) => (corefile === undefined ? null : line.test(corefile));
  return { autopath: has(/^\s*autopath\b/m), watchesPods: has(/^\s*pods\s+verified\b/m) };
}

/**
 * What the cluster of the kubeconfig has.
 * @throws BenchError as `connect` and the client do: no kubeconfig, an unknown context, a missing right.
 */
export async function countCluster(world: World, context: string | undefined): Promise<ClusterCounts> {
  const client = createClient(await connect(world, context), { clock: world.clock });
  const signal = AbortSignal.timeout(LIMIT_SECONDS * 1000);
  const [pods, services, nodes, endpoints] = [
    await countOf(client, 'Pod', signal),
    await countOf(client, 'Service', signal),
    await countOf(client, 'Node', signal),
    await orNull(['E_CLUSTER_FORBIDDEN'], countEndpoints(client, signal)),
  ];
  // Even if bench does not know the cluster's DNS, the size of the cluster is known.
  const dns = await orNull(['E_CONFIG'], findClusterDns(client, signal));
  return {
    server: client.server,
    source: `counted: cluster of the context ${client.context}`,
    pods,
    services,
    endpoints,
    nodes,
    replicas: dns === null ? null : dns.pods.length,
    memoryLimitBytes: dns === null ? null : memoryLimitOf(dns),
    ...(await turnedOn(client, dns, signal)),
  };
}
