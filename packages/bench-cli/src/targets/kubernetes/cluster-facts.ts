/** What is known of a cluster: for the record, and to decide where pods can run. */
import type { V1Node, V1Pod, V1PodSpec, V1Taint, V1Toleration } from '@kubernetes/client-node';
import { z } from 'zod';
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';
import type { Cluster, ClusterNode } from '../../results/record.ts';
import type { Environment } from '../../results/record-environment.ts';
import type { World } from '../../world.ts';
import { nodeSelectorOf, tolerationOf } from './objects/pods.ts';

/** OpenShift's own record of itself; other clusters have no such object. */
const OPENSHIFT_PATH = '/apis/config.openshift.io/v1/clusterversions/version';
const openshiftSchema = z.object({ status: z.object({ desired: z.object({ version: z.string() }) }) });

const versionSchema = z.object({ gitVersion: z.string() });

/** Pods of network plugins, by the beginning of their names. */
const CNI_PODS: readonly (readonly [RegExp, string])[] = [
  [/^calico-node/, 'calico'],
  [/^cilium(?!-operator|-envoy)/, 'cilium'],
  [/^anetd/, 'gke dataplane v2 (cilium)'],
  [/^aws-node/, 'amazon-vpc-cni'],
  [/^azure-cns/, 'azure-cni'],
  [/^kube-flannel/, 'flannel'],
  [/^kindnet/, 'kindnet'],
  [/^weave-net/, 'weave'],
  [/^ovnkube-node/, 'ovn-kubernetes'],
  [/^kube-router/, 'kube-router'],
  [/^antrea-agent/, 'antrea'],
];

/** The cloud, from the provider ID of its nodes: `gce://project/zone/name`. */
const PROVIDERS: Readonly<Record<string, string>> = { gce: 'gke', aws: 'aws', azure: 'azure', kind: 'kind' };

export function providerOf(nodes: readonly V1Node[]): string | null {
  const id = nodes.map((node) => node.spec?.providerID ?? '').find((text) => text !== '');
  const [scheme = ''] = id?.split('://') ?? [];
  return scheme === '' ? null : (PROVIDERS[scheme] ?? scheme);
}

/** Null if no pod of a known plugin is there, or several are. */
export function cniOf(podNames: readonly string[]): string | null {
  const found = CNI_PODS.filter(([pattern]) => podNames.some((name) => pattern.test(name)));
  const names = [...new Set(found.map(([, name]) => name))];
  return names.length === 1 ? (names[0] ?? null) : null;
}

/** kube-proxy's mode from its configuration file; an empty one means its default, iptables. */
export function proxyModeOf(configuration: string): string | null {
  const mode = /^mode:\s*"?([\w-]*)"?\s*$/m.exec(configuration)?.[1];
  if (mode === undefined) return null;
  return mode === '' ? 'iptables' : mode;
}

export function describeNode(node: V1Node, roles: readonly string[]): ClusterNode {
  const info = node.status?.nodeInfo;
  const { allocatable = {} } = node.status ?? {};
  return {
    name: node.metadata?.name ?? '',
    roles: [...roles],
    os: info?.osImage ?? 'unknown',
    kernel: info?.kernelVersion ?? 'unknown',
    architecture: info?.architecture ?? 'unknown',
    allocatableCpus: parseQuantity(allocatable.cpu) ?? 0,
    allocatableMemoryBytes: parseQuantity(allocatable.memory) ?? 0,
    kubeletVersion: info?.kubeletVersion ?? 'unknown',
    containerRuntime: info?.containerRuntimeVersion ?? 'unknown',
    instanceType: node.metadata?.labels?.['node.kubernetes.io/instance-type'] ?? null,
  };
}

function isTolerated(taint: V1Taint, tolerations: readonly V1Toleration[]): boolean {
  return (
    taint.effect === 'PreferNoSchedule' ||
    tolerations.some(
      ({ key = '', value = '', effect = '', operator }) =>
        // Without a key, all taints.
        (key === taint.key || (key === '' && operator === 'Exists')) &&
        (operator === 'Exists' || value === (taint.value ?? '')) &&
        (effect === '' || effect === taint.effect),
    )
  );
}

type Chosen = Pick<V1PodSpec, 'nodeSelector' | 'tolerations'>;

const isMatching = ({ metadata }: V1Node, { nodeSelector = {} }: Chosen) =>
  Object.entries(nodeSelector).every(([label, value]) => metadata?.labels?.[label] === value);

/** Of a node that is cordoned or not ready, set by Kubernetes itself. */
const TAINTS_OF_STATES = ['unschedulable', 'not-ready', 'unreachable'].map(
  (state) => `node.kubernetes.io/${state}`,
);

/** What keeps pods with these tolerations from a node, each completing "node x …". */
function obstaclesOf({ spec, status }: V1Node, { tolerations = [] }: Chosen, flag: string): string[] {
  // Every kubelet says whether its node is ready; once it is silent, the node controller says `Unknown`.
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'True';
  const states = [
    ...(spec?.unschedulable === true ? ['is cordoned'] : []),
    ...(ready === 'True' ? [] : ['is not ready']),
  ];
  const taints = (spec?.taints ?? [])
    .filter((taint) => !isTolerated(taint, tolerations))
    .filter(({ key }) => states.length === 0 || !TAINTS_OF_STATES.includes(key))
    .map(({ key, value, effect }) => `${key}${value === undefined ? '' : `=${value}`}:${effect}`)
    .map((taint) => `has taint ${taint} (tolerate it with ${flag} ${taint})`);
  return [...states, ...taints];
}

/** The nodes on which pods with this selector and these tolerations may be placed. */
export function nodesFor(nodes: readonly V1Node[], chosen: Chosen): V1Node[] {
  return nodes.filter((node) => isMatching(node, chosen) && obstaclesOf(node, chosen, '').length === 0);
}

/**
 * Of each node that the selector fits and that takes no such pods: why not.
 * @param flag Sets tolerations of these pods.
 */
export function closedNodes(nodes: readonly V1Node[], chosen: Chosen, flag: string): string[] {
  return nodes
    .filter((node) => isMatching(node, chosen))
    .map((node) => ({ name: node.metadata?.name, obstacles: obstaclesOf(node, chosen, flag) }))
    .filter(({ obstacles }) => obstacles.length > 0)
    .map(({ name, obstacles }) => `node ${name} ${obstacles.join(', ')}`);
}

/** What settings say of where pods of a component may be placed. */
export function chosenPlacement(node: string | undefined, tolerations: readonly string[] = []) {
  const nodeSelector = nodeSelectorOf(node);
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    tolerations: tolerations.map(tolerationOf),
  };
}

/** The nodes on which pods of a component may be placed. */
export function candidateNodes(
  nodes: readonly V1Node[],
  node: string | undefined,
  tolerations: readonly string[] = [],
): V1Node[] {
  return nodesFor(nodes, chosenPlacement(node, tolerations));
}

/** The nodes of each machine: those with one boot ID, which every kernel draws anew when it starts. */
export function machinesOf(nodes: readonly V1Node[]): V1Node[][] {
  return [...Map.groupBy(nodes, (node) => node.status?.nodeInfo?.bootID || node).values()];
}

/** For nodes that are one machine under several names. */
export function machineWarnings(nodes: readonly V1Node[]): string[] {
  return machinesOf(nodes).flatMap((same) =>
    same.length === 1
      ? []
      : [
          `nodes ${same.map(({ metadata }) => metadata?.name).join(', ')} are one machine (one boot ID): this run shows that it works on several nodes, not how fast it is on them`,
        ],
  );
}

/** The version that the cluster runs, or is on its way to. Rejects if the cluster is not OpenShift. */
async function openshiftVersion(client: KubeClient, signal: AbortSignal): Promise<string> {
  const text = await client.text(OPENSHIFT_PATH, 'get clusterversions', signal);
  return openshiftSchema.parse(JSON.parse(text)).status.desired.version;
}

export interface ClusterFacts {
  readonly cluster: Cluster;
  /** All of them. */
  readonly nodes: readonly V1Node[];
  readonly serverNodes: readonly V1Node[];
  readonly loaderNodes: readonly V1Node[];
  /** What its nodes cannot show. */
  readonly warnings: readonly string[];
}

/** What is unknown or may not be read is null. Only the nodes must be readable. */
export async function describeCluster(
  client: KubeClient,
  settings: KubernetesSettings,
  signal: AbortSignal,
): Promise<ClusterFacts> {
  const version = versionSchema.parse(JSON.parse(await client.text('/version', 'get /version', signal)));
  const { items: nodes } = await client.list('Node', {}, signal);
  const serverNodes = candidateNodes(nodes, settings.serverNode, settings.serverTolerations);
  const loaderNodes = candidateNodes(nodes, settings.loaderNode, settings.loaderTolerations);
  const rolesOf = (node: V1Node) => [
    ...(serverNodes.includes(node) ? ['server'] : []),
    ...(loaderNodes.includes(node) ? ['loader'] : []),
  ];
  const optional = <T>(value: Promise<T>): Promise<T | null> =>
    value.catch(() => {
      signal.throwIfAborted();
      return null;
    });
  const systemPods = await optional(client.list('Pod', { namespace: 'kube-system' }, signal));
  const proxy = await optional(client.get('ConfigMap', 'kube-proxy', 'kube-system', signal));
  const openshift = await optional(openshiftVersion(client, signal));
  const podNames = (systemPods?.items ?? []).map((pod: V1Pod) => pod.metadata?.name ?? '');
  return {
    cluster: {
      version: version.gitVersion,
      provider: providerOf(nodes),
      context: client.context,
      server: client.server,
      openshiftVersion: openshift,
      cni: cniOf(podNames),
      proxyMode: proxyModeOf(proxy?.data?.['config.conf'] ?? ''),
      nodes: nodes.map((node) => describeNode(node, rolesOf(node))),
    },
    nodes,
    serverNodes,
    loaderNodes,
    warnings: machineWarnings([...new Set([...serverNodes, ...loaderNodes])]),
  };
}

/** For a record: this machine and the cluster, with what its nodes cannot show. */
export async function describeBoth(
  world: World,
  client: KubeClient,
  settings: KubernetesSettings,
  signal: AbortSignal,
): Promise<{ readonly environment: Environment; readonly warnings: readonly string[] }> {
  const { cluster, warnings } = await describeCluster(client, settings, signal);
  return { environment: { ...(await describeEnvironment(world)), cluster }, warnings };
}
