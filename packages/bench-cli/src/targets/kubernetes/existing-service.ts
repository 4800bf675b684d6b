/** Servers that are in a cluster already: finds their Service and the pods behind it, and deploys nothing. */
import type { V1Pod } from '@kubernetes/client-node';
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';
import type { ServerRecord } from '../../results/record.ts';
import { imageParts } from '../../servers/image-record.ts';
import { AS_FOUND, type ExistingServer, type ServiceServer } from '../../servers/server.ts';
import { counted } from '../../text.ts';
import type { Deployment, DeployRequest } from '../target.ts';
import type { ClusterRun } from './cluster-run.ts';
import { deploymentOf, readyPods } from './deployment.ts';
import { dnsContainer, lastingContainers, podPortOf } from './dns-container.ts';

/** Where distributions put it: kubeadm, GKE, EKS, AKS, kind; OpenShift. */
const PLACES = [
  { namespace: 'kube-system', name: 'kube-dns' },
  { namespace: 'kube-system', name: 'coredns' },
  { namespace: 'openshift-dns', name: 'dns-default' },
] as const;
const DNS_PORT = 53;

/** A Service with ready pods. */
export interface FoundService {
  readonly namespace: string;
  readonly name: string;
  /** Of the Service. */
  readonly port: number;
  readonly address: string;
  readonly podPort: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly pods: readonly V1Pod[];
}

type InCluster = Exclude<ExistingServer, { readonly kind: 'address' }>;

/** The Service and its ready pods, or in words why it cannot be measured. */
async function lookAt(
  client: KubeClient,
  { namespace, name, port }: Pick<FoundService, 'namespace' | 'name' | 'port'>,
  signal: AbortSignal,
): Promise<FoundService | string> {
  const service = await client.get('Service', name, namespace, signal);
  if (service === null) return 'there is no such Service';
  const address = service.spec?.clusterIP;
  if (address === undefined || address === 'None') return 'it has no address of its own (headless)';
  const ports = service.spec?.ports?.map((item) => item.port) ?? [];
  if (!ports.includes(port)) return `it has no port ${port}, but ${[...new Set(ports)].join(', ')}`;
  const labels = service.spec?.selector ?? {};
  // An empty selector would match every pod of the namespace.
  if (Object.keys(labels).length === 0) return 'it selects no pods';
  const pods = await readyPods(client, { namespace, labels }, signal);
  if (pods.length === 0) return 'none of its pods is ready';
  return { namespace, name, port, address, podPort: podPortOf(service, port, pods[0]), labels, pods };
}

/** @throws BenchError `E_CONFIG` if it is not there, or without ready pods. */
export function findService(
  client: KubeClient,
  existing: InCluster,
  signal: AbortSignal,
): Promise<FoundService> {
  return existing.kind === 'cluster-dns'
    ? findClusterDns(client, signal)
    : findNamedService(client, existing, signal);
}

async function findNamedService(
  client: KubeClient,
  place: ServiceServer,
  signal: AbortSignal,
): Promise<FoundService> {
  const found = await lookAt(client, place, signal);
  if (typeof found !== 'string') return found;
  const { namespace, name } = place;
  throw new BenchError('E_CONFIG', `Service ${namespace}/${name} cannot be measured: ${found}`, {
    fix: `See \`kubectl get services,endpointslices --namespace ${namespace}\`, and name one as at=NAMESPACE/SERVICE:PORT.`,
  });
}

/** @throws BenchError `E_CONFIG` if there is none that bench knows. */
export async function findClusterDns(client: KubeClient, signal: AbortSignal): Promise<FoundService> {
  for (const place of PLACES) {
    const found = await lookAt(client, { ...place, port: DNS_PORT }, signal);
    if (typeof found !== 'string') return found;
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
export const imageTag = (image: string) => imageParts(image).tag || 'unknown';

export function describeService(
  identity: Pick<ServerRecord, 'name' | 'kind' | 'variant' | 'title'>,
  { pods, namespace, name, podPort }: FoundService,
): ServerRecord {
  const [pod] = pods;
  const container = pod === undefined ? undefined : dnsContainer(pod, podPort);
  const others = pod === undefined ? [] : lastingContainers(pod).filter((item) => item !== container);
  const sidecars = others.map(({ name: sidecar, image = '' }) => `${sidecar} (${image})`);
  return {
    ...identity,
    version: imageTag(container?.image ?? ''),
    executable: container?.image ?? '',
    components: {
      ...AS_FOUND,
      service: `${namespace}/${name}`,
      pods: String(pods.length),
      ...(sidecars.length === 0 ? {} : { container: container?.name ?? '', sidecars: sidecars.join(', ') }),
    },
    files: {},
  };
}

/** Warns the reader that bench cannot choose tier and mode here. */
export function existingServiceWarning(
  server: string,
  { pods, namespace, name, podPort }: FoundService,
): string {
  const limits = pods.map((pod) => {
    const cpu = cpuLimitOf(pod, podPort);
    return cpu === null ? 'no CPU limit' : `${cpu} CPUs`;
  });
  return `${server} is Service ${namespace}/${name} as it is: ${pods.length} pod(s), ${[...new Set(limits)].join(', ')}; tier and mode say nothing about it, and it may have the queries of others to answer as well`;
}

const NODE_LOCAL = { 'k8s-app': 'node-local-dns' };

/** Whether others may answer at the address of the cluster's DNS in this namespace, in a sentence. */
export async function cacheWarnings(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<string[]> {
  const caches = await readyPods(client, { namespace, labels: NODE_LOCAL }, signal);
  if (caches.length === 0) return [];
  return [
    `NodeLocal DNSCache runs on ${counted(caches.length, 'node')}: unless kube-proxy uses IPVS, it answers what is asked at the address of the cluster's DNS there, so that loss and latency may be its own, and CPU and version those of the DNS behind it`,
  ];
}

/** A deployment that exists already and stays. */
export async function adoptService(
  run: ClusterRun,
  request: DeployRequest,
  existing: InCluster,
): Promise<Deployment> {
  const { path } = run.settings;
  if (path !== 'service') {
    throw new BenchError(
      'E_CONFIG',
      `--path ${path}: ${request.server.name} is measured through its own Service`,
      {
        fix: 'Omit --path, or the server.',
      },
    );
  }
  const found = await findService(run.client, existing, request.signal);
  // Without a limit it may use every core of its node.
  const allowances = found.pods.map(
    (pod) => cpuLimitOf(pod, found.podPort) ?? run.nodeCpus.get(pod.spec?.nodeName ?? '') ?? 1,
  );
  return deploymentOf({
    ...found,
    run,
    request: { ...request, allowances },
    service: { address: found.address, port: found.port, instances: found.pods.length },
    command: [],
    workers: null,
    files: {},
    readiness: { name: 'kubernetes.default.svc.cluster.local', type: 'A' },
    remove: async () => undefined,
    ownsPods: false,
  });
}
