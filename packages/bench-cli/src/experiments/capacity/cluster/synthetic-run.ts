/**
 * A cluster for a private CoreDNS: a namespace with synthetic objects in it and an account that may read, all of which
 * goes with the namespace.
 */
import type { Cluster } from '@dinodns-bench/cluster-objects';
import type { V1PolicyRule } from '@kubernetes/client-node';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { closedAfter } from '../../../engine/close.ts';
import { describeAccess } from '../../../kubernetes-api/access.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import { LABELS, labelValue, namespaceOf, runLabels } from '../../../targets/kubernetes/objects/labels.ts';
import { demandPermissions, type Permission, permissions } from '../../../targets/kubernetes/permissions.ts';
import { copyPullSecrets } from '../../../targets/kubernetes/pull-secrets.ts';
import type { OnceRun } from '../../../targets/kubernetes/run-job.ts';
import {
  NAMESPACE_GONE_SECONDS,
  openNamespace,
  waitUntilNamespaceGone,
} from '../../../targets/kubernetes/run-namespace.ts';
import type { World } from '../../../world.ts';
import { guardClusterDns, unwatched } from './cluster-dns-guard.ts';
import { createPaced } from './create-paced.ts';
import type { ClusterDnsChange, Created } from './created.ts';
import { ACCOUNT, dnsAccount, grantPermissions } from './dns-account.ts';
import {
  type SyntheticObject,
  type SyntheticSize,
  syntheticCluster,
  syntheticCount,
  syntheticObjects,
} from './synthetic-objects.ts';

/** Objects are deleted at some hundred a second; this is for a slow API server. */
const SECONDS_PER_DELETED_OBJECT = 0.05;

/** What synthetic objects need, in `k8s/rbac.yaml` the role `dinodns-bench-capacity`, besides that of every run. */
const PERMISSIONS: readonly Permission[] = [
  ...permissions('cluster', '', {
    namespaces: ['create', 'get', 'list', 'watch', 'delete'],
    services: ['list', 'watch'],
    endpoints: ['list', 'watch'],
    pods: ['list', 'watch'],
  }),
  ...permissions('cluster', 'discovery.k8s.io', { endpointslices: ['list', 'watch'] }),
  ...permissions('cluster', 'rbac.authorization.k8s.io', {
    clusterroles: ['create', 'delete'],
    clusterrolebindings: ['create', 'delete'],
  }),
  ...permissions('namespace', '', {
    serviceaccounts: ['create'],
    configmaps: ['create', 'delete'],
    services: ['create'],
    'pods/log': ['get'],
  }),
  ...permissions('namespace', 'discovery.k8s.io', { endpointslices: ['create'] }),
  ...permissions('namespace', 'batch', { jobs: ['create', 'delete'] }),
];

const POD_PERMISSIONS = permissions('namespace', '', { pods: ['create'], 'pods/status': ['patch'] });

/** Of the user, for synthetic objects and a private CoreDNS with a program that has these rights. */
export const syntheticPermissions = (
  withPods: boolean,
  rules: readonly V1PolicyRule[] = [],
): readonly Permission[] => {
  const all = [...PERMISSIONS, ...(withPods ? POD_PERMISSIONS : []), ...grantPermissions(rules)];
  // Each is asked for, and named where it is missing, once.
  return [...new Map(all.map((each) => [`${describeAccess(each)} ${each.scope}`, each])).values()];
};

export interface SyntheticRequest {
  readonly world: World;
  readonly client: KubeClient;
  readonly settings: KubernetesSettings;
  readonly runId: string;
  readonly size: SyntheticSize;
  /** Else only their addresses exist, in EndpointSlices. */
  readonly withPods: boolean;
  /** What the program beside CoreDNS may change in the namespace. Default: nothing. */
  readonly podRules?: readonly V1PolicyRule[];
  readonly signal: AbortSignal;
}

/** Where a private CoreDNS runs once, under its account. Disposing deletes the namespace and waits until all of it is gone. */
export interface SyntheticRun extends OnceRun, AsyncDisposable {
  /** What was created. */
  readonly cluster: Cluster;
  readonly creation: Created['creation'];
  /** The cluster's own DNS before and after the creation; null where there is none that bench knows. */
  readonly clusterDns: ClusterDnsChange;
  /** What of it could not be watched, as sentences. */
  readonly warnings: readonly string[];
}

/** A pod that never ran, with the status of one that runs: CoreDNS knows it by its address. */
async function createPod(
  client: KubeClient,
  { object, address }: Extract<SyntheticObject, { kind: 'Pod' }>,
  signal: AbortSignal,
): Promise<void> {
  await client.create('Pod', object, signal);
  const { name = '', namespace = '' } = object.metadata ?? {};
  const status = { phase: 'Running', podIP: address, podIPs: [{ ip: address }] };
  await client.patchStatus('Pod', name, namespace, status, signal);
}

/** The account of the private CoreDNS, with its roles and bindings, which belong to the namespace. */
async function createAccount(
  { client, runId, podRules, signal }: SyntheticRequest,
  name: string,
): Promise<void> {
  const namespace = await client.get('Namespace', name, undefined, signal);
  if (namespace === null) throw new Error(`the namespace ${name} is gone`);
  const { account, reading, changing } = dnsAccount(namespace, runId, podRules);
  await client.create('ServiceAccount', account, signal);
  await client.create('ClusterRole', reading.role, signal);
  await client.create('ClusterRoleBinding', reading.binding, signal);
  if (changing === null) return;
  await client.create('Role', changing.role, signal);
  await client.create('RoleBinding', changing.binding, signal);
}

async function isOfRun(client: KubeClient, name: string, runId: string): Promise<boolean> {
  const found = await client.get('Namespace', name, undefined, AbortSignal.timeout(10_000));
  return found?.metadata?.labels?.[LABELS.run] === labelValue(runId);
}

async function removeAll(client: KubeClient, namespace: string, objects: number): Promise<void> {
  const seconds = NAMESPACE_GONE_SECONDS + objects * SECONDS_PER_DELETED_OBJECT;
  const signal = AbortSignal.timeout((seconds + 30) * 1000);
  await client.delete('Namespace', namespace, undefined, signal);
  // Sooner than the garbage collector would.
  await client.delete('ClusterRoleBinding', `${namespace}-dns`, undefined, signal);
  await client.delete('ClusterRole', `${namespace}-dns`, undefined, signal);
  await waitUntilNamespaceGone(client, namespace, signal, seconds);
}

/**
 * Creates everything; on any failure everything is deleted again.
 * @throws BenchError `E_CLUSTER_FORBIDDEN` without a right, `E_CLUSTER_REFUSED` if the API server gets slow or the cluster's own
 * DNS would be in danger
 */
export async function openSyntheticRun(request: SyntheticRequest): Promise<SyntheticRun> {
  const { world, client, settings, runId, withPods, signal } = request;
  const namespace = namespaceOf(settings.namespacePrefix, runId);
  const cluster = syntheticCluster(request.size, namespace);
  await demandPermissions(client, syntheticPermissions(withPods, request.podRules), namespace, signal);
  const guard = await guardClusterDns(client, signal);
  const expected = syntheticCount(cluster, { withPods });
  try {
    await openNamespace(world, client, { name: namespace, runId }, signal);
    await createAccount(request, namespace);
    const secrets = settings.pullSecrets ?? [];
    const pullSecrets = await copyPullSecrets(client, secrets, namespace, runLabels(runId), signal);
    const limit = AbortSignal.any([signal, guard.signal]);
    const creation = await createPaced(
      syntheticObjects(cluster, { withPods }),
      async (item) => {
        if (item.kind === 'Pod') await createPod(client, item, limit);
        else await client.create(item.kind, item.object, limit);
      },
      { clock: world.clock, signal: limit },
    );
    const after = await guard.now();
    return {
      ...{ client, runId, namespace, cluster, creation, pullSecrets, jobs: 0 },
      settings: { ...settings, serviceAccount: ACCOUNT },
      warnings: unwatched(guard.before),
      clusterDns: guard.before === null || after === null ? null : { before: guard.before, after },
      [Symbol.asyncDispose]: () => removeAll(client, namespace, expected),
    };
  } catch (error) {
    // Only what this run made: a namespace of the same name that is somebody else's was refused above.
    return closedAfter(error, async () => {
      if (await isOfRun(client, namespace, runId)) await removeAll(client, namespace, expected);
    });
  } finally {
    guard.stop();
  }
}
