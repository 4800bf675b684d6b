/** Opens a cluster for a run: connects, inspects it, and makes the run's namespace with what pods need. */

import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { BenchError } from '../../errors.ts';
import { createClient, type KubeClient } from '../../kubernetes-api/client.ts';
import { once } from '../../process.ts';
import { parseQuantity } from '../../quantity.ts';
import type { Cluster } from '../../results/record.ts';
import type { World } from '../../world.ts';
import {
  type ClusterFacts,
  chosenPlacement,
  closedNodes,
  describeCluster,
  machinesOf,
} from './cluster-facts.ts';
import type { ClusterRun, Images } from './cluster-run.ts';
import { namespaceOf, runLabels } from './objects/labels.ts';
import type { PodSecurity } from './objects/namespace.ts';
import {
  demandPermissions,
  type Permission,
  REQUIRED_PERMISSIONS,
  SECRET_PERMISSIONS,
} from './permissions.ts';
import { copyPullSecrets } from './pull-secrets.ts';
import { isOurs, openNamespace, waitUntilNamespaceGone } from './run-namespace.ts';

export interface OpenRequest {
  readonly world: World;
  readonly runId: string;
  readonly settings: KubernetesSettings;
  readonly images: Images;
  readonly loadSeconds: number;
  /** The largest CPU request of the servers of one trial. */
  readonly serverCores: number;
  /** Loaders at once: they share the CPU that is requested for one. */
  readonly loaders: number;
  /** Of the run's namespace. Default: `restricted`. */
  readonly podSecurity?: PodSecurity;
  /** Needed beside what every run needs. */
  readonly permissions?: readonly Permission[];
  /** Of the run's namespace. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Aborted by the second Ctrl-C: do not wait until the namespace is gone. */
  readonly force: AbortSignal;
}

export interface OpenedCluster {
  readonly run: ClusterRun;
  readonly cluster: Cluster;
  /** Cores that servers and the loader share; infinite if they have machines of their own. */
  readonly sharedCpus: number;
  readonly warnings: readonly string[];
  /** Deletes the namespace and waits until it is gone, unless `--keep`. Safe to call twice. */
  close(): Promise<void>;
}

/** All pods run under this account, which has no permissions. */
export const SERVICE_ACCOUNT = 'dinodns-bench';

/** Bound on the requests of `close`, which the first Ctrl-C does not stop. */
const CLOSE_SECONDS = 150;

/** A kubelet that fails is not one that may not be asked: without it, the whole run would have no CPU and memory. */
function unreadable(node: string, error: BenchError): BenchError {
  return new BenchError(error.code, `the kubelet of node ${node} gives no CPU and memory: ${error.message}`, {
    evidence: error.evidence,
    fix: `Check the node: \`kubectl describe node ${node}\`. Choose others with --server-node, or measure in another way: --observe metrics, --observe none.`,
    cause: error,
  });
}

/** Where CPU and memory come from. @throws BenchError if that is not to be had, and not because this user may not read it */
export async function chooseObservation(
  client: Pick<KubeClient, 'text'>,
  { observe }: Pick<KubernetesSettings, 'observe'>,
  facts: Pick<ClusterFacts, 'serverNodes'>,
  signal: AbortSignal,
): Promise<{ observation: ClusterRun['observation']; reason: string | null }> {
  if (observe === 'none') return { observation: 'none', reason: null };
  const node = facts.serverNodes[0]?.metadata?.name ?? '';
  const may = (path: string, action: string) =>
    client.text(path, action, signal).then(
      () => null,
      (error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof BenchError) return error;
        throw error;
      },
    );
  if (observe !== 'metrics') {
    const refused = await may(`/api/v1/nodes/${node}/proxy/stats/summary`, 'get nodes/proxy');
    if (refused === null) return { observation: 'summary', reason: null };
    if (refused.code !== 'E_CLUSTER_FORBIDDEN') throw unreadable(node, refused);
    if (observe === 'summary') throw refused;
  }
  const refused = await may('/apis/metrics.k8s.io/v1beta1/nodes', 'list nodes.metrics.k8s.io');
  if (refused === null) {
    const reason =
      'CPU and memory come from the metrics API: means over windows of some 15 seconds, no throttling, and no figures for trials shorter than two windows';
    return { observation: 'metrics', reason };
  }
  if (observe === 'metrics') throw refused;
  return {
    observation: 'none',
    reason:
      refused.code === 'E_CLUSTER_FORBIDDEN'
        ? 'CPU and memory are missing: neither nodes/proxy nor the metrics API may be read (k8s/rbac.yaml grants both)'
        : `CPU and memory are missing: nodes/proxy may not be read (k8s/rbac.yaml grants it), and the metrics API gives nothing: ${refused.message}`,
  };
}

/** @throws BenchError `E_POD_UNSCHEDULABLE` */
export function demandNodes(
  { nodes, serverNodes, loaderNodes }: Pick<ClusterFacts, 'nodes' | 'serverNodes' | 'loaderNodes'>,
  { serverNode, serverTolerations, loaderNode, loaderTolerations }: KubernetesSettings,
): void {
  const all = nodes.map(({ metadata }) => metadata?.name).join(', ');
  for (const [found, role, value, tolerations] of [
    [serverNodes, 'server', serverNode, serverTolerations],
    [loaderNodes, 'loader', loaderNode, loaderTolerations],
  ] as const) {
    if (found.length > 0) continue;
    const flag = `--${role}-node`;
    const closed = closedNodes(nodes, chosenPlacement(value, tolerations), `--${role}-tolerations`);
    const isThere = closed.length > 0;
    const matching = `${flag}: no node ${isThere ? `that matches "${value}" takes pods` : `matches "${value}"`}`;
    throw new BenchError(
      'E_POD_UNSCHEDULABLE',
      value === undefined ? 'no node of the cluster accepts pods' : matching,
      {
        evidence: isThere ? closed : [`nodes: ${all}`],
        fix: isThere
          ? `Make such a node ready for pods (\`kubectl uncordon NODE\`), tolerate its taints, or choose others with ${flag}.`
          : `Give the name of a node or labels that it has (${flag} pool=dns).`,
      },
    );
  }
}

/** With one machine for both, they share its cores: each of its nodes has them all. */
export function sharedCpusOf({
  serverNodes,
  loaderNodes,
}: Pick<ClusterFacts, 'serverNodes' | 'loaderNodes'>): number {
  if (machinesOf([...new Set([...serverNodes, ...loaderNodes])]).length > 1) return Number.POSITIVE_INFINITY;
  return Math.max(...serverNodes.map(({ status }) => parseQuantity(status?.allocatable?.cpu) ?? 1));
}

const isOneNode = ({ serverNodes, loaderNodes }: ClusterFacts) =>
  new Set([...serverNodes, ...loaderNodes]).size === 1;

/**
 * A pod without a CPU request gets what all others leave: nearly nothing on a node that it shares with a busy
 * server. So a loader requests half of what the servers leave, and at most one core; the other half is for
 * everything else on the node.
 */
export function loaderRequest(sharedCpus: number, serverCores: number): number {
  return Math.max(0, Math.min(1, (sharedCpus - serverCores) / 2));
}

export async function openClient(world: World, context: string | undefined): Promise<KubeClient> {
  // client-node takes half a second to load; only runs on clusters need it.
  const { connect } = await import('../../kubernetes-api/connect.ts');
  return createClient(await connect(world, context), { clock: world.clock });
}

/** Deletes the namespace and waits until it is gone, or until `force`. */
async function removeNamespace(client: KubeClient, name: string, force: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(CLOSE_SECONDS * 1000);
  await client.delete('Namespace', name, undefined, limit);
  // Kubernetes goes on without us; waiting only shows whether it succeeded.
  await waitUntilNamespaceGone(client, name, AbortSignal.any([force, limit])).catch((error: unknown) => {
    if (!force.aborted) throw error;
  });
}

/** The account that the pods run under; made unless it is `default`, which every namespace has. */
async function createAccount(
  client: KubeClient,
  { serviceAccount: name = SERVICE_ACCOUNT }: KubernetesSettings,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  if (name !== 'default') {
    await client.create(
      'ServiceAccount',
      { metadata: { name, namespace, labels }, automountServiceAccountToken: false },
      signal,
    );
  }
  return name;
}

/** Whole CPUs of each server node, by its name. */
function nodeCpusOf({ serverNodes }: ClusterFacts): Map<string, number> {
  return new Map(
    serverNodes.map((node) => [
      node.metadata?.name ?? '',
      Math.floor(parseQuantity(node.status?.capacity?.cpu) ?? 1),
    ]),
  );
}

/** Makes the namespace with what the pods need. */
async function openRun(
  request: OpenRequest,
  client: KubeClient,
  facts: ClusterFacts,
  observation: ClusterRun['observation'],
): Promise<ClusterRun> {
  const { world, runId, settings, images, loadSeconds, serverCores, loaders, signal } = request;
  const { podSecurity, annotations = {} } = request;
  const name = namespaceOf(settings.namespacePrefix, runId);
  const clockOffsetSeconds = await openNamespace(
    world,
    client,
    { name, runId, annotations, ...(podSecurity === undefined ? {} : { podSecurity }) },
    signal,
  );
  const labels = runLabels(runId);
  const serviceAccount = await createAccount(client, settings, name, labels, signal);
  const pullSecrets = await copyPullSecrets(client, settings.pullSecrets ?? [], name, labels, signal);
  return {
    world,
    client,
    runId,
    namespace: name,
    settings: { ...settings, serviceAccount },
    images,
    pullSecrets,
    placement: { servers: new Set(), loaders: new Set() },
    clockOffsetSeconds,
    nodeCpus: nodeCpusOf(facts),
    loaderNodes: facts.loaderNodes.map(({ metadata }) => metadata?.name ?? ''),
    architectures: new Map(facts.cluster.nodes.map(({ name: node, architecture }) => [node, architecture])),
    observation,
    loadSeconds,
    loaderRequestCores: loaderRequest(sharedCpusOf(facts), serverCores) / loaders,
    kept: [],
    jobs: 0,
  };
}

export async function openCluster(request: OpenRequest): Promise<OpenedCluster> {
  const { world, runId, settings, signal, force } = request;
  const client = await openClient(world, settings.context);
  const name = namespaceOf(settings.namespacePrefix, runId);
  const secrets = settings.pullSecrets === undefined ? [] : SECRET_PERMISSIONS;
  await demandPermissions(
    client,
    [...REQUIRED_PERMISSIONS, ...secrets, ...(request.permissions ?? [])],
    name,
    signal,
  );
  const facts = await describeCluster(client, settings, signal);
  demandNodes(facts, settings);
  const { observation, reason } = await chooseObservation(client, settings, facts, signal);
  const sharedCpus = sharedCpusOf(facts);

  const close = once(async () => {
    if (!settings.keep) await removeNamespace(client, name, force);
  });

  try {
    return {
      run: await openRun(request, client, facts, observation),
      cluster: facts.cluster,
      sharedCpus,
      warnings: [
        ...(reason === null ? [] : [reason]),
        ...(isOneNode(facts)
          ? ['servers and the loader share the only suitable node and compete for its CPU']
          : []),
        ...facts.warnings,
      ],
      close,
    };
  } catch (error) {
    // Never delete a namespace that belongs to somebody else.
    const limit = AbortSignal.timeout(10_000);
    const left = await client.get('Namespace', name, undefined, limit).catch(() => null);
    if (left !== null && isOurs(left)) await close().catch(() => undefined);
    throw error;
  }
}
