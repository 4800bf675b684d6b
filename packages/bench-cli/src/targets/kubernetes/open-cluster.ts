/** Opens a cluster for a run: connects, looks what is there, and makes the run's namespace with what pods need. */

import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import { BenchError } from '../../errors.ts';
import { createClient, type KubeClient } from '../../kubernetes-api/client.ts';
import { parseQuantity } from '../../quantity.ts';
import type { Cluster } from '../../results/record.ts';
import type { World } from '../../world.ts';
import { type ClusterFacts, describeCluster } from './cluster-facts.ts';
import type { ClusterRun, Images } from './cluster-run.ts';
import { managedLabels, namespaceOf, runLabels } from './objects/labels.ts';
import { demandPermissions, REQUIRED_PERMISSIONS, SECRET_PERMISSIONS } from './permissions.ts';
import { copyPullSecrets } from './pull-secrets.ts';
import { openNamespace, waitUntilNamespaceGone } from './run-namespace.ts';

export interface OpenRequest {
  readonly world: World;
  readonly runId: string;
  readonly settings: KubernetesSettings;
  readonly images: Images;
  readonly loadSeconds: number;
  /** The most that the servers of one trial ask for. */
  readonly serverCores: number;
  readonly signal: AbortSignal;
  /** Aborted by the second Ctrl-C: nobody waits for the namespace to be gone. */
  readonly force: AbortSignal;
}

export interface OpenedCluster {
  readonly run: ClusterRun;
  readonly cluster: Cluster;
  /** Cores that servers and the loader share; infinite if they have nodes of their own. */
  readonly sharedCpus: number;
  readonly warnings: readonly string[];
  /** Deletes the namespace and waits until it is gone, unless `--keep`. Safe to call twice. */
  close(): Promise<void>;
}

/** All pods run under this account, which may do nothing. */
export const SERVICE_ACCOUNT = 'dinodns-bench';

/** Bound on the requests of `close`, which the first Ctrl-C does not stop. */
const CLOSE_SECONDS = 150;

async function chooseObservation(
  client: KubeClient,
  { observe }: KubernetesSettings,
  facts: ClusterFacts,
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
      'CPU and memory are missing: neither nodes/proxy nor the metrics API may be read (k8s/rbac.yaml grants both)',
  };
}

function demandNodes(facts: ClusterFacts, settings: KubernetesSettings): void {
  const all = facts.cluster.nodes.map(({ name }) => name).join(', ');
  for (const [found, flag, value] of [
    [facts.serverNodes, '--server-node', settings.serverNode],
    [facts.loaderNodes, '--loader-node', settings.loaderNode],
  ] as const) {
    if (found.length > 0) continue;
    throw new BenchError(
      'E_POD_UNSCHEDULABLE',
      value === undefined ? 'no node of the cluster accepts pods' : `${flag}: no node matches "${value}"`,
      {
        evidence: [`nodes: ${all}`],
        fix: `Give the name of a node or labels that it has (${flag} pool=dns), and tolerations for its taints.`,
      },
    );
  }
}

/** One node for both: then its cores are what they share. */
function sharedCpusOf({ serverNodes, loaderNodes }: ClusterFacts): number {
  const names = new Set([...serverNodes, ...loaderNodes].map((node) => node.metadata?.name));
  const [only] = serverNodes;
  return names.size > 1 ? Number.POSITIVE_INFINITY : (parseQuantity(only?.status?.allocatable?.cpu) ?? 1);
}

/**
 * A pod without a CPU request gets what is left when all others have had theirs: on a node that it shares with a
 * busy server, nearly nothing. So a loader asks for half of what the servers leave, and for one core at most; the
 * other half is for what else runs there.
 */
export function loaderRequest(sharedCpus: number, serverCores: number): number {
  return Math.max(0, Math.min(1, (sharedCpus - serverCores) / 2));
}

export async function openClient(world: World, context: string | undefined): Promise<KubeClient> {
  // client-node takes half a second to load, which only runs on clusters should pay.
  const { connect } = await import('../../kubernetes-api/connect.ts');
  return createClient(await connect(world, context), { clock: world.clock });
}

export async function openCluster(request: OpenRequest): Promise<OpenedCluster> {
  const { world, runId, settings, images, loadSeconds, serverCores, signal, force } = request;
  const client = await openClient(world, settings.context);
  const name = namespaceOf(settings.namespacePrefix, runId);
  const wanted = settings.pullSecrets === undefined ? [] : SECRET_PERMISSIONS;
  await demandPermissions(client, [...REQUIRED_PERMISSIONS, ...wanted], name, signal);
  const facts = await describeCluster(client, settings, signal);
  demandNodes(facts, settings);
  const { observation, reason } = await chooseObservation(client, settings, facts, signal);
  const sharedCpus = sharedCpusOf(facts);

  let closing: Promise<void> | undefined;
  const removeNamespace = async () => {
    if (settings.keep) return;
    const limit = AbortSignal.timeout(CLOSE_SECONDS * 1000);
    await client.delete('Namespace', name, undefined, limit);
    // Kubernetes goes on by itself; waiting only tells whether it could.
    await waitUntilNamespaceGone(client, name, AbortSignal.any([force, limit])).catch((error: unknown) => {
      if (!force.aborted) throw error;
    });
  };
  const close = () => {
    closing ??= removeNamespace();
    return closing;
  };

  try {
    const { clockOffsetSeconds } = await openNamespace(world, client, { name, runId }, signal);
    const labels = runLabels(runId);
    const account = settings.serviceAccount ?? SERVICE_ACCOUNT;
    // Every namespace gets an account "default" by itself.
    if (account !== 'default') {
      await client.create(
        'ServiceAccount',
        { metadata: { name: account, namespace: name, labels }, automountServiceAccountToken: false },
        signal,
      );
    }
    const pullSecrets = await copyPullSecrets(client, settings.pullSecrets ?? [], name, labels, signal);
    return {
      run: {
        world,
        client,
        runId,
        namespace: name,
        settings: { ...settings, serviceAccount: account },
        images,
        pullSecrets,
        placement: { servers: new Set(), loaders: new Set() },
        clockOffsetSeconds,
        nodeCpus: new Map(
          facts.serverNodes.map((node) => [
            node.metadata?.name ?? '',
            Math.floor(parseQuantity(node.status?.capacity?.cpu) ?? 1),
          ]),
        ),
        observation,
        loadSeconds,
        loaderRequestCores: loaderRequest(sharedCpus, serverCores),
        kept: [],
        jobs: 0,
      },
      cluster: facts.cluster,
      sharedCpus,
      warnings: [
        ...(reason === null ? [] : [reason]),
        ...(Number.isFinite(sharedCpus)
          ? ['servers and the loader share the only suitable node and compete for its CPU']
          : []),
      ],
      close,
    };
  } catch (error) {
    // A namespace that is somebody else's is not ours to delete.
    const left = await client
      .get('Namespace', name, undefined, AbortSignal.timeout(10_000))
      .catch(() => null);
    if (left?.metadata?.labels?.[Object.keys(managedLabels)[0] ?? ''] === Object.values(managedLabels)[0]) {
      await close().catch(() => undefined);
    }
    throw error;
  }
}
