/** Readings of the pods of a deployment, through the API server: a request per node. */
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { inParallel } from '../../kubernetes-api/in-parallel.ts';
import { parseThrottling } from './cadvisor.ts';
import { type PodWindow, parsePodMetrics } from './metrics-api.ts';
import type { ObservedContainers, PodReading, ThrottlingReading } from './pod-reading.ts';
import { parseSummary } from './summary.ts';

export interface PodPlace {
  readonly name: string;
  readonly node: string;
  /** The container whose figures count; null for a pod of one container, which has the pod's figures. */
  readonly container: string | null;
}

/** Their names, each once. */
export const nodesOf = (pods: readonly PodPlace[]) => [...new Set(pods.map(({ node }) => node))];

export interface PodSource {
  readonly usage: () => Promise<ReadonlyMap<string, PodReading>>;
  readonly throttling: () => Promise<ReadonlyMap<string, ThrottlingReading>>;
  readonly windows: () => Promise<readonly PodWindow[]>;
}

/** Of a DaemonSet on hundreds of nodes; each answer of cAdvisor is some megabytes. */
const NODES_AT_ONCE = 10;

/** A sum without one of the kubelets would be too small. */
function unreadable(node: string, error: unknown): unknown {
  if (!(error instanceof BenchError) || error.code === 'E_CLUSTER_FORBIDDEN') return error;
  return new BenchError('E_NO_FIGURES', `the kubelet of node ${node} does not answer: ${error.message}`, {
    evidence: error.evidence,
    fix: `Check the node: \`kubectl describe node ${node}\`. Repeat the trial with --resume, or measure without CPU and memory: --observe none.`,
    cause: error,
  });
}

export function podSource(
  client: KubeClient,
  namespace: string,
  pods: readonly PodPlace[],
  signal: AbortSignal,
): PodSource {
  const containers: ObservedContainers = new Map(pods.map(({ name, container }) => [name, container]));
  const everywhere = async <T>(
    path: string,
    parse: (text: string, namespace: string, containers: ObservedContainers) => Map<string, T>,
  ) => {
    const all = await inParallel(nodesOf(pods), NODES_AT_ONCE, async (node) => {
      const url = `/api/v1/nodes/${node}/proxy/${path}`;
      const text = await client.text(url, 'get nodes/proxy', signal).catch((error: unknown) => {
        throw unreadable(node, error);
      });
      // A text has some megabytes: it is read at once, and not kept.
      return [...parse(text, namespace, containers)];
    });
    return new Map(all.flat());
  };
  return {
    usage: () => everywhere('stats/summary', parseSummary),
    throttling: () => everywhere('metrics/cadvisor', parseThrottling),
    windows: async () => {
      const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
      const text = await client.text(path, `list pods.metrics.k8s.io in namespace ${namespace}`, signal);
      return parsePodMetrics(text, containers);
    },
  };
}
