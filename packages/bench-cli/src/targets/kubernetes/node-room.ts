/** Which nodes have no room for a pod: the scheduler's message counts them, and names none. */
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';

const RESOURCES = [
  { name: 'cpu', text: (cores: number) => `${Number(cores.toFixed(3))} CPUs` },
  { name: 'memory', text: (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB of memory` },
] as const;

/** Named of a large cluster, those with the most room first. */
const MAX_NODES = 5;
/** The run has failed already; this only explains it. */
const SECONDS = 10;

/** What the containers of a pod request together, with the sidecars that stay beside them. */
function requestOf({ spec }: V1Pod, resource: string): number {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...(spec?.containers ?? []), ...sidecars].reduce(
    (sum, { resources }) => sum + (parseQuantity(resources?.requests?.[resource]) ?? 0),
    0,
  );
}

/** Pure. A line for each node that the pod may choose by its labels, and that lacks something for it. */
export function fullNodes(pod: V1Pod, nodes: readonly V1Node[], pods: readonly V1Pod[]): string[] {
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  const suitable = nodes.filter(({ metadata }) =>
    selector.every(([label, value]) => metadata?.labels?.[label] === value),
  );
  const lacking = suitable.flatMap((node) =>
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
