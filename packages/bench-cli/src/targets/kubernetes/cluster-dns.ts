/** Finds the DNS Service of a cluster and the pods behind it, and deploys nothing. */
import type { V1Pod, V1Service } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';
import type { ServerRecord } from '../../results/record.ts';
import type { Deployment, DeployRequest } from '../target.ts';
import type { ClusterRun } from './cluster-run.ts';
import { deploymentOf } from './deployment.ts';
import { dnsContainer, lastingContainers } from './dns-container.ts';
import { assessPod } from './pod-state.ts';

/** Where distributions put it: kubeadm, GKE, EKS, AKS, kind; OpenShift. */
const PLACES = [
  { namespace: 'kube-system', name: 'kube-dns' },
  { namespace: 'kube-system', name: 'coredns' },
  { namespace: 'openshift-dns', name: 'dns-default' },
] as const;

export interface ClusterDns {
  readonly namespace: string;
  readonly name: string;
  readonly address: string;
  readonly podPort: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly pods: readonly V1Pod[];
}

/** The port of the pod that the Service's port 53 maps to. */
function podPortOf(service: V1Service, pod: V1Pod | undefined): number {
  const port = service.spec?.ports?.find((item) => item.port === 53 && item.protocol !== 'TCP');
  const target = port?.targetPort ?? 53;
  if (typeof target === 'number') return target;
  const ports = (pod?.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return ports.find(({ name }) => name === target)?.containerPort ?? 53;
}

/** @throws BenchError `E_CONFIG` if there is none that bench knows. */
export async function findClusterDns(client: KubeClient, signal: AbortSignal): Promise<ClusterDns> {
  for (const { namespace, name } of PLACES) {
    const service = await client.get('Service', name, namespace, signal);
    const address = service?.spec?.clusterIP;
    if (service === null || address === undefined || address === 'None') continue;
    const labels = service.spec?.selector ?? {};
    const { items } = await client.list('Pod', { namespace, labels }, signal);
    const pods = items.filter((pod) => pod.spec?.nodeName !== undefined && assessPod(pod).kind === 'ready');
    if (pods.length === 0) continue;
    return { namespace, name, address, podPort: podPortOf(service, pods[0]), labels, pods };
  }
  throw new BenchError('E_CONFIG', 'cluster-dns: the cluster has no DNS Service with ready pods', {
    evidence: PLACES.map(({ namespace, name }) => `looked for Service ${namespace}/${name}`),
    fix: 'Measure another server; cluster-dns needs one of these.',
  });
}

/** The CPU limit of its DNS container; null without one. */
function cpuLimitOf(pod: V1Pod, podPort: number): number | null {
  return parseQuantity(dnsContainer(pod, podPort)?.resources?.limits?.cpu);
}

/** `registry/coredns:v1.13.1` → `v1.13.1`. */
export function imageTag(image: string): string {
  return /:([\w][\w.-]*)$/.exec(image.replace(/@.*$/, ''))?.[1] ?? 'unknown';
}

export function describeClusterDns({ pods, namespace, name, podPort }: ClusterDns): ServerRecord {
  const [pod] = pods;
  const container = pod === undefined ? undefined : dnsContainer(pod, podPort);
  const others = pod === undefined ? [] : lastingContainers(pod).filter((item) => item !== container);
  const sidecars = others.map(({ name: sidecar, image = '' }) => `${sidecar} (${image})`);
  return {
    name: 'cluster-dns',
    kind: 'cluster-dns',
    variant: null,
    title: 'Cluster DNS',
    version: imageTag(container?.image ?? ''),
    executable: container?.image ?? '',
    components: {
      service: `${namespace}/${name}`,
      pods: String(pods.length),
      ...(sidecars.length === 0 ? {} : { container: container?.name ?? '', sidecars: sidecars.join(', ') }),
    },
    files: {},
  };
}

/** Warns the reader that bench cannot choose tier and mode here. */
export function clusterDnsWarning({ pods, namespace, name, podPort }: ClusterDns): string {
  const limits = pods.map((pod) => {
    const cpu = cpuLimitOf(pod, podPort);
    return cpu === null ? 'no CPU limit' : `${cpu} CPUs`;
  });
  return `cluster-dns is Service ${namespace}/${name} as it is: ${pods.length} pod(s), ${[...new Set(limits)].join(', ')}; tier and mode say nothing about it, and it has the cluster's own queries to answer as well`;
}

/** A deployment that exists already and stays. */
export async function adoptClusterDns(run: ClusterRun, request: DeployRequest): Promise<Deployment> {
  const dns = await findClusterDns(run.client, request.signal);
  for (const pod of dns.pods)
    if (pod.spec?.nodeName !== undefined) run.placement.servers.add(pod.spec.nodeName);
  // Without a limit it may use every core of its node.
  const allowances = dns.pods.map(
    (pod) => cpuLimitOf(pod, dns.podPort) ?? run.nodeCpus.get(pod.spec?.nodeName ?? '') ?? 1,
  );
  return deploymentOf({
    run,
    request: { ...request, allowances },
    namespace: dns.namespace,
    pods: dns.pods,
    labels: dns.labels,
    service: { address: dns.address, port: 53, instances: dns.pods.length },
    podPort: dns.podPort,
    command: [],
    workers: null,
    files: {},
    readiness: { name: 'kubernetes.default.svc.cluster.local', type: 'A' },
    remove: async () => undefined,
    ownsPods: false,
  });
}
