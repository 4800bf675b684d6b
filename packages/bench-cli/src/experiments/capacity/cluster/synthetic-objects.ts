/**
 * Objects of a generated cluster as they may be created on a real one, where they must disturb nothing: Services without a
 * selector, which no controller touches, and mostly without an address, which is scarce; with the label that makes
 * kube-proxy skip them; EndpointSlices with a manager of their own and addresses that belong to nobody. Pure.
 */
import {
  type Cluster,
  type ClusterInput,
  defineCluster,
  ENDPOINT_SLICES,
  type KubeObject,
  PODS,
  SERVICES,
} from '@dinodns-bench/cluster-objects';
import type { V1EndpointSlice, V1ObjectMeta, V1Pod, V1Service } from '@kubernetes/client-node';
import { MANAGER, managedLabels } from '../../../targets/kubernetes/objects/labels.ts';
import type { Configuration } from '../published.ts';

/** kube-proxy ignores Services and EndpointSlices that another proxy serves, whatever it is called. */
const PROXY_LABEL = { 'service.kubernetes.io/service-proxy-name': MANAGER } as const;

/** Of every Service that bench makes on a cluster, whatever it is for. */
export const SERVICE_LABELS: Readonly<Record<string, string>> = { ...managedLabels, ...PROXY_LABEL };

/** As the EndpointSlice controller labels those of headless Services; kube-proxy does not even read them. */
const HEADLESS_LABEL = { 'service.kubernetes.io/headless': '' } as const;

/** Addresses of a cluster's Services are scarce: a /20 has 4,096. */
export const MAX_CLUSTER_ADDRESSES = 100;
const MIN_HEADLESS = 0.9;

/** 198.18.0.0/15 is set aside for benchmarks (RFC 2544, RFC 6890): nothing is reached there. */
const FIRST_ADDRESS = [198, 18] as const;
const ADDRESSES = 2 ** 17;

export interface SyntheticSize {
  readonly services: number;
  /** Whose addresses are in the EndpointSlices; created only on request. */
  readonly pods: number;
  readonly endpoints?: number;
  /** Which part of the Services has no address; default: so many that few of the cluster's addresses are taken. */
  readonly headless?: number;
}

export type SyntheticObject =
  | { readonly kind: 'Service'; readonly object: V1Service }
  | { readonly kind: 'EndpointSlice'; readonly object: V1EndpointSlice }
  | { readonly kind: 'Pod'; readonly object: V1Pod; readonly address: string };

/** Which part of the Services has no address, so that few of the cluster's addresses are taken. */
export function headlessShare(services: number): number {
  return Math.max(MIN_HEADLESS, 1 - MAX_CLUSTER_ADDRESSES / Math.max(1, services));
}

/** The generated cluster in one namespace of this name: what an API server of ours serves is what a real one is given. */
export function syntheticCluster(
  { services, pods, endpoints, headless = headlessShare(services) }: SyntheticSize,
  namespace: string,
): Cluster {
  const input: ClusterInput = {
    namespaces: 1,
    services,
    pods,
    headless,
    ...(endpoints === undefined ? {} : { endpoints }),
  };
  return Object.assign(defineCluster(input), { namespaceName: () => namespace });
}

/** The address of a number; after 131,072 they repeat. */
export function syntheticAddress(number: number): string {
  const host = number % ADDRESSES;
  return [FIRST_ADDRESS[0], FIRST_ADDRESS[1] + (host >> 16), (host >> 8) & 255, host & 255].join('.');
}

/** A plain copy of the part of an object that this module reads, typed as the API server's clients know it. */
const typed = <T>(object: KubeObject): T => JSON.parse(JSON.stringify(object));

/** Name, namespace and labels, and nothing that an API server gives. */
const metadataOf = ({ name = '', namespace = '', labels }: V1ObjectMeta = {}, more: object) => ({
  ...{ name, namespace },
  labels: { ...labels, ...more },
});

function serviceOf(generated: KubeObject): V1Service {
  const { metadata, spec } = typed<V1Service>(generated);
  const isHeadless = spec?.clusterIP === 'None';
  return {
    metadata: metadataOf(metadata, SERVICE_LABELS),
    spec: {
      ...(spec?.ports === undefined ? {} : { ports: spec.ports }),
      ...(isHeadless ? { clusterIP: 'None' } : {}),
    },
  };
}

/** @param firstEndpoint number of its first address among all of them */
function sliceOf(
  generated: KubeObject,
  firstEndpoint: number,
  headless: ReadonlySet<string>,
): V1EndpointSlice {
  const slice = typed<V1EndpointSlice>(generated);
  const { metadata } = slice;
  const service = metadata?.labels?.['kubernetes.io/service-name'] ?? '';
  return {
    addressType: slice.addressType,
    endpoints: (slice.endpoints ?? []).map((endpoint, index) => ({
      ...endpoint,
      addresses: [syntheticAddress(firstEndpoint + index)],
    })),
    ...(slice.ports === undefined ? {} : { ports: slice.ports }),
    metadata: metadataOf(metadata, {
      ...SERVICE_LABELS,
      ...(headless.has(service) ? HEADLESS_LABEL : {}),
      'endpointslice.kubernetes.io/managed-by': MANAGER,
    }),
  };
}

/** A pod that no scheduler takes, so it never runs; its address is given to it afterwards. */
function podOf(generated: KubeObject): V1Pod {
  const { metadata } = typed<V1Pod>(generated);
  return {
    metadata: metadataOf(metadata, managedLabels),
    spec: {
      schedulerName: `${MANAGER}-never`,
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'app',
          image: 'registry.invalid/never-pulled:1',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}

/** All objects in the order of their creation: Services before their EndpointSlices; pods only if they are wanted. */
export function* syntheticObjects(
  cluster: Cluster,
  { withPods }: { readonly withPods: boolean },
): Generator<SyntheticObject, void, void> {
  const headless = new Set<string>();
  for (const generated of SERVICES.objects(cluster, 0)) {
    const object = serviceOf(generated);
    if (object.spec?.clusterIP === 'None') headless.add(object.metadata?.name ?? '');
    yield { kind: 'Service', object };
  }
  let endpoint = 0;
  for (const generated of ENDPOINT_SLICES.objects(cluster, 0)) {
    const object = sliceOf(generated, endpoint, headless);
    endpoint += object.endpoints?.length ?? 0;
    yield { kind: 'EndpointSlice', object };
  }
  if (!withPods) return;
  let pod = 0;
  for (const generated of PODS.objects(cluster, 0)) {
    yield { kind: 'Pod', object: podOf(generated), address: syntheticAddress(pod) };
    pod += 1;
  }
}

/** How many objects will be created. */
export function syntheticCount(cluster: Cluster, { withPods }: { readonly withPods: boolean }): number {
  const kinds = withPods ? [SERVICES, ENDPOINT_SLICES, PODS] : [SERVICES, ENDPOINT_SLICES];
  return kinds.reduce((sum, kind) => sum + kind.count(cluster), 0);
}

/** CoreDNS watches pods only with `pods verified`, which autopath needs: without them, they need not exist. */
export const needsPods = (configuration: Configuration) => configuration === 'autopath';

/** Objects that are created for these numbers of pods and services. */
export function createdFor(size: SyntheticSize, configuration: Configuration): number {
  const cluster = syntheticCluster(size, 'dry-run');
  return syntheticCount(cluster, { withPods: needsPods(configuration) });
}
