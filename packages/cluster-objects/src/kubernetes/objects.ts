/** The objects of a generated cluster, as its controllers would have left them. */
import { nodeAddress } from '../cluster/addresses.ts';
import {
  type Cluster,
  KIND,
  type Pod,
  replicaSetHash,
  SERVICE_PORT,
  type Service,
} from '../cluster/cluster.ts';
import { suffix, uuid } from '../cluster/hash.ts';
import { MANAGED } from './managed-fields.ts';
import { CREATED, type Json, type KubeObject, type Metadata } from './object.ts';

/** The controller's default limit (kube-controller-manager, `--max-endpoints-per-slice`). */
export const ENDPOINTS_PER_SLICE = 100;

const FAMILIES = ['IPv4', 'IPv6'] as const;

const familiesOf = ({ spec }: Cluster) => (spec.dualStack ? FAMILIES : FAMILIES.slice(0, 1));

/** Resource versions of generated objects are below this; what happens later has larger ones. */
export function baseResourceVersion(cluster: Cluster): number {
  const { endpoints, services } = cluster.spec;
  return versionBase(cluster, 'slice') + FAMILIES.length * (endpoints + services + 1);
}

const FIRST_VERSION = 1000;

/** Each kind has a range of versions of its own, so that no two objects share one, as in etcd. */
function versionBase({ spec, nodes }: Cluster, kind: Exclude<keyof typeof KIND, 'replicaSet'>): number {
  const node = FIRST_VERSION + spec.namespaces;
  const service = node + nodes;
  const pod = service + spec.services;
  return { namespace: FIRST_VERSION, node, service, pod, slice: pod + spec.pods }[kind];
}

export function namespaceObject(cluster: Cluster, index: number): KubeObject {
  const name = cluster.namespaceName(index);
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      uid: uuid(cluster.spec.seed, KIND.namespace, index),
      resourceVersion: String(versionBase(cluster, 'namespace') + index),
      creationTimestamp: CREATED,
      labels: { 'kubernetes.io/metadata.name': name },
      managedFields: MANAGED.namespace,
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

export function nodeObject(cluster: Cluster, index: number): KubeObject {
  const name = cluster.nodeName(index);
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: uuid(cluster.spec.seed, KIND.node, index),
      resourceVersion: String(versionBase(cluster, 'node') + index),
      creationTimestamp: CREATED,
      labels: { 'kubernetes.io/arch': 'amd64', 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' },
    },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: nodeAddress(index) }] },
  };
}

export function serviceObject(cluster: Cluster, service: Service): KubeObject {
  const { name, namespace, headless, addresses, index } = service;
  const { name: portName, port, targetPort, protocol } = SERVICE_PORT;
  const clusterIPs = headless ? ['None'] : addresses;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      uid: uuid(cluster.spec.seed, KIND.service, index),
      resourceVersion: String(versionBase(cluster, 'service') + index),
      creationTimestamp: CREATED,
      labels: { app: name },
      managedFields: MANAGED.service,
    },
    spec: {
      ports: [{ name: portName, protocol, port, targetPort }],
      selector: { app: name },
      clusterIP: clusterIPs[0],
      clusterIPs,
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: familiesOf(cluster),
      ipFamilyPolicy: cluster.spec.dualStack ? 'PreferDualStack' : 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  };
}

/** The slices of one service; one without endpoints has an empty slice, as in a real cluster. */
export function sliceCount(cluster: Cluster, { endpointCount }: Service): number {
  return familiesOf(cluster).length * Math.max(1, Math.ceil(endpointCount / ENDPOINTS_PER_SLICE));
}

/** One of the slices of a service, `part` from 0 to `sliceCount` − 1: all of IPv4, then all of IPv6. `podOf` an endpoint is the pod behind it. */
export function sliceObject(
  cluster: Cluster,
  service: Service,
  part: number,
  podOf = (endpoint: number): Pod => cluster.pod(cluster.podOfEndpoint(endpoint)),
): KubeObject {
  const { name, namespace, firstEndpoint, endpointCount, index } = service;
  const { seed } = cluster.spec;
  const perFamily = Math.max(1, Math.ceil(endpointCount / ENDPOINTS_PER_SLICE));
  const family = Math.floor(part / perFamily);
  const from = (part % perFamily) * ENDPOINTS_PER_SLICE;
  const count = Math.min(ENDPOINTS_PER_SLICE, endpointCount - from);
  const position = (firstEndpoint + from + index) * FAMILIES.length + family;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${suffix(seed, KIND.slice, position)}`,
      generateName: `${name}-`,
      namespace,
      uid: uuid(seed, KIND.slice, position),
      resourceVersion: String(versionBase(cluster, 'slice') + position),
      generation: 1,
      creationTimestamp: CREATED,
      labels: {
        app: name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': name,
      },
      ownerReferences: [owner('v1', 'Service', name, uuid(seed, KIND.service, index))],
      managedFields: MANAGED.slice,
    },
    addressType: FAMILIES[family],
    endpoints: Array.from({ length: count }, (_, at) => {
      const number = firstEndpoint + from + at;
      return endpoint(cluster, number, podOf(number), family);
    }),
    ports: [{ name: SERVICE_PORT.name, port: SERVICE_PORT.targetPort, protocol: SERVICE_PORT.protocol }],
  };
}

const owner = (apiVersion: string, kind: string, name: string, uid: string) => ({
  apiVersion,
  kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

const READY = { ready: true, serving: true, terminating: false } as const;

function endpoint(cluster: Cluster, number: number, pod: Pod, family: number): Json {
  const { name, namespace, addresses, node } = pod;
  return {
    addresses: addresses.slice(family, family + 1),
    conditions: READY,
    // A hostname is valid within the service that the pod was made for.
    hostname: number < cluster.spec.pods ? (pod.hostname ?? undefined) : undefined,
    targetRef: { kind: 'Pod', namespace, name, uid: uuid(cluster.spec.seed, KIND.pod, pod.index) },
    nodeName: cluster.nodeName(node),
  };
}

/** The same for all pods. What is frozen is encoded only once (`protobuf.ts`). */
const CONTAINERS: Json = Object.freeze([
  {
    name: 'app',
    image: 'registry.example.com/team/app:1.0.0',
    ports: [
      { name: SERVICE_PORT.name, containerPort: SERVICE_PORT.targetPort, protocol: SERVICE_PORT.protocol },
    ],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'LISTEN', value: ':8080' },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '128Mi' } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  },
]);
const CONDITIONS: Json = Object.freeze(
  ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: CREATED,
  })),
);
const TOLERATIONS: Json = Object.freeze(
  ['not-ready', 'unreachable'].map((taint) => ({
    key: `node.kubernetes.io/${taint}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
);
const CONTAINER_STATUSES: Json = Object.freeze([
  {
    name: 'app',
    state: { running: { startedAt: CREATED } },
    ready: true,
    restartCount: 0,
    image: 'registry.example.com/team/app:1.0.0',
    imageID: `registry.example.com/team/app@sha256:${'0123456789abcdef'.repeat(4)}`,
    containerID: `containerd://${'0123456789abcdef'.repeat(4)}`,
    started: true,
  },
]);

export function podObject(cluster: Cluster, pod: Pod): KubeObject {
  const { addresses, node, hostname, service } = pod;
  const set = service === null ? null : cluster.service(service);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podMetadata(cluster, pod, set),
    spec: {
      containers: CONTAINERS,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      nodeName: cluster.nodeName(node),
      hostname: hostname ?? undefined,
      subdomain: hostname === null ? undefined : set?.name,
      schedulerName: 'default-scheduler',
      tolerations: TOLERATIONS,
      priority: 0,
      enableServiceLinks: true,
    },
    status: {
      phase: 'Running',
      conditions: CONDITIONS,
      hostIP: nodeAddress(node),
      hostIPs: [{ ip: nodeAddress(node) }],
      podIP: addresses[0],
      podIPs: addresses.map((ip) => ({ ip })),
      startTime: CREATED,
      containerStatuses: CONTAINER_STATUSES,
      qosClass: 'Burstable',
    },
  };
}

function podMetadata(
  cluster: Cluster,
  { name, namespace, index, hostname }: Pod,
  service: Service | null,
): Metadata {
  const { seed } = cluster.spec;
  const app = service?.name ?? 'job';
  const templateHash = replicaSetHash(seed, service?.index ?? 0);
  const isStateful = hostname !== null;
  const generateName = isStateful || service === null ? `${app}-` : `${app}-${templateHash}-`;
  const set = isStateful ? app : generateName.slice(0, -1);
  return {
    name,
    generateName,
    namespace,
    uid: uuid(seed, KIND.pod, index),
    resourceVersion: String(versionBase(cluster, 'pod') + index),
    creationTimestamp: CREATED,
    labels: { app, 'pod-template-hash': templateHash },
    ownerReferences: [
      owner(
        'apps/v1',
        isStateful ? 'StatefulSet' : 'ReplicaSet',
        set,
        uuid(seed, KIND.replicaSet, service?.index ?? 0),
      ),
    ],
    managedFields: MANAGED.pod,
  };
}
