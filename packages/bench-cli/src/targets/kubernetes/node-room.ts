/** Which nodes have no room for a pod: the scheduler's message counts them, and names none. */
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';
import type { ClusterNode } from '../../results/record.ts';
import { sum } from '../../stats/intervals.ts';
import { nodesFor } from './cluster-facts.ts';

export function cpusText(cores: number): string {
  return `${Number(cores.toFixed(3))} CPUs`;
}

const RESOURCES = [
  { name: 'cpu', text: cpusText },
  { name: 'memory', text: (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB of memory` },
] as const;

/** Named of a large cluster, those with the most room first. */
const MAX_NODES = 5;
/** The run has failed already; this only explains it. */
const SECONDS = 10;

/** What the containers of a pod request together, with the sidecars that stay beside them. */
function requestOf({ spec }: V1Pod, resource: string): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const all = [...(spec?.containers ?? []), ...sidecars];
  return sum(all.map(({ resources }) => parseQuantity(resources?.requests?.[resource]) ?? 0));
}

/** Pure. A line for each node that would take the pod, and lacks something for it. */
export function fullNodes(pod: V1Pod, nodes: readonly V1Node[], pods: readonly V1Pod[]): string[] {
  const lacking = nodesFor(nodes, pod.spec ?? {}).flatMap((node) =>
    RESOURCES.flatMap(({ name, text }) => {
      const own = pods.filter(
        ({ spec, status }) =>
          spec?.nodeName === node.metadata?.name &&
          status?.phase !== 'Succeeded' &&
          status?.phase !== 'Failed',
      );
      const all = parseQuantity(node.status?.allocatable?.[name]) ?? 0;
      const free = own.reduce((left, each) => left - requestOf(each, name), all);
      const wanted = requestOf(pod, name);
      if (free >= wanted) return [];
      return [
        {
          share: free / wanted,
          line: `node ${node.metadata?.name} is full: ${text(Math.max(0, free))} of ${text(all)} left, the pod requests ${text(wanted)}`,
        },
      ];
    }),
  );
  return lacking
    .sort((a, b) => b.share - a.share)
    .slice(0, MAX_NODES)
    .map(({ line }) => line);
}

/** The same from the cluster; nothing where that may not be read. */
export async function describeRoom(client: KubeClient, pod: V1Pod, outer: AbortSignal): Promise<string[]> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(SECONDS * 1000)]);
  try {
    const { items: nodes } = await client.list('Node', {}, signal);
    const { items: pods } = await client.list('Pod', {}, signal);
    return fullNodes(pod, nodes, pods);
  } catch {
    return [];
  }
}

/** The pods of a server that are up at once. */
interface Replicas {
  readonly count: number;
  /** What they request together. */
  readonly cores: number;
}

/**
 * Those that the nodes cannot take by `--replicas` would only show as trials that fail, after minutes. Pure.
 * @throws BenchError `E_POD_UNSCHEDULABLE`
 */
export function demandPlaces(
  how: 'spread' | 'packed' | undefined,
  servers: readonly Replicas[],
  nodes: readonly ClusterNode[],
): void {
  const places = nodes.filter(({ roles }) => roles.includes('server'));
  const most = servers.toSorted((a, b) => b.count - a.count)[0];
  if (how === 'spread' && most !== undefined && most.count > places.length) {
    throw new BenchError(
      'E_POD_UNSCHEDULABLE',
      `--replicas spread: ${most.count} pods need ${most.count} nodes, and servers may use ${places.length}: ${places.map(({ name }) => name).join(', ')}`,
      {
        fix: 'Choose a smaller --tier, let servers use more nodes (--server-node, --server-tolerations), or omit --replicas.',
      },
    );
  }
  const heaviest = servers.toSorted((a, b) => b.cores - a.cores)[0];
  const largest = places.toSorted((a, b) => b.allocatableCpus - a.allocatableCpus)[0];
  if (how !== 'packed' || heaviest === undefined || largest === undefined) return;
  if (heaviest.cores <= largest.allocatableCpus) return;
  throw new BenchError(
    'E_POD_UNSCHEDULABLE',
    `--replicas packed: ${heaviest.count} pods request ${cpusText(heaviest.cores)} together, and the largest node that servers may use, ${largest.name}, has ${cpusText(largest.allocatableCpus)}`,
    { fix: 'Choose a smaller --tier or a smaller --cpu-request, or omit --replicas.' },
  );
}
